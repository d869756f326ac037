package checkpoint

import (
	"strings"

	"stig/beads"
	"stig/fault"
	"stig/notes"
	"stig/signals"
)

// heldByQuestion says which question holds an issue: one that no answer follows, or the
// signal, where it says pending and nothing is asked. nil for none.
func heldByQuestion(r *beads.Record, rules Rules) *fault.Error {
	id, doc := r.Text(beads.ID), notes.Parse(r.Text(beads.Notes))
	questions := signals.Questions(signals.Escalations(doc))
	otherwise := "; to close it all the same give --despite-question WHY"
	if len(questions) == 0 {
		if signals.Read(doc, rules.Schema).Value(signals.Escalation) != signals.EscalationPending {
			return nil
		}
		return &fault.Error{Code: fault.Waits, ID: id, Reason: "its escalation is pending, and no question is written down",
			Hint: "type stig vet " + id + otherwise}
	}
	what := "a question waits for an answer: "
	if len(questions) > 1 {
		what = "questions wait for an answer: "
	}
	return &fault.Error{Code: fault.Waits, ID: id, Reason: what + named(questions),
		Hint: "type stig resolve " + id + " to answer, or stig escalate " + id + " --withdraw -m WHY" + otherwise}
}

// despite says in a close reason what was not waited for, "" for nothing.
func (c Closing) despite(r *beads.Record, rules Rules) string {
	if c.Despite == "" || heldByQuestion(r, rules) == nil {
		return ""
	}
	said := "; closed"
	if c.Actor != "" {
		said += " by " + c.Actor
	}
	said += " despite "
	switch questions := signals.Questions(signals.Escalations(notes.Parse(r.Text(beads.Notes)))); len(questions) {
	case 0:
		said += "a pending escalation"
	case 1:
		said += "the unanswered question " + questions[0].Hash()
	default:
		var hashes []string
		for _, q := range questions {
			hashes = append(hashes, q.Hash())
		}
		said += "the unanswered questions " + strings.Join(hashes, ", ")
	}
	return said + ": " + strings.TrimRight(strings.TrimSpace(c.Despite), ".")
}
