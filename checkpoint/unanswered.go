package checkpoint

import (
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

// Unanswered is an open question that blocks its issue.
type Unanswered struct {
	Refusal *fault.Error // the error for an action that the question blocks

	// Despite is how a close reason begins to name the unanswered questions; a colon and why
	// they were ignored follow.
	Despite string
}

// unwritten is the reason if the signal is pending and no question is asked.
const unwritten = "its escalation is pending, but no question is recorded"

// HeldByQuestion returns the questions that block an issue: those without an answer, or the
// signal if it is pending and nothing is asked. It returns nil if there is none, or if the
// questions block single workers only.
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

// withdrawn answers the questions that blocked single workers, because the issue is closed.
func withdrawn(d *notes.Doc, by string, rules Rules) (*notes.Doc, error) {
	questions := signals.Questions(signals.Escalations(d))
	for _, q := range questions {
		if q.Only() == "" {
			return d, nil // a close despite the question leaves it open
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

// IsNamed reports whether a close reason names the questions and says why they were ignored.
func (u *Unanswered) IsNamed(reason string) bool {
	_, why, named := strings.Cut(reason, u.Despite+":")
	return named && strings.TrimSpace(why) != ""
}

// despite returns the part of a close reason about the unanswered questions, "" for none.
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
