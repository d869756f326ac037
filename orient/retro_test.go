package orient_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/cue"
	"stig/dag"
	"stig/orient"
)

// closedAll returns a store of n closed issues with the same surprise, of which waived were
// closed by a waiver.
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

// TestPatternsNeedEnough checks each pattern's threshold: at the threshold, and with only four
// issues, there is no pattern.
func TestPatternsNeedEnough(t *testing.T) {
	tests := []struct {
		name  string
		store string
		want  string
	}{
		{"surprise of four", closedAll(4, 0, "0.9"), ""},
		{"surprise of five", closedAll(5, 0, "0.9"), "surprise"},
		{"surprise at", closedAll(5, 0, "0.3"), ""},
		{"waivers at", closedAll(5, 1, "0.1"), ""},
		{"waivers above", closedAll(5, 2, "0.1"), "waivers"},
		{"waivers of four", closedAll(4, 4, "0.1"), ""},
		{"nothing surprises", closedAll(5, 0, "0.0"), "zero-surprise"},
		{"nothing surprises, of four", closedAll(4, 0, "0.0"), ""},
		{"nothing surprises, of five of which one was not done", strings.Replace(closedAll(5, 0, "0.0"), "Verified: it turns", "Not planned: it is gone", 1), ""},
	}
	for _, test := range tests {
		file := held(t, test.store)
		r, err := orient.LookBack(file, dag.New(file), "", 9,
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

// TestReopened: a reopened issue is counted, and did not pass at first.
func TestReopened(t *testing.T) {
	notes := tableOf("clear", "0.1", "verifying") + "\n\n<!-- reopen-context -->\n## Reopened (2026-11-02) by ann\nit does not turn\n<!-- /reopen-context -->"
	text := strings.Replace(closedAll(5, 0, "0.1"), fmt.Sprintf("%q", tableOf("complicated", "0.1", "verifying")), fmt.Sprintf("%q", notes), 2)
	file := held(t, text)
	r, err := orient.LookBack(file, dag.New(file), "", 9,
		orient.Rules{Schema: cue.Embedded(), Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(r.Reopened.IDs, r.FirstPass.IDs, len(r.Patterns), " ", r.Patterns[0].Name, " ", r.Patterns[1].Name); got != "[t-00 t-01] [t-02 t-03 t-04] 2 first-pass reopened" {
		t.Errorf("reopened, passed at first and patterns: %s", got)
	}
}
