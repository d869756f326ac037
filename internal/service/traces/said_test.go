package traces_test

import (
	"strings"
	"testing"

	"stig/internal/fault"
	"stig/internal/service/traces"
	"stig/internal/workspace"
)

// TestComposed: a form with a first line and a body becomes the trace; without its last line it
// is rejected.
func TestComposed(t *testing.T) {
	form := traces.Form("finding")
	d, err := traces.Composed("demo-1", "finding", strings.Replace(form, "finding: \n", "finding: the office publishes a month at a time\n\nSince May.\n", 1))
	if err != nil {
		t.Fatal(err)
	}
	if d.Issue != "demo-1" || d.Type != "finding" || d.Summary != "the office publishes a month at a time" || d.Body != "Since May." {
		t.Errorf("from the form %q came %+v", form, d)
	}
	_, err = traces.Composed("demo-1", "finding", "only words\n")
	if !fault.Is(err, fault.Usage) || !strings.Contains(workspace.Classify(err).Message, "stig: finding/1") {
		t.Errorf("words alone: %v", err)
	}
}
