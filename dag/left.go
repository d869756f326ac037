package dag

import (
	"time"

	"stig/internal/beads"
)

// SweepAfter is how long an issue must be untouched before its claim is stale.
const SweepAfter = 24 * time.Hour

// IsLeft reports whether a claim is one that Sweep returns: the issue has been untouched for
// that long, and its holder is gone.
func IsLeft(issue *beads.Issue, now time.Time, older time.Duration, gone func(holder string) bool) bool {
	return issue.Status == beads.StatusInProgress && now.Sub(issue.UpdatedAt) >= older && (issue.Assignee == "" || gone(issue.Assignee))
}
