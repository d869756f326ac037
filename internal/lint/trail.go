package lint

import (
	"fmt"
	"slices"
	"strings"

	"stig/internal/gate"
	"stig/signals"
)

// notStarted reports closed work whose table says that nobody began it.
func notStarted(s *subject) {
	if !s.closed() || !s.table.Has(signals.Progress) || s.table.Raw(signals.Progress) != signals.ProgressNotStarted {
		return
	}
	line, column := s.table.Place(signals.Progress)
	s.add(RuleNotStarted, line, column, "progress not-started on closed work",
		fmt.Sprintf("type stig signals set %s progress=verifying, if the work was done", s.issue.ID))
}

// closeReason reports close reasons that say nothing, which stig close refuses.
func closeReason(s *subject) {
	if !s.closed() || s.issue.Ephemeral || s.issue.Template {
		return
	}
	if !gate.SaysNothing(s.reason) {
		return
	}
	message := "closed without a close reason"
	if s.reason != "" {
		message = fmt.Sprintf("close reason %q says nothing", s.reason)
	}
	s.add(RuleReason, 0, 0, message, "say what exists now that did not before, and how it is known to work")
}

// unshown reports work that was closed with the gate's opening words but without the results
// that follow the reason, or with results of no test.
func unshown(s *subject) {
	if !strings.HasPrefix(s.reason, gate.Verified) {
		return
	}
	if _, ok := onChildren(s.record); ok {
		return
	}
	results, shown := gate.ParseResults(s.reason)
	switch {
	case !shown:
		s.add(RuleClaimed, 0, 0, "closed without results: "+opening(s.reason), s.closeAgain())
	case gate.SaysNoTestRan(s.reason):
		s.add(RuleClaimed, 0, 0, "closed, but no test ran: "+opening(s.reason), s.closeAgain())
	case results.Commit == "" && !results.First:
		s.add(RuleClaimed, 0, 0, "closed without the commit of its checks", s.closeAgain())
	}
}

// greenBefore reports work whose checks passed before it began, so they prove nothing about it.
func greenBefore(s *subject) {
	if s.reason != "" && gate.SaysGreenBefore(s.reason) && !s.mayHold() {
		s.add(RuleGreen, 0, 0, "closed on criteria that passed before the work too", greenHint(s.issue.ID))
	}
}

// closeAgain returns the hint for issues that were closed past the gate.
func (s *subject) closeAgain() string {
	return fmt.Sprintf("type stig reopen %s --reason …\nthen stig close %s, which runs the criteria", s.issue.ID, s.issue.ID)
}

// mayHold reports whether the checks of an issue may pass before the work too, as its fences or
// its labels say.
func (s *subject) mayHold() bool {
	plan := slices.DeleteFunc(planOf(s.record), func(c gate.Check) bool { return !c.Asked() })
	fences := len(plan) > 0 && !slices.ContainsFunc(plan, func(c gate.Check) bool { return !c.Held })
	return fences || s.rules.MayHold != nil && s.rules.MayHold(s.record.Labels())
}

func greenHint(id string) string {
	return "name a check that fails without the work, and type stig verify " + id
}
