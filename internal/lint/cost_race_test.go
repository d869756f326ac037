//go:build race

package lint_test

// mostBytes is the maximum that a check may allocate for an issue, in bytes; the race detector
// adds half of it.
const mostBytes = 7500
