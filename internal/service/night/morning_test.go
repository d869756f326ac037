//go:build unix

package night

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/workspace"
)

var night = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)

// story is a night with 40 issues.
type story struct {
	lines []string
	runs  []clone.Run
}

// at returns a time of the night.
func at(minutes int) time.Time { return night.Add(time.Duration(minutes) * time.Minute) }

func (s *story) issue(id string, keys map[string]any) {
	keys["id"], keys["title"], keys["issue_type"], keys["priority"] = id, "Title of "+id, "task", 2
	for _, key := range []string{"created_at", "updated_at"} {
		if keys[key] == nil {
			keys[key] = night.Add(-time.Hour).Format(time.RFC3339)
		}
	}
	if keys["status"] == nil {
		keys["status"] = "open"
	}
	text, err := json.Marshal(keys)
	if err != nil {
		panic(err)
	}
	s.lines = append(s.lines, string(text))
}

func (s *story) run(issue, actor string, outcome clone.Outcome, minute int, more ...func(*clone.Run)) {
	r := clone.Run{ID: fmt.Sprintf("r-%010d", len(s.runs)), Actor: actor, Task: "issue", Issue: issue, Started: at(minute), Ended: at(minute + 5), Outcome: string(outcome), Price: clone.PriceSaid, Currency: "USD"}
	for _, change := range more {
		change(&r)
	}
	s.runs = append(s.runs, r)
}

// told returns the story. Of every ten issues six are closed, one of them at the second try;
// one fails three times, by two actors; one waits for a person; two are left alone.
func told() *story {
	s := &story{}
	reason := "Verified: it is there. All acceptance criteria pass: 2/2 (1 turned, 1 held) [true 0.0s; test -f a 0.1s] at 1a2b3c4."
	for i := range 40 {
		id := fmt.Sprintf("n-%02d", i)
		switch minute := i * 10; i % 10 {
		case 0, 1, 2, 3, 4, 5:
			s.issue(id, map[string]any{"status": "closed", "closed_at": at(minute + 9).Format(time.RFC3339), "updated_at": at(minute + 9).Format(time.RFC3339), "close_reason": reason})
			if i%10 == 5 {
				s.run(id, "al", clone.OutcomeRejected, minute, func(r *clone.Run) { r.Cost = 0.25 })
			}
			s.run(id, "bo", clone.OutcomeClosed, minute+1, func(r *clone.Run) { r.Cost = 0.5 })
		case 6:
			s.issue(id, map[string]any{})
			s.run(id, "al", clone.OutcomeFailed, minute, func(r *clone.Run) { r.Exit, r.Why = 3, "no space left" })
			s.run(id, "bo", clone.OutcomeTimedOut, minute+1)
			s.run(id, "bo", clone.OutcomeFailed, minute+2, func(r *clone.Run) {
				r.Exit, r.Why, r.Price, r.Program.PID = 4, "the disk is full", clone.PriceUnknown, 1
			})
		case 7:
			notes := "<!-- escalation-context -->\n## Pending (2026-11-20) by al\nWhich colour?\n\n1. red\n2. blue\n<!-- /escalation-context -->"
			s.issue(id, map[string]any{"notes": "<!-- stigmergic-signals -->\n| signal | value |\n|---|---|\n| escalation | pending |\n<!-- /stigmergic-signals -->\n\n" + notes})
			s.run(id, "al", clone.OutcomeWaiting, minute, func(r *clone.Run) { r.Asked = true })
		default:
			s.issue(id, map[string]any{})
		}
	}
	// closes before the night, and closes of issues that were not done, are not reported
	s.issue("n-old", map[string]any{"status": "closed", "closed_at": night.Add(-time.Hour).Format(time.RFC3339), "close_reason": reason})
	s.issue("n-dup", map[string]any{"status": "closed", "closed_at": at(30).Format(time.RFC3339), "updated_at": at(30).Format(time.RFC3339), "close_reason": "Duplicate of n-01"})
	s.run("n-old", "al", clone.OutcomeClosed, -90, func(r *clone.Run) { r.Cost = 9 })
	return s
}

// TestMorning compares the numbers of a morning report with those of the store and the run
// records.
func TestMorning(t *testing.T) {
	t.Parallel()
	s := told()
	dir := t.TempDir()
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(store), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, []byte(strings.Join(s.lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	place, err := clone.At(store)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.runs {
		if err := place.RecordRun(r, r.Ended); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"STIG_NOW": at(600).Format(time.RFC3339), "PATH": os.Getenv("PATH")}
	home := func() (string, error) { return dir, nil }
	a := &workspace.Run{
		Getenv: func(name string) string { return env[name] }, Env: os.Environ, HomeDir: home, ConfigDir: home,
		Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
		Ctx: t.Context(), Running: "test", Dir: dir, Actor: "mara", Ancestors: process.Ancestors,
	}
	m, err := ReadMorning(t.Context(), a, night.Format(time.RFC3339))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Done) != 24 || len(m.Waits) != 4 || len(m.Failed) != 4 || m.Cost.Runs != len(s.runs)-1 {
		t.Errorf("%d done, %d wait, %d failed, %d runs", len(m.Done), len(m.Waits), len(m.Failed), m.Cost.Runs)
	}
	if want := 24*0.5 + 4*0.25; m.Cost.Amounts["USD"] != want || m.Cost.Unknown != 4 {
		t.Errorf("cost %+v, want %v USD and 4 unknown", m.Cost, want)
	}
	if want := fmt.Sprint(map[string]int{"closed": 24, "failed": 8, "rejected": 4, "timed-out": 4, "waiting": 4}); fmt.Sprint(m.Outcomes) != want {
		t.Errorf("outcomes %v, want %s", m.Outcomes, want)
	}
	if d := m.Done[5]; d.ID != "n-05" || d.By != "bo" || d.Proof != "2 checks (1 turned, 1 held)" || d.Cost != "0.75 USD" {
		t.Errorf("%+v", d)
	}
	if f := m.Failed[0]; f.ID != "n-06" || f.Times != 3 || !slices.Equal(f.By, []string{"al", "bo"}) || f.Why != "failed: the disk is full" {
		t.Errorf("%+v", f)
	}
	if w := m.Waits[0]; w.ID != "n-07" || w.Command != "stig resolve n-07 --option 1" || !strings.HasPrefix(w.Question, "Which colour?") {
		t.Errorf("%+v", w)
	}
	if err := MorningRead(a, m); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadMorning(t.Context(), a, ""); err != nil || len(again.Done)+len(again.Failed)+again.Cost.Runs != 0 || len(again.Waits) != 4 || !again.Since.Equal(m.Until) {
		t.Errorf("read again: %+v, %v", again, err)
	}
}
