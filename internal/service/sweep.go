package service

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/workspace"
	"stig/orient"
)

// These services return claims: the holder's own, and stale ones.

// ReleaseRequest asks to return an issue. With Force it is taken even from another actor.
type ReleaseRequest struct {
	ID            string
	Force, DryRun bool
	Before        func(*beads.Tx) error // runs in the same edit; nil for none
}

// Release returns an issue: it becomes open and unassigned.
func Release(ctx context.Context, a *workspace.Run, r ReleaseRequest) (released *checkpoint.Claimed, err error) {
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	if r.Before != nil {
		store = preceded{store, r.Before}
	}
	who, mayTake := "", func(string) bool { return true }
	if !r.Force {
		if who, err = a.MustActor(ctx); err != nil {
			return nil, err
		}
		mayTake = a.MayTake(who)
	}
	var before clone.Claims
	released, err = checkpoint.Release(ctx, readingLeases(a, store, options.Now, &before, r.ID), options, r.ID, who, mayTake)
	if err != nil || r.DryRun {
		return released, err
	}
	if r.Force {
		warnOfTaken(ctx, a, released)
	}
	if l, ok := before.Lease(released.ID); ok {
		endLease(a, store.Place(), l, mayTake)
	}
	return released, nil
}

// preceded is a store that runs a function at the beginning of each edit.
type preceded struct {
	beads.Store
	by func(*beads.Tx) error
}

func (s preceded) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	return s.Store.Edit(ctx, o, func(tx *beads.Tx) error {
		if err := s.by(tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// readingLeases returns a store whose edits first read the leases on issues, which may be named
// by the ends of their ids.
func readingLeases(a *workspace.Run, store beads.Store, now time.Time, before *clone.Claims, ids ...string) beads.Store {
	return preceded{store, func(tx *beads.Tx) error {
		var issues []string
		for _, id := range ids {
			if issue, err := tx.Snapshot().Find(id); err == nil { // else the edit returns the error
				issues = append(issues, issue.ID)
			}
		}
		if len(issues) > 0 {
			_, *before, _ = leases(a, store.Place(), now, issues...)
		}
		return nil
	}}
}

// endLease ends a lease that the store's edit did not end, for example that of another work
// tree. A newer lease is kept.
func endLease(a *workspace.Run, store beads.Place, was clone.Lease, mayTake func(holder string) bool) {
	place, err := a.Live(store)
	if err != nil {
		return // the edit reported it
	}
	_, err = place.ChangeClaims(func(all *clone.Claims) (bool, error) {
		l, ok := all.Lease(was.Issue)
		if !ok || l.Actor != was.Actor || !l.Since.Equal(was.Since) || !mayTake(l.Actor) { // its process may have ended since
			return false, nil
		}
		all.End(was.Issue)
		return true, nil
	}, was.Issue)
	a.WarnOfShared(err)
}

// SweepRequest asks to return stale claims. A nil Older means dag.SweepAfter.
type SweepRequest struct {
	Older          *time.Duration
	People, DryRun bool // People: claims of people too
}

// Sweep reopens issues whose agent or program no longer holds them, those of assistant sessions
// that have ended, and issues in progress without an assignee.
func Sweep(ctx context.Context, a *workspace.Run, r SweepRequest) (*checkpoint.Swept, error) {
	actor := a.MustActor
	if r.DryRun { // a dry run records nobody
		actor = func(ctx context.Context) (string, error) {
			name, err := a.ActorName(ctx)
			return cmp.Or(name, "NAME"), err
		}
	}
	store, options, by, err := a.ToWriteAs(ctx, r.DryRun, actor)
	if err != nil {
		return nil, err
	}
	return checkpoint.Sweep(ctx, store, options, by, func() func(*beads.Issue) checkpoint.ReturnReason {
		_, claims, judge := leases(a, store.Place(), options.Now)
		return r.returnable(a, claims, judge)
	})
}

// returnable returns a function that says why a sweep returns a claim. If the holder has a
// lease, that decides.
func (r SweepRequest) returnable(a *workspace.Run, claims clone.Claims, judge clone.Judge) func(*beads.Issue) checkpoint.ReturnReason {
	ended, older := gone(a), dag.SweepAfter
	if r.Older != nil {
		older = *r.Older
	}
	gone := func(holder string) bool { return r.People && !clone.IsSession(holder) || ended(holder) }
	return func(issue *beads.Issue) checkpoint.ReturnReason {
		l, ok := claims.Lease(issue.ID)
		held := ok && l.Covers(issue.Assignee)
		lapsed := held && judge.Lapsed(l)
		gone := func(holder string) bool { return lapsed && !l.Person || gone(holder) }
		switch {
		case held && judge.Ended(l):
			return checkpoint.Ended
		case held && !lapsed && !judge.Overdue(l), !dag.IsLeft(issue, judge.Now, older, gone):
			return checkpoint.Kept
		}
		return checkpoint.Untouched
	}
}

// LeftAndHeld returns, for a survey, a function that reports whether a sweep returns a claim,
// and the result of Held. It reads the leases once.
func LeftAndHeld(a *workspace.Run, file *beads.Snapshot, now time.Time) (left func(*beads.Issue) bool, held map[string]orient.Held) {
	place, claims, judge := leases(a, file.Place(), now)
	why := SweepRequest{}.returnable(a, claims, judge)
	return func(issue *beads.Issue) bool { return why(issue) != checkpoint.Kept }, heldBy(a, file, place, claims, judge)
}

// Held returns, by id, the issues that are open in this store but held elsewhere: by a lease,
// or closed on another branch. With issues given it returns only those of them.
func Held(a *workspace.Run, file *beads.Snapshot, now time.Time, issues ...string) map[string]orient.Held {
	place, claims, judge := leases(a, file.Place(), now, issues...)
	return heldBy(a, file, place, claims, judge)
}

func heldBy(a *workspace.Run, file *beads.Snapshot, place clone.Place, claims clone.Claims, judge clone.Judge) map[string]orient.Held {
	if len(claims.Leases)+len(claims.Done) == 0 {
		return nil
	}
	held, isThere := map[string]orient.Held{}, branches(a, place)
	judge.InStore = Shows(file)
	isOpen := func(issue string) bool { status, _ := judge.InStore(issue); return status == beads.StatusOpen }
	for _, l := range claims.Leases {
		if isOpen(l.Issue) && judge.Holds(l) {
			h := orient.Held{By: l.Actor, Worktree: l.Worktree}
			if l.Age > 0 && l.Host != judge.Host {
				h.Worktree = l.Host + ":" + l.Worktree
			}
			if !l.Person {
				h.Until, h.Left = l.Until.Format(time.RFC3339), max(0, int(l.Until.Sub(judge.Now)/time.Second))
			}
			held[l.Issue] = h
		}
	}
	for _, d := range claims.Done {
		if !isOpen(d.Issue) {
			continue
		}
		if _, closed := clone.ClosedElsewhere(&claims, d.Issue, place.Branch, isThere); closed {
			held[d.Issue] = orient.Held{By: d.Actor, Branch: d.Branch}
		}
	}
	return held
}

// leases reads the leases on issues, or without issues all of a store, and their judge; it warns
// of what cannot be read.
func leases(a *workspace.Run, store beads.Place, now time.Time, issues ...string) (place clone.Place, claims clone.Claims, judge clone.Judge) {
	place, err := a.Live(store)
	judge = Judge(a, place, now)
	if err == nil {
		claims, judge, err = judge.AsRead(func() (clone.Claims, error) { return place.Claims(issues...) })
	}
	a.WarnOfShared(err)
	return place, claims, judge
}

// SweepEnded reopens the issues that agents and programs no longer hold, and returns their ids.
func SweepEnded(ctx context.Context, a *workspace.Run) (returned []string, err error) {
	return sweepEnded(ctx, a, false)
}

// WouldSweep returns the issues that SweepEnded would reopen, and writes nothing.
func WouldSweep(ctx context.Context, a *workspace.Run) (returned []string, err error) {
	return sweepEnded(ctx, a, true)
}

func sweepEnded(ctx context.Context, a *workspace.Run, dryRun bool) (returned []string, err error) {
	c, err := newClaimer(ctx, a, ClaimRequest{DryRun: dryRun})
	if err != nil {
		return nil, err
	}
	claims, err := c.place.Claims()
	a.WarnOfShared(err)
	return c.sweepEnded(ctx, claims, func(clone.Lease) bool { return true })
}

// returnEnded reads claims and returns the ended ones, except for the actor's own, which it
// continues.
func (c *claimer) returnEnded(ctx context.Context, read func(issues ...string) (clone.Claims, error), issues ...string) {
	if c.options.DryRun {
		return
	}
	claims, err := read(issues...)
	if c.place.Documents == nil { // without its server the claim fails too
		c.app.WarnOfShared(err)
	}
	c.known = claims
	_, err = c.sweepEnded(ctx, claims, func(l clone.Lease) bool { return l.Actor != c.who.Actor })
	if err != nil && !fault.Is(err, fault.Conflict) {
		c.app.Warn("ended claims not returned: %v", err)
	}
}

// sweepEnded returns the issues of the ended leases for which count reports true.
func (c *claimer) sweepEnded(ctx context.Context, claims clone.Claims, count func(clone.Lease) bool) (returned []string, err error) {
	ended := map[string]clone.Lease{}
	here := false
	for _, l := range claims.Leases {
		if count(l) && c.judge.Ended(l) {
			ended[l.Issue] = l
			here = here || c.isHere(l)
		}
	}
	if !here {
		return nil, nil // their own work trees return them
	}
	issues := slices.Sorted(maps.Keys(ended))
	swept, err := checkpoint.Sweep(ctx, c.store, c.options, c.who.Actor, func() func(*beads.Issue) checkpoint.ReturnReason {
		_, now, _ := leases(c.app, c.store.Place(), c.options.Now, issues...)
		return func(issue *beads.Issue) checkpoint.ReturnReason {
			if l, ok := now.Lease(issue.ID); ok && clone.SameLease(l, ended[issue.ID]) && l.Covers(issue.Assignee) {
				return checkpoint.Ended
			}
			return checkpoint.Kept
		}
	})
	if err != nil {
		return nil, err
	}
	for _, r := range swept.Returned {
		returned = append(returned, r.ID)
	}
	if c.options.DryRun {
		return returned, nil
	}
	_, err = c.place.ChangeClaims(func(all *clone.Claims) (changed bool, err error) {
		for _, l := range slices.Clone(all.Leases) {
			if clone.SameLease(l, ended[l.Issue]) && c.isHere(l) {
				all.End(l.Issue)
				changed = true
			}
		}
		return changed, nil
	}, issues...)
	c.app.WarnOfShared(err)
	return returned, nil
}

// isHere reports whether the store of this run shows a claim: on a server it always does. A
// claim of another work tree counts if that tree is gone.
func (c *claimer) isHere(l clone.Lease) bool {
	_, err := os.Stat(l.Tree)
	return c.place.Documents != nil || l.Tree == c.place.Worktree || errors.Is(err, os.ErrNotExist)
}

// gone returns a function that reports whether a name is that of a session that has ended here.
// A person is never gone; names other than session names count as people.
func gone(a *workspace.Run) func(name string) bool {
	r, ok := a.Sessions()
	return func(name string) bool {
		if !clone.IsSession(name) {
			return false
		}
		if !ok {
			return true
		}
		_, known := r.Named(clone.ParentActor(name))
		return !known || r.HasEnded(name)
	}
}

// warnOfTaken warns that an issue was taken from a session that is still running: the session
// is not asked and does not notice.
func warnOfTaken(ctx context.Context, a *workspace.Run, taken *checkpoint.Claimed) {
	r, ok := a.Sessions()
	who, _ := a.ActorName(ctx) // "" never equals the holder
	for _, line := range taken.Lines {
		before, err := beads.ParseRecord(line.Before)
		if err != nil || !ok || line.ID != taken.ID {
			continue
		}
		holder := before.Text(beads.Assignee)
		if _, known := r.Named(holder); known && !r.HasEnded(holder) && holder != who {
			a.Warn("%s: taken from %s, a session that is still running; tell its user", taken.ID, holder)
		}
	}
}
