package board_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/process"
)

// TestRunning: Today shows quiet runs first, then other runs, then claims without a run, and
// counts runs and claims apart.
func TestRunning(t *testing.T) {
	var text strings.Builder
	for _, id := range []string{"pier-1", "pier-2", "pier-3"} {
		text.WriteString(`{"id":"` + id + `","title":"Paint ` + id + `","status":"in_progress","priority":1,"issue_type":"task","assignee":"ann"}` + "\n")
	}
	s := serve(t, text.String(), nil)
	place, err := clone.At(s.store())
	if err != nil {
		t.Fatal(err)
	}
	self, _ := process.Self()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for id, silent := range map[string]time.Duration{"pier-2": 3 * time.Minute, "pier-3": 14 * time.Minute} {
		log := filepath.Join(t.TempDir(), "log")
		write(t, log, "paints\n")
		if err := os.Chtimes(log, time.Time{}, now.Add(-silent)); err != nil {
			t.Fatal(err)
		}
		run := clone.Run{ID: "r-" + id, Actor: "w" + id, Issue: id, Loop: self.ID, Started: now.Add(-time.Hour), Log: log}
		if err := place.RecordRun(run, now); err != nil {
			t.Fatal(err)
		}
	}
	body := s.browser(t).ready(t, "/")
	contains(t, body, `<b>2</b> at work`, `<b>1</b> claimed`, `>2 at work, 1 claimed<`, `<span class="warn">quiet for 14 min</span>`, "last words 3 min ago", "claimed, no run here")
	if quiet, other, claimed := strings.Index(body, "Paint pier-3"), strings.Index(body, "Paint pier-2"), strings.Index(body, "Paint pier-1"); quiet > other || other > claimed {
		t.Errorf("quiet at %d, other run at %d, claim at %d", quiet, other, claimed)
	}
}
