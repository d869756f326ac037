package signals_test

import (
	"slices"
	"strings"
	"testing"

	"stig/notes"
	"stig/signals"
)

func TestEscalations(t *testing.T) {
	const body = "## Pending (2026-11-01)\nA or B?\n\n### Why\nthe graph does not say\n\n## Resolved (2026-11-02) by alice\nB.\n\n" +
		"## Process improvement (2026-11-03) by mara\nask earlier?\n\n## Remarks\nno part"
	d := notes.Parse("<!-- escalation-context -->\n" + body + "\n<!-- /escalation-context -->")
	parts := signals.Escalations(d)
	want := []signals.Part{
		{Kind: signals.Pending, Date: "2026-11-01", Text: "A or B?\n\n### Why\nthe graph does not say"},
		{Kind: signals.Resolved, Date: "2026-11-02", By: "alice", Text: "B."},
		{Kind: signals.Improvement, Date: "2026-11-03", By: "mara", Text: "ask earlier?"},
	}
	if len(parts) != len(want) {
		t.Fatalf("got %+v", parts)
	}
	for i := range want {
		if parts[i] != want[i] {
			t.Errorf("part %d: got %+v, want %+v", i, parts[i], want[i])
		}
	}
	if open := signals.Questions(parts); len(open) != 1 || open[0].Date != "2026-11-03" {
		t.Errorf("open questions %+v", open)
	}
}

func TestStanding(t *testing.T) {
	p, r := signals.Part{Kind: signals.Pending}, signals.Part{Kind: signals.Resolved}
	i := signals.Part{Kind: signals.Improvement}
	tests := []struct {
		parts []signals.Part
		want  string
	}{
		{nil, "none"},
		{[]signals.Part{p}, "pending"},
		{[]signals.Part{p, p, r}, "resolved"}, // an answer covers every question before it
		{[]signals.Part{p, r, i}, "pending"},
		{[]signals.Part{r}, "resolved"},
	}
	for _, test := range tests {
		if got := signals.Standing(test.parts); got != test.want {
			t.Errorf("%v: %s, want %s", test.parts, got, test.want)
		}
	}
}

// TestAddPart checks that earlier parts of the trail keep their bytes.
func TestAddPart(t *testing.T) {
	const trail = "<!-- escalation-context -->\r\n## Pending (2026-11-01)\r\nodd   spacing  \r\n<!-- /escalation-context -->\r\n"
	d, err := signals.AddPart(notes.Parse(trail), signals.Part{Kind: signals.Resolved, Date: "2026-11-20", By: "alice", Text: "B.\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(trail, "spacing  \r\n", "spacing  \r\n\r\n## Resolved (2026-11-20) by alice\r\nB.\r\n", 1)
	if d.Text() != want {
		t.Errorf("got %q, want %q", d.Text(), want)
	}
}

// The passages contain all of a section, and what has no date stays with what precedes it.
func TestPassages(t *testing.T) {
	body := "An aside.\r\n\r\n## Pending (2026-11-01)\r\nA or B?\r\n\r\n### Why\r\nunsaid\r\n\r\n## Remarks\r\nno part\r\n\r\n## resolved (2026-11-02) by alice\r\nB.\r\n" +
		"\n## Resolved (2026-11-03, question 6f25c712) by bo\nA.\n\n## Pending (2026-11-03, asked 2026-11-01, after 6f25c712)\nC?\n"
	want := []signals.Passage{
		{Text: "An aside."},
		{Date: "2026-11-01", Text: "## Pending (2026-11-01)\nA or B?\n\n### Why\nunsaid", Hash: "6f25c712"},
		{Date: "2026-11-01", Text: "## Remarks\nno part"},
		{Date: "2026-11-02", Text: "## resolved (2026-11-02) by alice\nB.", Answers: true},
		{Date: "2026-11-03", Text: "## Resolved (2026-11-03, question 6f25c712) by bo\nA.", Answers: true, Hash: "6f25c712"},
		{Date: "2026-11-03", Text: "## Pending (2026-11-03, asked 2026-11-01, after 6f25c712)\nC?", Hash: "e8e7bfea", Again: true},
	}
	if got := signals.Passages(body); !slices.Equal(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	if got := signals.Passages(" \n"); got != nil {
		t.Errorf("of nothing %+v", got)
	}
}
