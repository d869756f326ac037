package lint

import (
	"fmt"
	"strings"

	"stig/internal/gate"
	"stig/signals"
)

// unfounded reports confidence that is newer than its evidence.
func unfounded(s *subject) {
	said, level := s.table.Updated(signals.Confidence), s.table.Value(signals.Confidence)
	if signals.Weaker(level, signals.Confidence.Default()) <= 0 || !signals.IsDate(said) {
		return
	}
	seen := s.table.Value(signals.EvidenceFreshness)
	if signals.IsDate(seen) && seen >= said {
		return
	}
	message := fmt.Sprintf("%s of %s, evidence of %s", level, said, seen)
	if !signals.IsDate(seen) {
		message = fmt.Sprintf("%s of %s, evidence undated", level, said)
	}
	line, column := s.table.Place(signals.Confidence)
	s.add(RuleUnfounded, line, column, message, evidenceHint(s.issue.ID))
}

// waived reports work that was closed without passing criteria.
func waived(s *subject) {
	if !strings.HasPrefix(s.reason, gate.Unverified) {
		return
	}
	if _, ok := onChildren(s.record); ok {
		return // the children are reported themselves
	}
	why, tells := gate.ParseWaived(s.reason)
	if !tells {
		why = strings.TrimSpace(strings.TrimPrefix(s.reason, gate.Unverified))
	}
	if !gate.ExplainsWaiver(s.reason) {
		s.add(RuleUnexplained, 0, 0, "closed by a waiver that does not say why: "+opening(why), "say why in its close reason, or type stig reopen "+s.issue.ID+" --reason …")
	}
	s.add(RuleWaived, 0, 0, "closed by a waiver: "+opening(why),
		"type stig reopen "+s.issue.ID+" --reason … if there is something to run now")
}

func evidenceHint(id string) string {
	return fmt.Sprintf("run a check, then type stig checkpoint %s --evidence \"what it printed\"", id)
}
