package clone

import (
	"fmt"
	"strings"
	"time"

	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/visible"
)

// Refusal is why an issue cannot be claimed that another holds (fault.Conflict): who, and
// where they have a lease on it, where and until when.
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

// isLate reports whether a lease of another machine has expired by the clock here. That
// clock is not trusted, so it is only reported.
func (j Judge) isLate(l Lease) bool {
	return !j.sees(l) && !j.Now.Before(l.Until)
}

// isAhead reports whether a lease of this machine, of no process, lasts longer than one can:
// the clock was ahead when it was taken, and is not now. Nobody knows when that was.
func (j Judge) isAhead(l Lease) bool {
	return l.Host == j.Host && l.Process == (process.ID{}) && l.Lasts > 0 && l.Until.After(j.Now.Add(2*l.Lasts))
}

// Where says where the work on an issue is done and until when it is held, as it stands
// behind the name of the holder: " in DIR until TIME".
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
		return b.String() + ", and was not renewed since " + stamp(l.Until.Add(-l.Lasts))
	}
	b.WriteString(" until " + stamp(l.Until))
	if j.isAhead(l) {
		b.WriteString(", by a clock that was ahead")
	}
	return b.String()
}

// RefusalOf is why an issue cannot be claimed that was closed on another branch.
func RefusalOf(d Done) *fault.Error {
	return &fault.Error{Code: fault.Conflict, ID: d.Issue,
		Reason: fmt.Sprintf("was closed by %s on branch %s at %s, which this store does not show yet", d.Actor, d.Branch, stamp(d.At)),
		Hint:   "merge " + d.Branch + ", or do it again with stig claim " + visible.Quoted(d.Issue) + " --take"}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
