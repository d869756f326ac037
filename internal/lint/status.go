package lint

import (
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/visible"
)

// statuses are those that bd knows without configuration.
var statuses = []string{
	beads.StatusOpen, beads.StatusInProgress, beads.StatusBlocked, beads.StatusDeferred, beads.StatusPinned,
	beads.StatusHooked, beads.StatusClosed, beads.StatusTombstone,
}

// unknownStatus reports statuses that bd refuses unless the project has configured them, and
// that are neither open nor closed to anybody else.
func unknownStatus(s *subject) {
	status := s.issue.Status
	if status == "" || slices.Contains(statuses, status) {
		return
	}
	switch meant := beads.StatusMeant(status); meant {
	case "":
		s.add(RuleStatus, 0, 0, fmt.Sprintf("status %s is unknown: neither ready nor closed", opening(status)),
			"write one of "+strings.Join(statuses[:5], ", ")+", closed into its line")
	case beads.StatusClosed:
		s.add(RuleStatus, 0, 0, fmt.Sprintf("status %s is not closed: it still blocks", opening(status)),
			`write "status":"open" into its line, then type stig close `+s.issue.ID)
	default:
		s.add(RuleStatus, 0, 0, fmt.Sprintf("status %s is unknown; likely %s", opening(status), meant),
			fmt.Sprintf("write \"status\":%q into its line", meant))
	}
}

// label reports labels that contradict the status of the issue: status:done on an open issue,
// or done alone.
func label(s *subject) {
	for _, l := range s.record.Labels() {
		meant, alone := beads.LabelStatus(l)
		if !beads.Contradicts(meant, s.issue.Status) || alone && meant != beads.StatusClosed {
			continue
		}
		s.add(RuleLabel, 0, 0, fmt.Sprintf("label %s, but the status is %s", opening(l), opening(s.issue.Status)),
			fmt.Sprintf("type stig edit %s --remove-label %s, if the status is right", s.issue.ID, visible.Quoted(l)))
		return // one is reason enough to look at the issue
	}
}
