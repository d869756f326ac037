//go:build !race

package lint_test

// mostBytes is what a check may allocate for an issue.
const mostBytes = 4500
