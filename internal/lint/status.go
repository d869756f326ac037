package lint

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"stig/internal/beads"
	"stig/internal/visible"
)

// statuses are those that bd has without being told of others.
var statuses = []string{
	beads.StatusOpen, beads.StatusInProgress, beads.StatusBlocked, beads.StatusDeferred, beads.StatusPinned,
	beads.StatusHooked, beads.StatusClosed, beads.StatusTombstone,
}

// meanings are words of other trackers, and the status that they mean.
var meanings = map[string]string{
	"done": beads.StatusClosed, "complete": beads.StatusClosed, "completed": beads.StatusClosed, "finished": beads.StatusClosed,
	"resolved": beads.StatusClosed, "fixed": beads.StatusClosed, "closed": beads.StatusClosed, "wontfix": beads.StatusClosed,
	"canceled": beads.StatusClosed, "cancelled": beads.StatusClosed, "obsolete": beads.StatusClosed,
	"inprogress": beads.StatusInProgress, "wip": beads.StatusInProgress, "doing": beads.StatusInProgress,
	"started": beads.StatusInProgress, "active": beads.StatusInProgress,
	"blocked": beads.StatusBlocked, "deferred": beads.StatusDeferred, "postponed": beads.StatusDeferred,
	"open": beads.StatusOpen, "todo": beads.StatusOpen, "new": beads.StatusOpen, "reopened": beads.StatusOpen,
}

// meaning is the status that a word means, "" where it means none.
func meaning(word string) string {
	return meanings[strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_ '", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)]
}

// unknownStatus finds statuses that bd refuses unless the project has told it of them, and
// that are neither open nor closed to anybody else.
func unknownStatus(s *subject) {
	status := s.issue.Status
	if status == "" || slices.Contains(statuses, status) {
		return
	}
	switch meant := meaning(status); meant {
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
	if s.issue.Status == beads.StatusTombstone || !s.record.Has(beads.Labels) {
		return
	}
	for _, l := range s.record.Labels() {
		meant := labelled(l)
		closed := meant == beads.StatusClosed
		if meant == "" || closed == s.closed() && (closed || meant == s.issue.Status || meant == beads.StatusOpen) {
			continue
		}
		s.add(RuleLabel, 0, 0, fmt.Sprintf("label %s, but the status is %s", opening(l), opening(s.issue.Status)),
			fmt.Sprintf("type stig edit %s --remove-label %s, where the status is right", s.issue.ID, visible.Quoted(l)))
		return // one is enough to look at the issue
	}
}

// labelled is the status that a label means, "" where it means none: status:WORD or
// state:WORD, or a word alone that means closed.
func labelled(l string) string {
	at := strings.IndexAny(l, ":/=")
	if at < 0 {
		if meaning(l) == beads.StatusClosed {
			return beads.StatusClosed
		}
		return ""
	}
	if key := strings.ToLower(l[:at]); key != "status" && key != "state" {
		return ""
	}
	return meaning(strings.TrimLeft(l[at+1:], ":/= "))
}
