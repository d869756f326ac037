package actors

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/merge"
	"stig/internal/trace"
	"stig/signals"
)

const tideFile = `---
name: tide
command: cat
---

# Tide

## Seed

Keep the tables.

## Values

Be honest.
Ask a person.

## Learned

Old.

More.
`

func tide(t *testing.T, text string) *clone.Profile {
	t.Helper()
	p, err := clone.ParseProfile("tide.md", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Answers in each accepted form give the same result. Answers that would harm the actor's
// identity are rejected with a reason.
func TestReadAnswer(t *testing.T) {
	whole := strings.SplitAfterN(tideFile, "---\n\n", 2)[1]
	for _, c := range []struct {
		name, text                string
		learned, reason, proposal string
		refused                   string
	}{
		{name: "plain", text: "\nNew.\n\nTwo.\n", learned: "New.\n\nTwo."},
		{name: "reason behind it", text: "New.\n\nReason: it  held\n", learned: "New.", reason: "it held"},
		{name: "below its heading", text: "Sure:\n\n## Learned\n\nNew.\n", learned: "New."},
		{name: "all three", text: "## Learned\n\nNew.\n\n## Reason\n\nwhy\n\n## Proposal\n\nmore\n", learned: "New.", reason: "why", proposal: "more"},
		{name: "a proposal behind a plain text", text: "New.\n\n## Proposal\n\nmore", learned: "New.", proposal: "more"},
		{name: "lower headings", text: "### Gauges\n\nNew.\n", learned: "### Gauges\n\nNew."},
		{name: "headings in code", text: "~~~\n## Values\n~~~\n", learned: "~~~\n## Values\n~~~"},
		{name: "the whole body", text: strings.Replace(whole, "Old.", "New.", 1), learned: "New.\n\nMore."},
		{name: "the whole body with longer values", text: strings.Replace(whole, "Ask a person.", "Ask a\nperson. Wait.", 1), learned: "Old.\n\nMore.",
			proposal: "## Values\n\nBe honest.\nAsk a\nperson. Wait."},
		{name: "4000 characters", text: strings.Repeat("ä", 4000), learned: strings.Repeat("ä", 4000)},

		{name: "nothing", text: " \n", refused: "no text"},
		{name: "an empty section", text: "## Learned\n\n## Proposal\n\nx", refused: "no text"},
		{name: "a reason alone", text: "Reason: none", refused: "no text"},
		{name: "4001 characters", text: strings.Repeat("ä", 4001), refused: "4001 characters"},
		{name: "a new heading", text: "## Learned\n\nx\n\n## Rights\n\ny", refused: "adds the heading ## Rights"},
		{name: "another title", text: "# Learned\n\nx", refused: "adds the heading # Learned"},
		{name: "a heading twice", text: "## Learned\n\nx\n\n## Learned\n\ny", refused: "twice"},
		{name: "without Seed", text: strings.Replace(whole, "## Seed\n\nKeep the tables.\n\n", "", 1), refused: "drops the heading ## Seed"},
		{name: "without Learned", text: strings.Split(whole, "## Learned")[0], refused: "drops the heading ## Learned"},
		{name: "shorter values", text: strings.Replace(whole, "Ask a person.\n", "", 1), refused: "shortens ## Values"},
		{name: "a credential", text: "Use ghp_" + strings.Repeat("a1B2", 9), refused: "credential"},
	} {
		d, err := readAnswer(tide(t, tideFile), c.text)
		switch {
		case c.refused == "" && (err != nil || d != dreamed{c.learned, c.reason, c.proposal}):
			t.Errorf("%s: %q, %v", c.name, d, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %q, %v", c.name, d, err)
		}
	}
}

// Evolution gets a line for each dream that changed something. Only the latest dream lines are
// kept; all other lines stay.
func TestLearn(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	p := tide(t, tideFile)
	same, err := learn(p, dreamed{learned: "Old.\n\nMore."}, "x", now)
	if err != nil || string(same) != tideFile {
		t.Errorf("the same: %v\n%s", err, same)
	}
	for n := range mostDreams + 7 {
		if n == 3 {
			p = tide(t, p.Text()+"- 2026-11-20: description: none\n")
		}
		text, err := learn(p, dreamed{learned: fmt.Sprintf("%d.", n), reason: "r"}, "x", now)
		if err != nil {
			t.Fatal(err)
		}
		p = tide(t, string(text))
	}
	lines := strings.Split(p.Section(clone.Evolution), "\n")
	last := fmt.Sprintf(`- 2026-11-20: dream: r; before: "%d."`, mostDreams+5)
	if len(lines) != mostDreams+1 || lines[len(lines)-1] != last || lines[0] != "- 2026-11-20: description: none" || p.Section("Seed") != "Keep the tables." {
		t.Errorf("%d lines:\n%s", len(lines), p.Text())
	}
	if _, err := learn(p, dreamed{learned: "x\n```\nopen"}, "x", now); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Error(err)
	}
}

// Front matter texts survive a round trip.
func TestScalar(t *testing.T) {
	for _, text := range []string{"plain", "two words", "a: b", "#x", "- x", "yes", "null", "~", "1", "0x1f", "-", "ä", `"q" 'q' \ %`, "a\tb", "{x", "[", "!t", "*", "&a", "@x", "`x`", "1e3", "2026-11-20", " lead"} {
		p, err := clone.ParseProfile("x.md", "---\nname: x\ncommand: "+scalar(text)+"\n---\n")
		if text == "a\tb" {
			if err == nil {
				t.Errorf("%q: taken", text)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if p.Command != text {
			t.Errorf("%q: %q", text, p.Command)
		}
	}
}

// A long list shows its newest items and the number of the others; a list of errors shows the
// most frequent ones.
func TestPromptNewest(t *testing.T) {
	p := past{own: map[string]bool{}}
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for n := range mostItems + 2 {
		id := fmt.Sprintf("%03d", n)
		p.runs = append(p.runs, clone.Run{Issue: "run-" + id, Started: at, Ended: at})
		p.feedback = append(p.feedback, trace.Entry{Issue: "feedback-" + id})
		p.answers = append(p.answers, reply{issue: "answer-" + id})
		p.errors = append(p.errors, repeated{what: "error-" + id, times: 100 - n})
		p.take(clone.Record{Changes: []clone.Change{{Issue: "lesson-" + id, Kind: string(merge.Signal), Name: signals.Surprise.String(), Now: "surprise: 0.5"}}})
	}
	p.take(clone.Record{Changes: []clone.Change{{Issue: "lesson-000", Kind: string(merge.Signal), Name: signals.Surprise.String(), Now: "surprise: 0.7"}}})
	text := p.prompt(tide(t, tideFile))
	for _, shown := range []string{"run-041", "run-002", "feedback-041", "feedback-002", "answer-041", "answer-002", "lesson-041", "lesson-003", "lesson-000", "error-000", "error-039"} {
		if !strings.Contains(text, shown) {
			t.Errorf("%s is left out", shown)
		}
	}
	for _, hidden := range []string{"run-001", "feedback-001", "answer-001", "lesson-002", "error-040"} {
		if strings.Contains(text, hidden) {
			t.Errorf("%s is shown", hidden)
		}
	}
	if n := strings.Count(text, "- and 2 more\n"); n != 5 {
		t.Errorf("%d lists say how many are left out\n%s", n, text)
	}
}
