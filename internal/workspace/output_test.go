package workspace

import (
	"fmt"
	"io"
	"testing"

	"stig/checkpoint"
	"stig/internal/fault"
)

// TestClassifyFaults: a wrapped fault has the exit code of its code; other errors count as
// unknown.
func TestClassifyFaults(t *testing.T) {
	for code, want := range map[fault.Code]int{
		fault.Usage: ExitUsage, fault.Found: ExitFound, fault.Store: exitStore, fault.Conflict: ExitConflict, fault.Changed: ExitConflict, fault.Refused: exitStore, fault.NotFound: ExitNoIssue, fault.NoRevision: ExitUsage, fault.NotMerged: exitNotMerged, fault.Waits: ExitWaits, 0: exitStore,
	} {
		refused := &fault.Error{Code: code, ID: "pier-1", Reason: "no", Hint: "type yes", Err: io.EOF}
		for text, err := range map[string]error{
			"pier-1: no": refused, "run: pier-1: no": fmt.Errorf("run: %w", refused), "pier-2: pier-1: no": &checkpoint.IssueError{ID: "pier-2", Err: refused},
		} {
			if got := Classify(err); got != (Failure{Code: want, Hint: "type yes", Message: text}) {
				t.Errorf("%d: %+v", code, got)
			}
		}
	}
	if got := Classify(NotMerged(&fault.Error{Code: fault.Conflict, Reason: "no"})); got.Code != exitNotMerged {
		t.Errorf("a merge that wrote nothing: %+v", got)
	}
}
