package checkpoint

import (
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

// Unanswered is a question that waits for a person and holds its issue.
type Unanswered struct {
	Refusal *fault.Error // of whatever the question keeps from being done

	// Despite begins what the reason of a close says of the questions that it did not
	// wait for; a colon and why follow.
	Despite string
}

// unwritten is what is wrong where the signal says pending and nothing is asked.
const unwritten = "its escalation is pending, and no question is written down"

// HeldByQuestion says which question holds an issue: one that no answer follows, or the
// signal, where it says pending and nothing is asked. nil for none, and where what is asked
// holds back some workers alone.
func HeldByQuestion(r *beads.Record, rules Rules) *Unanswered {
	id, doc := r.Text(beads.ID), notes.Parse(r.Text(beads.Notes))
	if !signals.Note(doc, signals.Read(doc, rules.Schema)).Holds("") {
		return nil
	}
	var hashes []string
	questions := signals.Questions(signals.Escalations(doc))
	for _, q := range questions {
		hashes = append(hashes, q.Hash())
	}
	held := &Unanswered{Refusal: &fault.Error{
		Code: fault.Waits, ID: id, Reason: "a question waits for an answer: " + named(questions),
		Hint: "to answer it type stig resolve " + id + ", to withdraw it stig escalate " + id + " --withdraw -m WHY",
	}, Despite: "despite the unanswered question " + strings.Join(hashes, ", ")}
	switch {
	case len(questions) > 1:
		held.Refusal.Reason = "questions wait for an answer: " + named(questions)
		held.Despite = "despite the unanswered questions " + strings.Join(hashes, ", ")
	case len(questions) == 0:
		held.Refusal.Reason, held.Refusal.Hint = unwritten, "to see what is wrong type stig vet "+id
		held.Despite = "despite a pending escalation"
	}
	return held
}

// withdrawn answers the questions that held back some workers alone, since the issue is closed.
func withdrawn(d *notes.Doc, by string, rules Rules) (*notes.Doc, error) {
	questions := signals.Questions(signals.Escalations(d))
	for _, q := range questions {
		if q.Only() == "" {
			return d, nil // a close despite it leaves it
		}
	}
	var err error
	for _, q := range questions {
		answer := signals.Part{Date: rules.today(), By: by, Text: "Withdrawn: the issue is closed."}
		if d, err = signals.AddAnswer(d, answer, q.Hash(), true); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// IsNamed reports whether the reason of a close names the questions, and says why they are
// not waited for.
func (u *Unanswered) IsNamed(reason string) bool {
	_, why, named := strings.Cut(reason, u.Despite+":")
	return named && strings.TrimSpace(why) != ""
}

// despite says in a close reason what was not waited for, "" for nothing.
func (c Closing) despite(r *beads.Record, rules Rules) string {
	held := HeldByQuestion(r, rules)
	if c.Despite == "" || held == nil {
		return ""
	}
	said := "; closed "
	if c.Actor != "" {
		said += "by " + c.Actor + " "
	}
	return said + held.Despite + ": " + strings.TrimRight(strings.TrimSpace(c.Despite), ".")
}
