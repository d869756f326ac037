//go:build !race

package lint_test

// mostBytes is the maximum that a check may allocate for an issue, in bytes.
const mostBytes = 4500
