package lint

import (
	"fmt"

	"stig/signals"
)

// unfounded finds confidence that is of a later day than the evidence for it.
func unfounded(s *subject) {
	said, level := s.table.Updated(signals.Confidence), s.table.Value(signals.Confidence)
	if signals.Weaker(level, signals.Confidence.Default()) <= 0 || !isDay(said) {
		return
	}
	seen := s.table.Value(signals.EvidenceFreshness)
	if isDay(seen) && seen >= said {
		return
	}
	message := fmt.Sprintf("confidence %s of %s, with evidence of %s", level, said, seen)
	if !isDay(seen) {
		message = fmt.Sprintf("confidence %s of %s, without a day of its evidence", level, said)
	}
	line, column := s.table.Place(signals.Confidence)
	s.add(RuleUnfounded, line, column, message, evidenceHint(s.issue.ID))
}

func evidenceHint(id string) string {
	return fmt.Sprintf("run what shows it, then type stig checkpoint %s --evidence \"what was run, and what it said\"", id)
}
