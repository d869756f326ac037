package board_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/board"
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
	c := s.browser(t)
	contains(t, c.ready(t, "/issues/pier-3"), "What it does now", "paints\n</pre>", `action="/actors/wpier-3/stop"`)
	body := c.ready(t, "/")
	contains(t, body, `<b>2</b> at work`, `<b>1</b> claimed`, `>2 at work, 1 claimed<`, `<span class="warn">quiet for 14 min</span>`, "last words 3 min ago", "claimed, no run here")
	if quiet, other, claimed := strings.Index(body, "Paint pier-3"), strings.Index(body, "Paint pier-2"), strings.Index(body, "Paint pier-1"); quiet > other || other > claimed {
		t.Errorf("quiet at %d, other run at %d, claim at %d", quiet, other, claimed)
	}
}

// TestSeen: Seen writes the mark of stig morning; without a mark, Today lists what was closed in
// the last 7 days. The title counts what waits.
func TestSeen(t *testing.T) {
	s := serve(t, lines, nil)
	s.ask(t, "ann", "How long?", "7 days", "30 days")
	c := s.browser(t)
	body := c.ready(t, "/")
	contains(t, body, "<title>(1) Today · stig</title>", "<b>1</b> closed in the last 7 days", "Old rope", ">Seen</button>")
	if status, body := c.post(t, "/store/seen", "form", "seen", "back", "/"); status != 200 || strings.Contains(body, "Old rope") || strings.Contains(body, ">Seen<") {
		t.Errorf("%d %s", status, body)
	}
	place, err := clone.At(s.store())
	if at := place.LastMorning(); err != nil || at.Format(time.RFC3339) != "2026-11-20T09:00:00Z" {
		t.Errorf("the mark is %s: %v", at, err)
	}
	contains(t, c.ready(t, "/"), "<b>0</b> closed since 09:00 UTC")
}

// TestSeenFromAfar: where only answers and comments are allowed, nothing is marked as seen.
func TestSeenFromAfar(t *testing.T) {
	s := serve(t, lines, func(o *board.Options) { o.Local = false })
	c := s.browser(t)
	if body := c.ready(t, "/"); strings.Contains(body, ">Seen</button>") {
		t.Error("Seen is offered")
	}
	for _, act := range []string{"seen", "land"} {
		if status, _ := c.post(t, "/store/"+act, "form", act, "back", "/"); status != 405 {
			t.Errorf("%s: %d", act, status)
		}
	}
}
