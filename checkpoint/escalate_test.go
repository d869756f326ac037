package checkpoint_test

import (
	"errors"
	"testing"

	"stig/beads"
	"stig/checkpoint"
	"stig/notes"
	"stig/signals"
)

// TestResolveAnswersWhatWasSeen: between reading a question and answering it
// others may ask; an answer never answers what its author has not read.
func TestResolveAnswersWhatWasSeen(t *testing.T) {
	store := storeOf(t, `{"id":"a-1","title":"t","status":"open","priority":2,"issue_type":"task"}`)
	options := beads.Options{Now: rules().Now}
	ask := func(text string) {
		t.Helper()
		if _, err := checkpoint.Escalate(t.Context(), store, options, "a-1", checkpoint.Question{Text: text, By: "mara"}, rules()); err != nil {
			t.Fatal(err)
		}
	}
	seen := func() []signals.Part {
		t.Helper()
		file, err := beads.Read(store)
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
	ask("A?")
	read := seen()
	ask("B?")
	answer := checkpoint.Answer{Text: "yes", By: "ines", Seen: read}
	_, err := checkpoint.Resolve(t.Context(), store, options, "a-1", answer, rules())
	var stands *checkpoint.EscalationError
	if !errors.As(err, &stands) || len(seen()) != 2 {
		t.Fatalf("an answer to %v answered %v: %v", read, seen(), err)
	}
	answer.Seen = seen()
	resolved, err := checkpoint.Resolve(t.Context(), store, options, "a-1", answer, rules())
	if err != nil || len(resolved.Questions) != 2 || len(seen()) != 0 {
		t.Fatalf("%+v, %v; still asked: %v", resolved, err, seen())
	}
	if _, err = checkpoint.Resolve(t.Context(), store, options, "a-1", answer, rules()); !errors.As(err, &stands) {
		t.Errorf("answered twice: %v", err)
	}
}
