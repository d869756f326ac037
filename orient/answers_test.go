package orient

import (
	"strings"
	"testing"

	"stig/signals"
)

// TestAnswered pairs answers with questions, including when one of several questions was
// answered and the others were written down again.
func TestAnswered(t *testing.T) {
	ask := func(text string) signals.Part { return signals.Part{Kind: signals.Pending, Text: text} }
	say := func(text string) signals.Part { return signals.Part{Kind: signals.Resolved, Text: text} }
	to := func(question, text string) signals.Part {
		return signals.Part{Kind: signals.Resolved, Text: text, Note: "question " + ask(question).Hash()}
	}
	again := func(text string) signals.Part {
		return signals.Part{Kind: signals.Pending, Text: text, Note: "asked 2026-11-20, after 0b1f2a9c"}
	}
	tests := []struct {
		parts []signals.Part
		want  string
	}{
		{nil, ""},
		{[]signals.Part{ask("A?")}, ""},
		{[]signals.Part{ask("A?"), say("a")}, "A? → a"},
		{[]signals.Part{ask("A?"), ask("B?"), say("both")}, "A? B? → both"},
		{[]signals.Part{ask("A?"), ask("B?"), to("A?", "a"), again("B?")}, "A? → a"},
		{[]signals.Part{ask("A?"), ask("B?"), to("A?", "a"), again("B?"), say("b")}, "A? → a; B? → b"},
		{[]signals.Part{say("unasked"), ask("A?"), say("a")}, " → unasked; A? → a"},
	}
	for _, test := range tests {
		var got []string
		for _, a := range answered(test.parts) {
			var questions []string
			for _, q := range a.Questions {
				questions = append(questions, q.Text)
			}
			got = append(got, strings.Join(questions, " ")+" → "+a.Answer.Text)
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("got %q, want %q", text, test.want)
		}
	}
}
