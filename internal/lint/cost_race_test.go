//go:build race

package lint_test

// mostBytes is what a check may allocate for an issue; half of it is what the
// race detector adds.
const mostBytes = 7500
