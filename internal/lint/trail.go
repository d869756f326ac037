package lint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/gate"
	"stig/signals"
)

// notStarted finds closed work whose table says that nobody began it.
func notStarted(s *subject) {
	if !s.closed() || !s.table.Has(signals.Progress) || s.table.Raw(signals.Progress) != signals.ProgressNotStarted {
		return
	}
	line, column := s.table.Place(signals.Progress)
	s.add(RuleNotStarted, line, column, "progress not-started on closed work",
		fmt.Sprintf("type stig signals set %s progress=verifying, if the work was done", s.issue.ID))
}

// longTrail is the length of a state estimate, in characters, above which its
// work had something to tell.
const longTrail = 400

// reflexive finds surprises that nobody seems to have thought about.
func reflexive(s *subject) {
	if !s.closed() || !s.table.Has(signals.Surprise) || s.table.Value(signals.Surprise) != signals.Surprise.Default() {
		return
	}
	estimate, has := signals.LastEstimate(s.doc)
	length := utf8.RuneCountInString(estimate.Body)
	if !has || length <= longTrail {
		return
	}
	line, column := s.table.Place(signals.Surprise)
	s.add(RuleReflexive, line, column,
		fmt.Sprintf("surprise %s and a state estimate of %d characters", signals.Surprise.Default(), length),
		fmt.Sprintf("type stig signals set %s surprise=VALUE, unless all went as planned", s.issue.ID))
}

// closeReason finds close reasons that tell neither what exists now nor where
// to look: empty ones, and a few words without a number, a place or a name of
// something.
func closeReason(s *subject) {
	if !s.closed() || s.issue.Ephemeral || s.issue.Template {
		return
	}
	reason := strings.TrimSpace(s.record.Text(beads.CloseReason))
	isIssue := func(word string) bool { _, known := s.find(word); return known }
	if gate.IsInformative(reason, isIssue) {
		return
	}
	message := "closed without a close reason"
	if reason != "" {
		message = fmt.Sprintf("close reason %q is too short to be useful", reason)
	}
	s.add(RuleReason, 0, 0, message, "say what exists now that did not before, and how it is known to work")
}
