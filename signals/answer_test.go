package signals_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stig/notes"
	"stig/signals"
)

// asked is a document with some open questions.
func asked(t *testing.T, questions ...string) *notes.Doc {
	t.Helper()
	d := notes.Parse("")
	for _, q := range questions {
		d = added(t)(signals.AddPart(d, signals.Part{Kind: signals.Pending, Date: "2026-11-20", By: "mara", Text: q}))
	}
	return d
}

func added(t *testing.T) func(*notes.Doc, error) *notes.Doc {
	return func(d *notes.Doc, err error) *notes.Doc {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

func hashOf(text string) string { return signals.Part{Text: text}.Hash() }

// exchanges shows questions with their answers.
func exchanges(d *notes.Doc) (list []string) {
	for _, e := range signals.Exchanges(signals.Escalations(d)) {
		line := e.Question.Asked() + " " + e.Question.Text + " ->"
		if e.Answer != nil {
			line += " " + e.Answer.Text
		}
		list = append(list, line)
	}
	return list
}

// TestAddAnswer: the questions that remain after one answer are also open by the older rule, by
// which an answer covers all questions before it.
func TestAddAnswer(t *testing.T) {
	const crane = "Which crane?\n\n1. old\n2. new\n\nDefault: 1 after 24h (2026-11-21T09:00Z)"
	d := asked(t, "Which quay?", crane, "When?")
	d = added(t)(signals.AddAnswer(d, signals.Part{Date: "2026-11-22", By: "ines", Text: "North."}, hashOf("Which  quay?"), false))
	want := `
## Resolved (2026-11-22, question HASH) by ines
North.

## Pending (2026-11-22, asked 2026-11-20, after HASH) by mara
` + crane + `

## Pending (2026-11-22, asked 2026-11-20, after HASH) by mara
When?
<!-- /escalation-context -->`
	want = strings.ReplaceAll(want, "HASH", hashOf("Which quay?"))
	if !strings.HasSuffix(strings.TrimSpace(d.Text()), want) {
		t.Errorf("got %s\nwant at its end %s", d.Text(), want)
	}
	parts := signals.Escalations(d)
	open := signals.Questions(parts)
	if len(open) != 2 || open[0].Hash() != hashOf(crane) || open[0].By != "mara" || open[0].Asked() != "2026-11-20" || signals.Standing(parts) != "pending" {
		t.Errorf("open: %+v", open)
	}
	if q := signals.ReadQuestion(open[0].Text); len(q.Options) != 2 || q.Default != 1 {
		t.Errorf("without its options: %+v", q)
	}

	d = added(t)(signals.AddAnswer(d, signals.Part{Date: "2026-11-22", By: "mara", Text: "Withdrawn: no crane."}, hashOf(crane), true))
	wantExchanges := []string{"2026-11-20 Which quay? -> North.", "2026-11-20 " + crane + " -> Withdrawn: no crane.", "2026-11-20 When? ->"}
	if got := exchanges(d); !slices.Equal(got, wantExchanges) {
		t.Errorf("got %q, want %q", got, wantExchanges)
	}
	if parts = signals.Escalations(d); !parts[len(parts)-2].Withdraws() || parts[len(parts)-2].By != "mara" {
		t.Errorf("not withdrawn: %+v", parts[len(parts)-2])
	}

	d = added(t)(signals.AddPart(d, signals.Part{Kind: signals.Pending, Date: "2026-11-23", By: "mara", Text: "How?"}))
	d = added(t)(signals.AddAnswer(d, signals.Part{Date: "2026-11-24", By: "ines", Text: "Soon and well."}, "", false))
	wantExchanges = append(wantExchanges[:2], "2026-11-20 When? -> Soon and well.", "2026-11-23 How? -> Soon and well.")
	if got := exchanges(d); !slices.Equal(got, wantExchanges) || signals.Standing(signals.Escalations(d)) != "resolved" {
		t.Errorf("got %q, want %q", got, wantExchanges)
	}
	if !strings.Contains(d.Text(), "## Resolved (2026-11-24, all 2 questions) by ines\n") {
		t.Errorf("an answer to all does not say so: %s", d.Text())
	}
}

// An answer to the only question is written as before.
func TestAddAnswerToOne(t *testing.T) {
	for _, hash := range []string{"", hashOf("Which quay?")} {
		d := added(t)(signals.AddAnswer(asked(t, "Which quay?"), signals.Part{Date: "2026-11-22", By: "ines", Text: "North."}, hash, false))
		if !strings.Contains(d.Text(), "\n\n## Resolved (2026-11-22) by ines\nNorth.\n<!-- /") {
			t.Errorf("got %s", d.Text())
		}
	}
}

// What others write by hand is read by the older rule.
func TestExchangesOfOlderTrails(t *testing.T) {
	const body = "## Pending\nA?\n## Pending (2026-11-01, urgent)\nB?\n## Resolved (2026-11-02, question of the wall)\nyes\n## Pending (2026-11-03)\nB?\n" +
		"## Pending (2026-11-04, asked 2026-11-01, after 00000000) by mara\nC?"
	d := notes.Parse("<!-- escalation-context -->\n" + body + "\n<!-- /escalation-context -->")
	want := []string{" A? -> yes", "2026-11-01 B? -> yes", "2026-11-03 B? ->", "2026-11-01 C? ->"}
	if got := exchanges(d); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// byOlderRule returns the open questions by the older rule: those after the last answer.
func byOlderRule(parts []signals.Part) (texts []string) {
	for _, p := range parts {
		if texts = append(texts, p.Text); !p.Kind.Asks() {
			texts = nil
		}
	}
	return texts
}

// Whatever is asked, answered and withdrawn in one branch, the older rule sees the same
// questions.
func TestOlderRuleAgrees(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		d := notes.Parse("")
		for step := range 8 {
			open := signals.Questions(signals.Escalations(d))
			switch choice := random.IntN(4); {
			case choice < 2 || len(open) == 0:
				d = added(t)(signals.AddPart(d, signals.Part{Kind: signals.Pending, Date: "2026-11-20", By: "mara", Text: fmt.Sprintf("Quay %d?", step)}))
			case choice == 2:
				d = added(t)(signals.AddAnswer(d, signals.Part{Date: "2026-11-21", Text: "yes"}, open[random.IntN(len(open))].Hash(), random.IntN(2) == 0))
			default:
				d = added(t)(signals.AddAnswer(d, signals.Part{Date: "2026-11-21", Text: "no"}, "", false))
			}
			parts := signals.Escalations(d)
			var texts []string
			for _, q := range signals.Questions(parts) {
				texts = append(texts, q.Text)
			}
			if older := byOlderRule(parts); !slices.Equal(older, texts) {
				t.Fatalf("%q wait, by the older rule %q:\n%s", texts, older, d.Text())
			}
		}
	}
}

// Two branches answer a question each. The union of their trails repeats, in the words of one
// branch, what the other answered.
func TestExchangesOfAMerge(t *testing.T) {
	const body = "## Pending (2026-11-20)\nA?\n\n## Pending (2026-11-20)\nB?\n\n## Pending (2026-11-20)\nC?\n\n" +
		"## Resolved (2026-11-21, question HASH(B?))\nb\n\n## Resolved (2026-11-21, question HASH(A?))\na\n\n" +
		"## Pending (2026-11-21, asked 2026-11-20, after HASH(B?))\nA?\n\n## Pending (2026-11-21, asked 2026-11-20, after HASH(B?))\nC?\n\n" +
		"## Pending (2026-11-21, asked 2026-11-20, after HASH(A?))\nB?\n\n## Pending (2026-11-21, asked 2026-11-20, after HASH(A?))\nC?\n"
	text := strings.NewReplacer("HASH(A?)", hashOf("A?"), "HASH(B?)", hashOf("B?")).Replace(body)
	d := notes.Parse("<!-- escalation-context -->\n" + text + "<!-- /escalation-context -->")
	want := []string{"2026-11-20 A? -> a", "2026-11-20 B? -> b", "2026-11-20 C? ->"}
	if got := exchanges(d); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	d = added(t)(signals.AddPart(d, signals.Part{Kind: signals.Pending, Date: "2026-11-22", Text: "A?"}))
	if open := signals.Questions(signals.Escalations(d)); len(open) != 2 || open[1].Text != "A?" {
		t.Errorf("asked anew, it does not wait: %+v", open)
	}
}

// TestChooseIsExact: digits that begin the hashes of two questions name none.
func TestChooseIsExact(t *testing.T) {
	seen := map[string]signals.Part{}
	for i := 0; ; i++ { // with 65,536 beginnings two collide soon
		q := signals.Part{Text: fmt.Sprintf("Which of %d?", i)}
		like, ok := seen[q.Hash()[:4]]
		if !ok {
			seen[q.Hash()[:4]] = q
			continue
		}
		if hash, ok := signals.Choose([]signals.Part{like, q}, q.Hash()[:4]); ok {
			t.Errorf("%s names %s, and begins %s and %s", q.Hash()[:4], hash, like.Hash(), q.Hash())
		}
		if hash, ok := signals.Choose([]signals.Part{like, q}, q.Hash()); !ok || hash != q.Hash() {
			t.Errorf("%s names %q", q.Hash(), hash)
		}
		return
	}
}
