package clone

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/beads"
	"stig/internal/process"
)

const (
	// LeaseTTL is how long a claim without a running program lasts after its actor's last
	// command about the issue.
	LeaseTTL = 24 * time.Hour
	// LoopLasts is how long the claim of a worker loop lasts after each renewal.
	LoopLasts = 10 * time.Minute
	// LoopCap is how long a worker loop may hold a claim, however often it renews it, since
	// stuck programs renew too.
	LoopCap = 4 * time.Hour
	// LeaseKept is how long ended leases, and marks of issues that the store shows closed, are
	// kept.
	LeaseKept = 30 * 24 * time.Hour
	// settled is the age of a lease on a server from which a read of the store is later.
	settled = time.Minute
	// mostMarks is the maximum number of marks kept for closed issues.
	mostMarks = 1000
)

// Judge decides whether leases are held, as one run of stig sees them. A claim takes the lease
// first and then writes the store. In files, until the store is written, the lease names the
// claiming process, so that a crash in between leaves an ended lease. On a server, such a lease
// is void after a minute.
//
//	judge := clone.Judge{Now: now, Host: host, Running: process.Running}
//	answer := judge.Ask(held, clone.Claimant{Actor: "ann"})
type Judge struct {
	Now     time.Time
	Host    string                                     // of this run; "" if processes cannot be seen
	Tree    string                                     // the work tree of its store
	Running func(id process.ID) (running, known bool)  // see process.Running
	Foreign *Observer                                  // of leases of other machines without a server; nil: none has ended
	InStore func(issue string) (status, holder string) // what this run's store shows; nil if unknown
}

// AsRead reads leases and returns them with a judge. A process may hand over its lease and end
// between the read of the leases and the check of the process, which makes the read outdated.
// So leases are read again after a process was found to have ended, and the judge remembers
// that.
func (j Judge) AsRead(read func() (Claims, error)) (Claims, Judge, error) {
	type sight struct{ running, known bool }
	running, seen, ended := j.Running, map[process.ID]sight{}, 0
	j.Running = func(id process.ID) (bool, bool) {
		s, ok := seen[id]
		if !ok {
			s.running, s.known = running(id)
			seen[id] = s
			if s.known && !s.running {
				ended++
			}
		}
		return s.running, s.known
	}
	for {
		before := ended
		claims, err := read()
		for _, l := range claims.Leases {
			if l.Process != (process.ID{}) {
				j.Running(l.Process)
			}
		}
		if ended == before {
			return claims, j, err
		}
	}
}

// Ended reports whether a lease is no longer held: its process has ended or, without a process,
// it expired. A person's lease does not end; see Overdue.
func (j Judge) Ended(l Lease) bool { return !l.Person && j.Overdue(l) }

// Overdue reports whether a lease was not renewed in time, including a person's.
func (j Judge) Overdue(l Lease) bool {
	if l.Process != (process.ID{}) {
		if running, known := j.Running(l.Process); known {
			return !running
		}
		return j.silent(l)
	}
	if l.Host != j.Host {
		return j.silent(l)
	}
	return !j.Now.Before(l.Until)
}

// Lapsed reports whether a lease of another machine, which no server has and which this command
// cannot observe, expired by this clock at least one lease duration ago: the machine was
// renamed, or its container is gone.
func (j Judge) Lapsed(l Lease) bool {
	return !j.sees(l) && l.Age == 0 && l.Lasts > 0 && !j.Now.Before(l.Until.Add(l.Lasts))
}

// sees reports whether a lease belongs to this machine, so that its process or its clock
// decides whether it has ended.
func (j Judge) sees(l Lease) bool {
	if l.Process != (process.ID{}) {
		_, known := j.Running(l.Process)
		return known
	}
	return l.Host == j.Host
}

// silent reports whether a lease of another machine was not renewed for its duration: by the
// clock of its server, or else by the observer.
func (j Judge) silent(l Lease) bool {
	if l.Age > 0 {
		return l.Lasts > 0 && l.Age >= l.Lasts
	}
	return j.Foreign.silent(l)
}

// void reports whether the store no longer shows the claim of a lease, since another program,
// such as git, changed it. A lease with a process does not depend on the store.
func (j Judge) void(l Lease) bool {
	elsewhere := l.Tree != j.Tree
	if l.Age > 0 { // work trees share a store on a server, which no lock protects after the read
		elsewhere = l.Age < settled
	}
	if l.Process != (process.ID{}) || elsewhere || j.InStore == nil {
		return false
	}
	status, holder := j.InStore(l.Issue)
	return status != beads.StatusInProgress || holder != l.Actor
}

// Holds reports whether a lease excludes others from its issue.
func (j Judge) Holds(l Lease) bool { return !j.Ended(l) && !j.void(l) }

// Claimant is who claims an issue.
type Claimant struct {
	Actor   string
	Process process.ID               // the claiming process
	Run     string                   // of its worker loop; "" for none
	Above   func() []process.ID      // its parent processes
	MayTake func(holder string) bool // whether it may continue what a holder has
	Take    bool                     // it claims whoever has the issue
}

// LeaseAnswer says whether an issue may be claimed.
type LeaseAnswer int

const (
	LeaseFree    LeaseAnswer = iota // the claimant may take a lease
	LeaseInside                     // the lease belongs to the claimant's loop, and stays
	LeaseRefused                    // another actor has it
)

// Ask returns whether a claimant may claim the issue of a lease.
func (j Judge) Ask(l Lease, who Claimant) LeaseAnswer {
	own := l.Actor == who.Actor
	switch {
	case own && l.Process != (process.ID{}) && !l.Process.Same(who.Process) && j.inside(l, who):
		return LeaseInside
	case who.Take, !j.Holds(l), l.Process.Same(who.Process) && own:
		return LeaseFree
	case l.Process == (process.ID{}) && (own || who.MayTake(l.Actor)):
		return LeaseFree
	}
	return LeaseRefused
}

// inside reports whether a claimant works for the process of a lease.
func (j Judge) inside(l Lease, who Claimant) bool {
	if running, known := j.Running(l.Process); known && !running {
		return false
	}
	return l.Run != "" && l.Run == who.Run || slices.ContainsFunc(who.Above(), l.Process.Same)
}

// ClosedElsewhere returns the mark that prevents claiming an issue that is unclosed in this
// store: it was closed on another branch that still exists. here is the branch of the store; ""
// for none.
func ClosedElsewhere(c *Claims, issue, here string, isThere func(branch string) bool) (Done, bool) {
	mark, ok := c.Mark(issue)
	if !ok || mark.Branch == here || !isThere(mark.Branch) {
		return Done{}, false
	}
	return mark, true
}

// Renewed returns a lease after its renewal. ok is false if its cap is reached.
func Renewed(l Lease, now time.Time) (renewed Lease, ok bool) {
	if !l.Cap.IsZero() && !now.Before(l.Cap) {
		return l, false
	}
	l.Until = now.Add(l.Lasts)
	if !l.Cap.IsZero() && l.Until.After(l.Cap) {
		l.Until = l.Cap
	}
	l.Renewals++
	return l, true
}

// Handover is the effect of an edit on one issue.
type Handover struct {
	Issue             string
	Status, NewStatus string
	Holder, NewHolder string // assignees
}

// ClaimEdit is an edit of the store after which leases and marks are updated.
type ClaimEdit struct {
	Actor  string // who made it
	Now    time.Time
	Before Claims // at the time of the edit, under the lock of the store
	Branch string // of the store; "" for none, and then a close leaves no mark
	Commit string
}

// Follow updates the lease and the mark of an issue after an edit, and reports whether they
// changed. A lease taken since the edit stays.
func (e ClaimEdit) Follow(c *Claims, did Handover) bool {
	l, held := c.Lease(did.Issue)
	was, _ := e.Before.Lease(did.Issue)
	same := held && SameLease(l, was)
	switch closed, open := !beads.IsClosed(did.Status) && beads.IsClosed(did.NewStatus), beads.IsClosed(did.Status) && !beads.IsClosed(did.NewStatus); {
	case closed:
		if same {
			c.End(did.Issue)
		}
		return e.Announce(c, did) || same
	case open:
		_, marked := c.Mark(did.Issue)
		c.Forget(did.Issue)
		return marked
	case same && did.Holder == l.Actor && (did.NewHolder != l.Actor || did.Status == beads.StatusInProgress && did.NewStatus != did.Status):
		c.End(did.Issue)
		return true
	}
	return e.Renew(c, did.Issue)
}

// Announce leaves the mark of a close, and reports whether the edit is a close that leaves one.
// It is called before the store is written: a process killed in between leaves a mark, which
// the next claim of the issue on that branch removes. Without the mark others could repeat the
// work elsewhere.
func (e ClaimEdit) Announce(c *Claims, did Handover) bool {
	if beads.IsClosed(did.Status) || did.NewStatus != beads.StatusClosed || e.Branch == "" {
		return false
	}
	c.Close(Done{Issue: did.Issue, Actor: e.Actor, Branch: e.Branch, Commit: e.Commit, At: e.Now})
	return true
}

// Withdraw removes the mark of Announce, if the store was not written.
func (e ClaimEdit) Withdraw(c *Claims, did Handover) bool {
	mark, there := c.Mark(did.Issue)
	if !there || beads.IsClosed(did.Status) || did.NewStatus != beads.StatusClosed || mark.Actor != e.Actor || mark.Branch != e.Branch || !mark.At.Equal(e.Now) {
		return false
	}
	c.Forget(did.Issue)
	if was, ok := e.Before.Mark(did.Issue); ok {
		c.Close(was)
	}
	return true
}

// Concerns reports whether an edit of an issue would change the leases or marks in Before.
func (e ClaimEdit) Concerns(did Handover) bool {
	c := Claims{Leases: slices.Clone(e.Before.Leases), Done: slices.Clone(e.Before.Done)}
	return e.Follow(&c, did)
}

// Renew renews the actor's lease on an issue without a process, and reports whether it renewed
// one.
func (e ClaimEdit) Renew(c *Claims, issue string) bool {
	l, held := c.Lease(issue)
	if !held || l.Actor != e.Actor || l.Process != (process.ID{}) {
		return false
	}
	until := l.Until
	if l, _ = Renewed(l, e.Now); l.Until.Equal(until) {
		return false // this edit took it
	}
	c.Hold(l)
	return true
}

// SameLease reports whether two records are the same lease, renewals aside.
func SameLease(a, b Lease) bool {
	return a.Issue == b.Issue && a.Actor == b.Actor && a.Process == b.Process && a.Since.Equal(b.Since)
}

// Prune removes leases that ended long ago, marks of issues that this store has shown closed
// for long, and the oldest marks above the limit.
func (j Judge) Prune(c *Claims) {
	old := func(t time.Time) bool { return j.Now.Sub(t) > LeaseKept }
	c.Leases = slices.DeleteFunc(c.Leases, func(l Lease) bool { return old(l.Until) && j.Ended(l) })
	if len(c.Done) == 0 || j.InStore == nil {
		return
	}
	slices.SortStableFunc(c.Done, func(a, b Done) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Issue, b.Issue)) })
	c.Done = slices.DeleteFunc(c.Done[:min(len(c.Done), mostMarks)], func(d Done) bool {
		status, _ := j.InStore(d.Issue)
		return old(d.At) && (beads.IsClosed(status) || status == "")
	})
}

// Observer decides on leases of other machines, whose processes cannot be seen and whose clocks
// are not trusted: such a lease has ended if its counter did not change for its duration, by
// the observer's clock.
type Observer struct {
	Now func() time.Time // with a monotonic reading, as from time.Now

	mu   sync.Mutex
	seen map[string]sighting
}

// sighting is the first observation of a state of a lease.
type sighting struct {
	actor    string
	since    time.Time // of the lease
	renewals int
	first    time.Time
}

// silent reports whether a lease did not change for its duration, and records its state. A nil
// Observer has seen nothing.
func (o *Observer) silent(l Lease) bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now, was := o.Now(), o.seen[l.Issue]
	if was.actor != l.Actor || !was.since.Equal(l.Since) || was.renewals != l.Renewals {
		if o.seen == nil {
			o.seen = map[string]sighting{}
		}
		o.seen[l.Issue] = sighting{l.Actor, l.Since, l.Renewals, now}
		return false
	}
	return l.Lasts > 0 && now.Sub(was.first) >= l.Lasts
}
