//go:build race

package lint_test

// mostBytes and mostAllocations are what a check may allocate for an issue; half of the
// bytes are what the race detector adds, and it empties pools at random.
const (
	mostBytes       = 9500
	mostAllocations = 32
)
