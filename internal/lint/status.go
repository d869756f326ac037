package lint

import (
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/visible"
)

// statuses are those that bd has without being told of others.
var statuses = []string{
	beads.StatusOpen, beads.StatusInProgress, beads.StatusBlocked, beads.StatusDeferred, beads.StatusPinned,
	beads.StatusHooked, beads.StatusClosed, beads.StatusTombstone,
}

// unknownStatus finds statuses that bd refuses unless the project has told it of them, and
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

// label finds labels that say another status than the issue has: status:done on an open
// one, or done alone.
func label(s *subject) {
	for _, l := range s.record.Labels() {
		meant, alone := beads.LabelStatus(l)
		if !beads.Contradicts(meant, s.issue.Status) || alone && meant != beads.StatusClosed {
			continue
		}
		s.add(RuleLabel, 0, 0, fmt.Sprintf("label %s, but the status is %s", opening(l), opening(s.issue.Status)),
			fmt.Sprintf("type stig edit %s --remove-label %s, where the status is right", s.issue.ID, visible.Quoted(l)))
		return // one is enough to look at the issue
	}
}
