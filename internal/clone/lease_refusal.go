package clone

import (
	"fmt"
	"strings"
	"time"

	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/visible"
)

// Refusal returns why an issue with another holder cannot be claimed (fault.Conflict): the
// holder and, if they have a lease, where and until when.
func (j Judge) Refusal(issue, holder string, l Lease, leased bool) *fault.Error {
	e := &fault.Error{Code: fault.Conflict, ID: issue, Reason: "is claimed by " + holder, Hint: "type stig orient to see what is ready"}
	if leased {
		e.Reason += j.Where(l)
	}
	if leased && (j.Overdue(l) || j.isLate(l) || j.isAhead(l)) {
		e.Hint = "if that work was given up, type stig claim " + visible.Quoted(issue) + " --take"
	}
	return e
}

// isLate reports whether a lease of another machine has expired by this clock. That clock is
// not trusted, so this is only reported.
func (j Judge) isLate(l Lease) bool {
	return !j.sees(l) && !j.Now.Before(l.Until)
}

// isAhead reports whether a lease of this machine without a process lasts longer than possible:
// the clock was ahead when it was taken. When that was is unknown.
func (j Judge) isAhead(l Lease) bool {
	return l.Host == j.Host && l.Process == (process.ID{}) && l.Lasts > 0 && l.Until.After(j.Now.Add(2*l.Lasts))
}

// Where returns where an issue is worked on and until when it is held, for a message after the
// holder's name: " in DIR until TIME".
func (j Judge) Where(l Lease) string {
	var b strings.Builder
	if l.Worktree != "" {
		b.WriteString(" in " + l.Worktree)
	}
	if l.Host != j.Host {
		b.WriteString(" on " + l.Host)
	}
	if l.Run != "" && l.Process != (process.ID{}) {
		fmt.Fprintf(&b, " by process %d", l.Process.PID)
	}
	if j.Overdue(l) || j.isLate(l) {
		return b.String() + ", not renewed since " + stamp(l.Until.Add(-l.Lasts))
	}
	b.WriteString(" until " + stamp(l.Until))
	if j.isAhead(l) {
		b.WriteString(", by a clock that was ahead")
	}
	return b.String()
}

// RefusalOf returns why an issue that was closed on another branch cannot be claimed.
func RefusalOf(d Done) *fault.Error {
	return &fault.Error{Code: fault.Conflict, ID: d.Issue,
		Reason: fmt.Sprintf("was closed by %s on branch %s at %s, which this store does not show yet", d.Actor, d.Branch, stamp(d.At)),
		Hint:   "merge " + d.Branch + ", or do it again with stig claim " + visible.Quoted(d.Issue) + " --take"}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
