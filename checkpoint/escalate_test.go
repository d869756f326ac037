package checkpoint_test

import (
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

// TestResolveAnswersWhatWasSeen: other questions may be asked between reading one and answering
// it; an answer never applies to a question that its author has not read.
func TestResolveAnswersWhatWasSeen(t *testing.T) {
	store := storeOf(`{"id":"a-1","title":"t","status":"open","priority":2,"issue_type":"task"}`)
	options := beads.Options{Now: rules().Now}
	ask := func(text string) {
		t.Helper()
		if _, err := checkpoint.Escalate(t.Context(), store, options, "a-1", checkpoint.Question{Text: text, By: "mara"}, rules()); err != nil {
			t.Fatal(err)
		}
	}
	seen := func() []signals.Part { return waitingOn(t, store) }
	ask("A?")
	read := seen()
	ask("B?")
	answer := checkpoint.Answer{Text: "yes", By: "ines", Seen: read}
	_, err := checkpoint.Resolve(t.Context(), store, options, "a-1", answer, rules())
	if !fault.Is(err, fault.Conflict) || len(seen()) != 2 {
		t.Fatalf("an answer to %v answered %v: %v", read, seen(), err)
	}
	answer.Seen = seen()
	resolved, err := checkpoint.Resolve(t.Context(), store, options, "a-1", answer, rules())
	if err != nil || len(resolved.Questions) != 2 || len(seen()) != 0 {
		t.Fatalf("%+v, %v; still asked: %v", resolved, err, seen())
	}
	if _, err = checkpoint.Resolve(t.Context(), store, options, "a-1", answer, rules()); !fault.Is(err, fault.Conflict) {
		t.Errorf("answered twice: %v", err)
	}
}

// A contradictory question is refused, and nothing is written.
func TestEscalateRefused(t *testing.T) {
	two := []string{"left", "right"}
	for _, c := range []struct {
		question checkpoint.Question
		want     string // "" if it can be asked
	}{
		{checkpoint.Question{Text: " \n", Options: two}, "the question is empty"},
		{checkpoint.Question{Text: "which?", Options: []string{"left", " "}}, "option 2 is empty"},
		{checkpoint.Question{Text: "which?", Options: two, Default: 3, After: time.Hour}, "the default must be an option, 1 to 2; found 3"},
		{checkpoint.Question{Text: "which?", Options: two, Default: -1}, "the default must be an option, 1 to 2; found -1"},
		{checkpoint.Question{Text: "which?", Options: two, Default: 1}, "the default needs whole minutes"},
		{checkpoint.Question{Text: "which?", Options: two, Default: 1, After: 90 * time.Second}, "the default needs whole minutes"},
		{checkpoint.Question{Text: "which?", Options: two, After: time.Hour}, "a time needs a default"},
		{checkpoint.Question{Text: "which?", Options: two, Default: 2, After: time.Minute}, ""},
		{checkpoint.Question{Text: "which?", Options: two}, ""},
	} {
		s := storeOf(`{"id":"a-1","title":"t","status":"open"}`)
		before := s.Text()
		_, err := checkpoint.Escalate(t.Context(), s, beads.Options{Now: rules().Now}, "a-1", c.question, rules())
		refused := fault.Is(err, fault.Usage)
		if refused != (c.want != "") || refused != (s.Text() == before) || refused && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.question, err, c.want)
		}
	}
}

// A loop does not ask about an issue that has been closed, and only a person may close an issue
// on their word.
func TestEscalateOfLoop(t *testing.T) {
	options, question := beads.Options{Now: rules().Now}, checkpoint.Question{Text: "Is it done?", Options: []string{checkpoint.OnMyWord, "no"}, By: "bo", Unclosed: true}
	closed := storeOf(`{"id":"a-1","title":"t","status":"closed"}`)
	before := closed.Text()
	if _, err := checkpoint.Escalate(t.Context(), closed, options, "a-1", question, rules()); !fault.Is(err, fault.Changed) || closed.Text() != before {
		t.Errorf("asked about a closed issue: %v", err)
	}
	open := storeOf(`{"id":"a-1","title":"t","status":"open"}`)
	if _, err := checkpoint.Escalate(t.Context(), open, options, "a-1", question, rules()); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []checkpoint.Answer{{Option: 1, By: "cid"}, {Text: checkpoint.OnMyWord, By: "cid"}, {Text: checkpoint.TakeIt, By: "cid"}, {Text: checkpoint.TakeWorkOf + "bo-1", By: "cid"}, {Text: checkpoint.NoSecret, By: "cid"}} {
		if _, err := checkpoint.Resolve(t.Context(), open, options, "a-1", answer, rules()); !fault.Is(err, fault.Found) {
			t.Errorf("%+v: %v", answer, err)
		}
	}
	if _, err := checkpoint.Resolve(t.Context(), open, options, "a-1", checkpoint.Answer{Option: 1, By: "ines", Person: true}, rules()); err != nil {
		t.Error(err)
	}
}

// An answer by number needs exactly one question with options.
func TestResolveByNumber(t *testing.T) {
	open := checkpoint.Question{Text: "how?", By: "mara"}
	which := checkpoint.Question{Text: "which?", Options: []string{"left", "right"}, By: "mara"}
	when := checkpoint.Question{Text: "when?", Options: []string{"now", "later"}, By: "mara"}
	for _, c := range []struct {
		asked  []checkpoint.Question
		answer checkpoint.Answer
		want   string // the answer, or the error
	}{
		{[]checkpoint.Question{which}, checkpoint.Answer{Option: 1, By: "ines"}, "left"},
		{[]checkpoint.Question{open, which}, checkpoint.Answer{Option: 2, Text: " of the pier\n", By: "ines"}, "right\n\nof the pier"},
		{[]checkpoint.Question{which, when}, checkpoint.Answer{Text: "left, now", By: "ines"}, "left, now"},
		{[]checkpoint.Question{which}, checkpoint.Answer{Option: 1, By: "mara", Self: true}, "left"},
		{[]checkpoint.Question{which}, checkpoint.Answer{Option: 1}, "left"},
		{[]checkpoint.Question{which}, checkpoint.Answer{Option: 1, By: "Mara"}, "a-1: Mara asked, and somebody else must answer"},
		{[]checkpoint.Question{which}, checkpoint.Answer{Option: 3, By: "ines"}, "a-1: the options are 1 to 2; found 3"},
		{[]checkpoint.Question{which}, checkpoint.Answer{Option: -1, By: "ines"}, "a-1: the options are 1 to 2; found -1"},
		{[]checkpoint.Question{which, when}, checkpoint.Answer{Option: 1, By: "ines"}, "a-1: several questions offer options, and the number does not say which"},
		{[]checkpoint.Question{open}, checkpoint.Answer{Option: 1, By: "ines"}, "a-1: the question offers no options"},
		{[]checkpoint.Question{open}, checkpoint.Answer{Text: " \n", By: "ines"}, "a-1: the answer is empty"},
		{nil, checkpoint.Answer{Text: "yes", By: "ines"}, "a-1: no question waits for an answer"},
	} {
		s := storeOf(`{"id":"a-1","title":"t","status":"open"}`)
		o := beads.Options{Now: rules().Now}
		for _, q := range c.asked {
			if _, err := checkpoint.Escalate(t.Context(), s, o, "a-1", q, rules()); err != nil {
				t.Fatal(err)
			}
		}
		resolved, err := checkpoint.Resolve(t.Context(), s, o, "a-1", c.answer, rules())
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = resolved.Answer
		}
		if got != c.want {
			t.Errorf("%+v to %d questions: got %q, want %q", c.answer, len(c.asked), got, c.want)
		}
	}
}

// One of several questions can be answered or withdrawn by its number or its hash; the others
// stay open.
func TestResolveOneOfSeveral(t *testing.T) {
	which := checkpoint.Question{Text: "which?", Options: []string{"left", "right"}, Default: 1, After: time.Hour, By: "mara"}
	when := checkpoint.Question{Text: "when?", Options: []string{"now", "later"}, By: "mara"}
	why := checkpoint.Question{Text: "why?", By: "finn"}
	hash := signals.Part{Text: "when?\n\n1. now\n2. later"}.Hash()
	for _, c := range []struct {
		answer checkpoint.Answer
		want   string // the answer, or the error
		left   int
	}{
		{checkpoint.Answer{Question: "2", Option: 2, By: "ines"}, "later", 2},
		{checkpoint.Answer{Question: hash, Option: 1, By: "ines"}, "now", 2},
		{checkpoint.Answer{Question: strings.ToUpper(hash[:4]), Text: "never", By: "ines"}, "never", 2},
		{checkpoint.Answer{Text: "as you like", By: "ines"}, "as you like", 0},
		{checkpoint.Answer{Question: "3", Text: "why not", By: "mara"}, "why not", 2},
		{checkpoint.Answer{Question: "1", Text: "left", By: "mara"}, "a-1: mara asked, and somebody else must answer", 3},
		{checkpoint.Answer{Question: "4", Text: "x", By: "ines"}, `a-1: no question "4" waits for an answer`, 3},
		{checkpoint.Answer{Question: "0", Text: "x", By: "ines"}, `a-1: no question "0" waits for an answer`, 3},
		{checkpoint.Answer{Question: hash[:3], Text: "x", By: "ines"}, `a-1: no question "` + hash[:3] + `" waits for an answer`, 3},
		{checkpoint.Answer{Question: "3", Option: 1, By: "ines"}, "a-1: the question offers no options", 3},
		{checkpoint.Answer{Withdraw: true, Text: "known by now", By: "Finn"}, "Withdrawn: known by now", 2},
		{checkpoint.Answer{Withdraw: true, Question: hash, Text: "known", By: "mara"}, "Withdrawn: known", 2},
		{checkpoint.Answer{Withdraw: true, Text: "known", By: "mara"}, "a-1: 2 questions could be withdrawn", 3},
		{checkpoint.Answer{Withdraw: true, Question: "3", Text: "known", By: "mara"}, "a-1: finn asked, and only they can withdraw the question", 3},
		{checkpoint.Answer{Withdraw: true, Question: "1", Text: " ", By: "mara"}, "a-1: the reason is empty", 3},
	} {
		s := storeOf(`{"id":"a-1","title":"t","status":"open"}`)
		o := beads.Options{Now: rules().Now}
		for _, q := range []checkpoint.Question{which, when, why} {
			if _, err := checkpoint.Escalate(t.Context(), s, o, "a-1", q, rules()); err != nil {
				t.Fatal(err)
			}
		}
		resolved, err := checkpoint.Resolve(t.Context(), s, o, "a-1", c.answer, rules())
		got, left := "", 3
		if err != nil {
			got = err.Error()
		} else {
			got, left = resolved.Answer, resolved.Left
		}
		if got != c.want || left != c.left {
			t.Errorf("%+v: %q and %d left, want %q and %d", c.answer, got, left, c.want, c.left)
		}
		state := signals.EscalationPending
		if c.left == 0 {
			state = signals.EscalationResolved
		}
		if standing := waitingOn(t, s); len(standing) != c.left || !strings.Contains(s.Text(), "| escalation | "+state+" |") {
			t.Errorf("%+v: stand %+v in %s", c.answer, standing, s.Text())
		} else if c.left == 2 && standing[1].Asked() != signals.Day(rules().Now) {
			t.Errorf("%+v: asked again, it lost its day: %+v", c.answer, standing[1])
		}
	}
}

// waitingOn returns the open questions on the only issue of a store.
func waitingOn(t *testing.T, s beads.Store) []signals.Part {
	t.Helper()
	file, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	record, err := file.At(0).Record()
	if err != nil {
		t.Fatal(err)
	}
	return signals.Questions(signals.Escalations(notes.Parse(record.Text(beads.Notes))))
}
