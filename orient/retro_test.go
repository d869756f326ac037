package orient_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/beads"
	"stig/cue"
	"stig/dag"
	"stig/orient"
)

// closedAll makes a store of n closed issues with one surprise, waived many.
func closedAll(n, waived int, surprise string) (text string) {
	for i := range n {
		reason := "Verified: it turns"
		if i < waived {
			reason = "Unverified: it turns. Waived: nobody sees it"
		}
		text += fmt.Sprintf(`{"id":"t-%02d","status":"closed","closed_at":"2026-11-01T00:00:00Z","close_reason":%q,"notes":%q}`+"\n",
			i, reason, tableOf("complicated", surprise, "verifying"))
	}
	return text
}

func tableOf(cynefin, surprise, progress string) string {
	return "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| schema-version | 1 | 2026-11-01 |\n| cynefin | " +
		cynefin + " | 2026-11-01 |\n| surprise | " + surprise + " | 2026-11-01 |\n| progress | " + progress + " | 2026-11-01 |\n<!-- /stigmergic-signals -->"
}

// TestPatternsNeedEnough holds each claim to its threshold: at it, and of four
// issues, nothing is claimed.
func TestPatternsNeedEnough(t *testing.T) {
	ups := func(n, down int) (turns []orient.Turn) {
		for i := range n {
			turn := orient.Turn{ID: fmt.Sprintf("t-%02d", i), Kind: orient.Shifted, From: "clear", To: "complex"}
			if i < down {
				turn.From, turn.To = turn.To, turn.From
			}
			turns = append(turns, turn)
		}
		return turns
	}
	reopened := func(n int) (turns []orient.Turn) {
		for i := range n {
			turns = append(turns, orient.Turn{ID: fmt.Sprintf("t-%02d", i), Kind: orient.Reopened})
		}
		return turns
	}
	tests := []struct {
		name  string
		store string
		turns []orient.Turn
		want  string
	}{
		{"surprise of four", closedAll(4, 0, "0.9"), nil, ""},
		{"surprise of five", closedAll(5, 0, "0.9"), nil, "surprise"},
		{"surprise at", closedAll(5, 0, "0.3"), nil, ""},
		{"waivers at", closedAll(5, 1, "0.1"), nil, ""},
		{"waivers above", closedAll(5, 2, "0.1"), nil, "waivers"},
		{"waivers of four", closedAll(4, 4, "0.1"), nil, ""},
		{"nothing surprises", closedAll(5, 0, "0.0"), nil, "zero-surprise"},
		{"nothing surprises, of four", closedAll(4, 0, "0.0"), nil, ""},
		{"shifts of four", closedAll(1, 0, "0.1"), ups(4, 0), ""},
		{"shifts up", closedAll(9, 0, "0.1"), ups(5, 0), "shifts"},
		{"shifts at", closedAll(9, 0, "0.1"), ups(5, 1), ""},
		{"reopened above", closedAll(5, 0, "0.1"), reopened(2), "first-pass reopened"},
		{"reopened at", closedAll(5, 0, "0.1"), reopened(1), ""},
	}
	for _, test := range tests {
		file := held(t, test.store)
		r, err := orient.LookBack(file, dag.New(file), orient.RetroRequest{Last: 9, History: true, Turns: test.turns},
			orient.Rules{Schema: cue.Embedded(), Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range r.Patterns {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != test.want || (r.Draft == "") != (got == "") {
			t.Errorf("%s: patterns %q, want %q\n%s", test.name, got, test.want, r.Draft)
		}
	}
}

// TestReopenedByItsNotes asserts that a reopening counts that no commit shows,
// since the issue was closed again before the next one, and counts once.
func TestReopenedByItsNotes(t *testing.T) {
	notes := tableOf("clear", "0.1", "verifying") + "\n\n<!-- reopen-context -->\n## Reopened (2026-11-02) by ann\nit does not turn\n<!-- /reopen-context -->"
	text := strings.Replace(closedAll(5, 0, "0.1"), fmt.Sprintf("%q", tableOf("complicated", "0.1", "verifying")), fmt.Sprintf("%q", notes), 2)
	file := held(t, text)
	r, err := orient.LookBack(file, dag.New(file), orient.RetroRequest{Last: 9, History: true, Turns: []orient.Turn{{ID: "t-00", Kind: orient.Reopened}}},
		orient.Rules{Schema: cue.Embedded(), Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Reopened.IDs, r.FirstPass.IDs); got != "[t-00 t-01] [t-02 t-03 t-04]" {
		t.Errorf("reopened and passed at first: %s", got)
	}
}

// TestTurns reads what the history of a store holds, merges included.
func TestTurns(t *testing.T) {
	line := func(id, status, cynefin, progress string) string {
		return fmt.Sprintf(`{"id":%q,"status":%q,"notes":%q}`+"\n", id, status, tableOf(cynefin, "0.1", progress))
	}
	bare := `{"id":"t-3","status":"open"}` + "\n"
	a, b := line("t-1", "closed", "clear", "verifying"), line("t-2", "open", "clear", "verifying")
	versions := map[string]string{
		"first":  a + b + bare + "{not an issue\n",
		"left":   line("t-1", "open", "complex", "exploring") + b + bare,
		"right":  a + line("t-2", "open", "clear", "implementing") + line("t-3", "open", "complex", "verifying"),
		"merged": line("t-1", "open", "complex", "exploring") + line("t-2", "open", "clear", "implementing") + line("t-3", "tombstone", "complex", "verifying"),
	}
	turns, known, err := orient.Turns(context.Background(), history{texts: versions, versions: []beads.Version{
		{After: "first", Before: []string{""}},
		{After: "left", Before: []string{"first"}},
		{After: "right", Before: []string{"first"}},
		{After: "merged", Before: []string{"left", "right"}},
		{After: "", Before: []string{"merged"}},
	}}, cue.Embedded())
	want := []orient.Turn{
		{ID: "t-1", Kind: orient.Reopened, From: "closed", To: "open"},
		{ID: "t-1", Kind: orient.Shifted, From: "clear", To: "complex"},
		{ID: "t-1", Kind: orient.WentBack, From: "verifying", To: "exploring"},
		{ID: "t-2", Kind: orient.WentBack, From: "verifying", To: "implementing"},
	}
	if err != nil || !known || !slices.Equal(turns, want) {
		t.Errorf("%v\n got %v\nwant %v", err, turns, want)
	}
}

// history is one of texts that lie here.
type history struct {
	beads.History
	versions []beads.Version
	texts    map[string]string
}

func (h history) Versions(context.Context, string) ([]beads.Version, error) {
	return h.versions, nil
}

func (h history) Texts(_ context.Context, versions []beads.Version, _ string, take func(string, []byte)) error {
	for _, name := range beads.Names(versions) {
		text := []byte(h.texts[name])
		take(name, text)
		clear(text) // it must not be kept
	}
	return nil
}
