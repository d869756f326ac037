//go:build unix

package working_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/live"
	"stig/process"
	"stig/work"
)

// A loop that was killed after the work landed and the issue was closed takes nothing back,
// even where the criteria fail by now.
func TestKilledAfterClose(t *testing.T) {
	y := newYard(t, "pier-1")
	r := live.Run{ID: "r-left", Actor: "bo", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon.Add(-time.Minute), Ended: noon, Step: "landed",
		Criteria: y.criteria(t), Worktree: y.dir}
	y.replace(t, `"status":"open"`, `"status":"closed","close_reason":"Built"`)
	if err := y.place.RecordRun(r, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "echo >ran", nil); err != nil {
		t.Fatal(err)
	}
	if runs := y.runs(t); len(runs) != 1 || runs[0].Outcome != string(work.Closed) {
		t.Errorf("%+v", runs)
	}
	if text := y.text(t); !strings.Contains(text, `"status":"closed"`) {
		t.Errorf("the store says\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(y.dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// A run that another process works on, such as a dream, is not brought to its end.
func TestRunOfAnother(t *testing.T) {
	y := newYard(t)
	above := process.Ancestors()
	if len(above) == 0 {
		return // the system does not show other processes
	}
	if err := y.place.RecordRun(live.Run{ID: "r-dream", Actor: "bo", Task: "dream", Loop: above[0].ID, Started: noon}, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "true", nil); err != nil {
		t.Fatal(err)
	}
	if runs := y.runs(t); len(runs) != 1 || runs[0].Outcome != "" {
		t.Errorf("%+v", runs)
	}
}

// replace edits the store by hand.
func (y *yard) replace(t *testing.T, from, to string) {
	t.Helper()
	text := y.text(t)
	if !strings.Contains(text, from) {
		t.Fatalf("no %s in\n%s", from, text)
	}
	if err := os.WriteFile(filepath.Join(y.dir, ".beads", "issues.jsonl"), []byte(strings.Replace(text, from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
