package workers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/internal/git"
	"stig/internal/service/night"
)

// TestMorningText checks that a night of 40 issues fits on one screen: what was done by epic, a
// few rows of every other part, and how much was folded. --full leaves nothing out.
func TestMorningText(t *testing.T) {
	m := &night.Morning{Since: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC), ToLand: night.Pending{Issues: 24, Text: "24 issues to land on stig/work", Command: "stig land"}}
	m.Cost.Runs, m.Cost.Text = 40, "≈4.20 USD, 310.0k tokens"
	for i := range 24 {
		m.Done = append(m.Done, night.Done{ID: fmt.Sprintf("n-%d", i), Title: strings.Repeat("a long title ", 9), Epic: []string{"Harbour", "Pier", ""}[i%3], By: "bo",
			Proof: "2 checks (2 turned)", Stat: git.Stat{Files: 1, Added: 12, Deleted: 3}, Cost: "≈0.10 USD"})
	}
	for i := range 10 {
		m.Waits = append(m.Waits, night.Question{ID: fmt.Sprintf("w-%d", i), Title: "Paint", By: "al", Question: "Which colour?", Command: fmt.Sprintf("stig resolve w-%d", i)})
	}
	for i := range 6 {
		m.Failed = append(m.Failed, night.Failure{ID: fmt.Sprintf("f-%d", i), Title: "Dig", Times: 3, By: []string{"al", "bo"}, Why: "failed: the disk is full\x1b[31m"})
	}
	m.Loops = []night.Loop{{Name: "bo", State: "ended", Why: "nothing is left to do", Runs: 30, Cost: "≈3.00 USD"}, {Name: "al", State: "killed"}}
	text := morningText(m, false)
	if n := strings.Count(text, "\n"); n > 56 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, want := range []string{
		"since 2026-11-20 22:00 UTC: 24 done, 10 wait for you, 6 failed, 24 to land; 40 runs, ≈4.20 USD, 310.0k tokens\n",
		"\n  Harbour: 8 done\n", "\n  in no epic: 8 done\n", "  and 12 more: stig morning --full\n",
		"\n  w-0  Paint; al asks: Which colour?\n      stig resolve w-0\n", "  and 2 more: stig morning --full\n",
		"\n  f-5  Dig: 3 runs by al, bo; failed: the disk is full", "\n  bo  ended: nothing is left to do (30 runs, ≈3.00 USD)\n", "\n  24 issues to land on stig/work: stig land\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("an escape sequence of somebody's text acts")
	}
	if full := morningText(m, true); strings.Count(full, "a long title") < 24*3 || strings.Contains(full, " more: ") || !strings.Contains(full, "\n      stig resolve w-9\n") {
		t.Errorf("--full leaves something out:\n%s", full)
	}
}
