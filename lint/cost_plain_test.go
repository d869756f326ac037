//go:build !race

package lint_test

// mostBytes and mostAllocations are what a check may allocate for an issue.
const (
	mostBytes       = 4500
	mostAllocations = 24
)
