package orient_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"stig/orient"
)

// Comments of robots and empty template headings are folded and named; --full shows them.
func TestBriefFolds(t *testing.T) {
	comments := []map[string]any{
		{"id": 1, "author": "codecov[bot]", "text": "coverage fell"}, {"id": 2, "author": "github-actions", "text": "the build passed"},
		{"id": 3, "author": "ann", "text": "the gate hangs"},
	}
	description := "### What happened\r\n\r\nIt hangs.\r\n\r\n### Version\r\n\r\n_No response_\r\n\r\n### Logs\r\n<!-- paste logs here -->\r\n"
	store := held(t, issueWith(t, map[string]any{"comments": comments, "description": description}))
	for _, full := range []bool{false, true} {
		text := brief(t, store, "q-1", orient.Request{Full: full}).Markdown()
		for _, part := range []string{"coverage fell", "the build passed", "### Version", "### Logs"} {
			if strings.Contains(text, part) != full {
				t.Errorf("full %v: %q\n%s", full, part, text)
			}
		}
		for _, part := range []string{"the gate hangs", "### What happened", "It hangs."} {
			if !strings.Contains(text, part) {
				t.Errorf("full %v: %q is missing\n%s", full, part, text)
			}
		}
		if named := strings.Contains(text, "2 comments by codecov[bot], github-actions, 2 empty headings of the description"); named == full {
			t.Errorf("full %v:\n%s", full, text)
		}
	}
}

// The survey recommends an issue without objections, and says why it passes over those before
// it.
func TestSurveyWeighs(t *testing.T) {
	tests := []struct {
		keys string // of the more urgent issue
		says string // "" if it is recommended
	}{
		{`"labels":["needs-human"]`, "label needs-human"},
		{`"labels":["status: in progress"]`, "label status: in progress"},
		{`"labels":["operator-gated"]`, "label operator-gated"},
		{`"labels":["wip"]`, "label wip"},
		{`"title":"Waiting on a decision of the board"`, "says “Waiting on a decision”"},
		{`"description":"Blocked: needs the API key."`, "says “needs the API key”"},
		{`"notes":"Do not start before the audit."`, "says “do not start”"},
		{`"description":"x","labels":["backend","blocked-by-nothing"]`, ""},
		{`"description":"It needs no credentials, and does not require approval."`, ""},
		{`"description":"The reader waits for the lock, then needs to read both forms."`, ""},
	}
	for _, test := range tests {
		first := `{"id":"q-1","title":"Dig","description":"The hole.","status":"open","priority":1,"issue_type":"task"}`
		if i := strings.Index(first, test.keys[:strings.Index(test.keys, ":")]); i >= 0 {
			key := test.keys[:strings.Index(test.keys, ":")]
			first = strings.Replace(first, key, `"was_`+key[1:], 1)
		}
		store := strings.TrimSuffix(first, "}") + "," + test.keys + "}\n" +
			`{"id":"q-2","title":"Paint","description":"The gate.","status":"open","priority":2,"issue_type":"task"}` + "\n"
		s := look(t, held(t, store), orient.SurveyRequest{})
		recommended, text := s.Next[0].Argv[2], s.Markdown()
		if want := map[bool]string{true: "q-1", false: "q-2"}[test.says == ""]; recommended != want || !strings.Contains(text, test.says) {
			t.Errorf("%s: recommends %s\n%s", test.keys, recommended, text)
		}
		if said := strings.Contains(brief(t, held(t, store), "q-1", orient.Request{}).Next[0].Why, test.says); !said {
			t.Errorf("%s: the briefing begins with another step", test.keys)
		}
	}
}

// A chain longer than the budget is cut from its far end: to first sentences, then titles, then
// a count.
func TestBriefLongChain(t *testing.T) {
	chain := func(n int) string {
		var text strings.Builder
		text.WriteString(`{"id":"q-0","title":"Last","status":"open","priority":1,"issue_type":"task","dependencies":[{"issue_id":"q-0","depends_on_id":"q-1","type":"blocks"}]}` + "\n")
		for k := 1; k <= n; k++ {
			fmt.Fprintf(&text, `{"id":"q-%d","title":"Title of %d.","status":"closed","close_reason":"Part %d stands. %s","dependencies":[{"issue_id":"q-%d","depends_on_id":"q-%d","type":"blocks"}]}`+"\n",
				k, k, k, strings.Repeat("More of it. ", 20), k, k+1)
		}
		return text.String()
	}
	for n, want := range map[int][4]int{10: {10, 10, 10, 0}, 60: {60, 60, 3, 0}, 150: {150, 40, 1, 0}, 1000: {100, 0, 0, 500}} {
		b := brief(t, held(t, chain(n)), "q-0", orient.Request{Budget: orient.BriefingBudget})
		text := b.Markdown()
		titles, sentences, wholes := strings.Count(text, "Title of "), strings.Count(text, " stands."), strings.Count(text, "More of it")/10
		if titles < want[0] || sentences < want[1] || wholes < want[2] || len(b.Farther) < want[3] || len(b.Farther)+len(b.ClosedDependencies) != n {
			t.Errorf("%d: %d titles, %d sentences, %d whole, %d counted\n%s", n, titles, sentences, wholes, len(b.Farther), text)
		}
		if size := utf8.RuneCountInString(text); n > 60 && size < orient.BriefingBudget*3/4 || size > orient.BriefingBudget {
			t.Errorf("%d: %d characters", n, size)
		}
	}
}
