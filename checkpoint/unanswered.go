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
// signal, where it says pending and nothing is asked. nil for none.
func HeldByQuestion(r *beads.Record, rules Rules) *Unanswered {
	id, doc := r.Text(beads.ID), notes.Parse(r.Text(beads.Notes))
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
	case len(questions) == 1:
	case signals.Read(doc, rules.Schema).Value(signals.Escalation) == signals.EscalationPending:
		held.Refusal.Reason, held.Refusal.Hint = unwritten, "to see what is wrong type stig vet "+id
		held.Despite = "despite a pending escalation"
	default:
		return nil
	}
	return held
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
