package signals_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stig/notes"
	"stig/signals"
)

const openEstimate, closeEstimate = "<!-- checkpoint-context -->\n", "\n<!-- /checkpoint-context -->"

func TestSetParts(t *testing.T) {
	const today = "## State estimate (2026-11-21)\n\n"
	tests := []struct {
		name, was string
		parts     signals.Estimate
		want      string
	}{
		{"another day: what stays keeps its day beside it",
			"## State estimate (2026-11-20)\n\nWhat was done: a\n\nWhat was learned: b\n\n- c\n", signals.Estimate{Remains: "d"},
			today + "What was done: (2026-11-20) a\n\nWhat was learned: (2026-11-20) b\n\n- c\n\nWhat remains: d\n"},
		{"the same day: nothing else changes",
			"## State estimate (2026-11-21)\n\nWhat was done: a\n\nWhat was learned: b", signals.Estimate{Done: "c"},
			today + "What was done: c\n\nWhat was learned: b"},
		{"a day that is there stays, and goes with its text",
			today + "What was done: (2026-11-19) a\n\nWhat was learned (2026-11-18): b", signals.Estimate{Learned: "c"},
			today + "What was done: (2026-11-19) a\n\nWhat was learned: c"},
		{"the same text again is of today",
			"## State estimate (2026-11-20)\n\nWhat was done: (2026-11-19) a\n\nWhat remains: b", signals.Estimate{Done: "a"},
			today + "What was done: a\n\nWhat remains: (2026-11-20) b"},
		{"labels in bold, in any order, texts on the next line",
			"## State estimate (2026-11-20)\n**What remains:**\n- a\n**What was done**: b", signals.Estimate{Learned: "c"},
			today[:len(today)-1] + "**What remains:** (2026-11-20)\n- a\n**What was done**: (2026-11-20) b\n\nWhat was learned: c"},
		{"in front of what comes after it", "## State estimate (2026-11-21)\n\ntext\n\nDownstream impact: a", signals.Estimate{Done: "b", Remains: "c"},
			today + "text\n\nWhat was done: b\n\nWhat remains: c\n\nDownstream impact: a"},
		{"a text without labels stays in front", "## State estimate (2026-11-20)\n\n### Findings\n\ntext", signals.Estimate{Remains: "a"},
			today + "As of 2026-11-20:\n\n### Findings\n\ntext\n\nWhat remains: a"},
		{"and has one day only", "## State estimate (2026-11-20)\n\nAs of 2026-11-19:\n\ntext\n\nWhat remains: a", signals.Estimate{Remains: "b"},
			today + "As of 2026-11-19:\n\ntext\n\nWhat remains: b"},
		{"a heading that says more stays", "## State estimate (2026-11-20, after review)\nWhat was done: a", signals.Estimate{Remains: "b"},
			today + "As of 2026-11-20:\n\n## State estimate (2026-11-20, after review)\nWhat was done: (2026-11-20) a\n\nWhat remains: b"},
		{"a heading without a day stays", "## Findings\ntext", signals.Estimate{Remains: "b"},
			today + "As of an unknown day:\n\n## Findings\ntext\n\nWhat remains: b"},
		{"no heading", "What was done: a", signals.Estimate{Remains: "b"},
			today + "What was done: (undated) a\n\nWhat remains: b"},
		{"a label that is there twice", "## State estimate (2026-11-21)\n\nWhat was done: a\n\nWhat was done: b\n\nWhat remains: c", signals.Estimate{Done: "d", Learned: "e"},
			today + "What was done: d\n\nWhat was learned: e\n\nWhat remains: c"},
		{"an empty label is filled in", "## State estimate (2026-11-20)\n\nWhat was done:\n\nWhat was learned:\n", signals.Estimate{Done: "a"},
			today + "What was done: a\n\nWhat was learned:\n"},
		{"none there", "", signals.Estimate{Done: "a", Remains: "b"}, today + "What was done: a\n\nWhat remains: b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, newline := range []string{"\n", "\r\n"} {
				lines := func(body string) string {
					return strings.ReplaceAll("before\n\n"+openEstimate+body+closeEstimate+"\nafter", "\n", newline)
				}
				test.parts.Date = "2026-11-21"
				d, err := signals.SetParts(notes.Parse(lines(test.was)), test.parts)
				if err != nil {
					t.Fatal(err)
				}
				if d.Text() != lines(test.want) {
					t.Fatalf("got  %q\nwant %q", d.Text(), lines(test.want))
				}
				again, err := signals.SetParts(d, test.parts)
				if err != nil || again.Text() != d.Text() {
					t.Errorf("the same parts again changed something: %q, %v", again.Text(), err)
				}
			}
		})
	}
}

func TestSetPartsRefuses(t *testing.T) {
	d := notes.Parse(openEstimate + "## State estimate (2026-11-20)\n\nWhat was done: a" + closeEstimate)
	for _, text := range []string{"x\nWhat remains: y", "x\n**What was learned:**", "a\n```\nx", "x\n<!-- note -->\ny"} {
		for _, set := range []func(*notes.Doc, signals.Estimate) (*notes.Doc, error){signals.SetParts, signals.SetEstimate} {
			if got, err := set(d, signals.Estimate{Date: "2026-11-21", Done: text}); err == nil {
				t.Errorf("%q was written: %q", text, got.Text())
			}
		}
	}
}

// The days that stig writes beside a text are not part of it.
func TestLastEstimateOfSeveralDays(t *testing.T) {
	e := signals.ReadEstimate("## State estimate (2026-11-21)\n\nAs of 2026-11-18:\n\ntext\n\nWhat was done: (2026-11-20) a\n\nDownstream impact (2026-11-19): b (see c)\n\nWhat remains: (undated) d")
	if e.Done != "a" || e.Downstream != "b (see c)" || e.Remains != "d" || e.Date != "2026-11-21" {
		t.Errorf("got %+v", e)
	}
	if texts := e.Texts(); texts[0] != (signals.EstimateText{Key: "estimate", Text: "text"}) {
		t.Errorf("outside of labels: %q", texts[0])
	}
}

// Whatever parts are given on whatever days, those last given are there, those
// not given are as they were, and so is every other byte of the notes.
func TestPartsOverTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"a", "one\ntwo", "- x\n- y", "(see demo-1) b", "**bold** text:", "so:\n```sh\nWhat\n```", "What remained", "As of today: c", "## heading\n\ntext"}
	begins := []string{"", "## State estimate (2026-10-01)\n\nfree text\n\nwith two paragraphs", "free", "## Findings (2026-10-01)\nWhat was done: k\n**What remains**:\n* l", "What remains: m\n\nWhat remains: n"}
	for range 500 {
		newline := []string{"\n", "\r\n"}[r.IntN(2)]
		before := strings.ReplaceAll("intro\n\n<!-- audit -->\nrow\n<!-- /audit -->\n", "\n", newline)
		behind := strings.ReplaceAll("\n\ntail\n", "\n", newline)
		body := begins[r.IntN(len(begins))]
		d := notes.Parse(before + strings.ReplaceAll(openEstimate+body+closeEstimate, "\n", newline) + behind)
		want := map[string]string{}
		first, _ := signals.LastEstimate(d)
		for _, text := range first.Texts() {
			want[text.Key] = text.Text
		}
		for day := 1; day < 8; day++ {
			given := signals.Estimate{Date: fmt.Sprintf("2026-11-%02d", day/2+1)}
			parts := []*string{&given.Done, &given.Learned, &given.Remains, &given.Downstream}
			for i, key := range []string{"done", "learned", "remains", "downstream"} {
				if r.IntN(3) == 0 {
					*parts[i] = texts[r.IntN(len(texts))]
					want[key] = *parts[i]
				}
			}
			if given == (signals.Estimate{Date: given.Date}) {
				continue
			}
			was := d.Text()
			next, err := signals.SetParts(d, given)
			if err != nil {
				t.Fatalf("%q: %+v: %v", was, given, err)
			}
			d = next
			now := d.Text()
			if !strings.HasPrefix(now, before) || !strings.HasSuffix(now, behind) {
				t.Fatalf("what is around the estimate changed: %q", now)
			}
			got, _ := signals.LastEstimate(d)
			for _, text := range got.Texts() {
				if text.Key == "estimate" {
					if !strings.Contains(strings.ReplaceAll(now, "\r\n", "\n"), want[text.Key]) {
						t.Fatalf("lost %q: %q", want[text.Key], now)
					}
				} else if text.Text != want[text.Key] {
					t.Fatalf("%s: got %q, want %q, after %+v on %q: %q", text.Key, text.Text, want[text.Key], given, was, now)
				}
			}
		}
	}
}
