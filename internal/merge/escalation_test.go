package merge

import (
	"slices"
	"strings"
	"testing"

	"stig/notes"
	"stig/signals"
)

// trailOf builds a trail: "?a 03" asks a on the third, "!a 03" answers.
func trailOf(parts string) string {
	var texts []string
	for part := range strings.SplitSeq(parts, ", ") {
		text, day, _ := strings.Cut(part[1:], " ")
		kind := "Pending"
		if part[0] == '!' {
			kind = "Resolved"
		}
		texts = append(texts, "## "+kind+" (2026-11-"+day+")\n"+text)
	}
	return strings.Join(texts, "\n\n")
}

// TestUniteParts: by date, but never against a side's own order. Sides that were merged before
// may have the same parts after different ones.
func TestUniteParts(t *testing.T) {
	for _, c := range []struct{ name, ours, theirs, want string }{
		{"by date", "?a 01, ?b 04", "?a 01, ?c 03, !d 05", "?a 01, ?c 03, ?b 04, !d 05"},
		{"theirs waits for what ours has before it", "?a 05, ?s 03", "?s 03, !d 06", "?a 05, ?s 03, !d 06"},
		{"ours waits for what theirs has before it", "?s 03, !d 06", "?a 05, ?s 03", "?a 05, ?s 03, !d 06"},
		{"in another order on each side", "?a 01, ?b 02", "?b 02, ?a 01", "?a 01, ?b 02"},
		{"of one day: the answer first", "?a 03", "?b 03, !c 03", "?b 03, !c 03, ?a 03"},
		{"of one day: an answer of another day is none", "?b 03, !c 05", "?a 03", "?a 03, ?b 03, !c 05"},
	} {
		if got := uniteParts(trailOf(c.ours), trailOf(c.theirs)); got != trailOf(c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, trailOf(c.want))
		}
	}
}

func TestUnseen(t *testing.T) {
	for _, c := range []struct{ name, ours, theirs, want string }{
		{"an answer after the question of the other side", "?a 01, ?b 03", "?a 01, !c 05", "the answer of 2026-11-05 also counts for the question of 2026-11-03"},
		{"both ask", "?a 01, ?b 03", "?a 01, ?c 05", ""},
		{"both answer", "?a 01, !b 03", "?a 01, !c 05", ""},
		{"answered on its own side", "?a 01, ?b 03, !d 04", "?a 01, !c 05", ""},
		{"answered on both sides", "?b 03, !s 04", "!s 04, !c 05", ""},
	} {
		for _, got := range []string{unseen(trailOf(c.ours), trailOf(c.theirs)), unseen(trailOf(c.theirs), trailOf(c.ours))} {
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("%s: %q", c.name, got)
			}
		}
	}
}

// Two questions are answered separately, one in each branch: each answer names its question,
// and counts for no other. An answer to all does not cover a question that only the other side
// asked.
func TestUnseenOfNamedAnswers(t *testing.T) {
	a, b, c := part("Pending (2026-11-01)", "a"), part("Pending (2026-11-01)", "b"), part("Pending (2026-11-02)", "c")
	toA := part("Resolved (2026-11-03, question "+hash("a")+") by ines", "yes") + part("Pending (2026-11-03, asked 2026-11-01, after "+hash("a")+")", "b")
	toB := part("Resolved (2026-11-03, question "+hash("b")+") by bo", "no") + part("Pending (2026-11-03, asked 2026-11-01, after "+hash("b")+")", "a")
	toAll := part("Resolved (2026-11-04, all 2 questions) by bo", "do both")
	for _, test := range []struct {
		name, ours, theirs string
		warns              bool
		waiting            []string
	}{
		{"each answers another one", a + b + toA, a + b + toB, false, nil},
		{"one is asked meanwhile", a + b + c, a + b + toA, false, []string{"b", "c"}},
		{"one is answered, all are answered", a + b + toA, a + b + toAll, false, nil},
		{"one is asked meanwhile, all are answered", a + b + c, a + b + toAll, true, nil},
		{"it is asked and answered meanwhile, all are answered", a + b + c + part("Resolved (2026-11-03, question "+hash("c")+") by ines", "yes"), a + b + toAll, false, nil},
	} {
		for _, sides := range [][2]string{{test.ours, test.theirs}, {test.theirs, test.ours}} {
			if got := unseen(sides[0], sides[1]); (got != "") != test.warns {
				t.Errorf("%s: %q", test.name, got)
			}
			section := "<!-- escalation-context -->\n" + uniteParts(sides[0], sides[1]) + "\n<!-- /escalation-context -->"
			var waiting []string
			for _, q := range signals.Questions(signals.Escalations(notes.Parse(section))) {
				waiting = append(waiting, q.Text)
			}
			if !slices.Equal(waiting, test.waiting) {
				t.Errorf("%s: %q wait, want %q", test.name, waiting, test.waiting)
			}
		}
	}
}

func part(heading, text string) string { return "## " + heading + "\n" + text + "\n\n" }

func hash(text string) string { return signals.Part{Text: text}.Hash() }
