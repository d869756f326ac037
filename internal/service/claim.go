package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/workspace"
)

// These services decide whose work an issue is: in the store, and by a lease (package clone)
// that all work trees of the clone share. A lease is taken before the store is written; leases
// follow an edit of the store when the journal records it (clone.ClaimEdit).

// ClaimRequest asks to claim an issue for the actor. With Take the issue is claimed even if
// another actor holds it.
type ClaimRequest struct {
	ID           string
	Take, DryRun bool
	Despite      string     // why it is claimed although it waits for something in another store
	Loop         *LoopClaim // set if the actor is a worker loop, nil for a command
}

// LoopClaim is a claim that this process holds and renews, and that ends with the process.
type LoopClaim struct {
	Run   string        // the run that works on the issue
	Lasts time.Duration // time until it must be renewed
	Cap   time.Duration // time after which it is not renewed any more
}

// Claim claims an issue for the actor. It refuses (fault.Conflict) an issue held by another
// actor in any work tree of the clone, or by the same actor in another running process.
func Claim(ctx context.Context, a *workspace.Run, r ClaimRequest) (*checkpoint.Claimed, error) {
	c, err := newClaimer(ctx, a, r)
	if err != nil {
		return nil, err
	}
	c.returnEnded(ctx, c.place.EndedClaims, r.ID) // reads its own too, for the claim
	return c.claim(ctx, r.ID)
}

// ClaimNext claims the first startable issue for the actor. If that is taken meanwhile, also by
// a process of the same name, it tries the next one. It returns nil if there is none.
func ClaimNext(ctx context.Context, a *workspace.Run, dryRun bool) (*checkpoint.Claimed, error) {
	c, err := newClaimer(ctx, a, ClaimRequest{DryRun: dryRun})
	if err != nil {
		return nil, err
	}
	c.returnEnded(ctx, c.place.Claims)
	rows, _, err := takeableNow(ctx, a, c.store, c.options.Now, c.who.Actor)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		claimed, err := c.claim(ctx, row.ID)
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.Waits) {
			continue // it changed since it was read
		}
		if err == nil && !claimed.Changed {
			continue // another process of the same name took it meanwhile
		}
		return claimed, err
	}
	return nil, nil
}

// claimer claims issues for one actor.
type claimer struct {
	app     *workspace.Run
	store   beads.Store
	options beads.Options
	place   clone.Place
	judge   clone.Judge
	who     clone.Claimant
	loop    *LoopClaim
	despite string
	ttl     time.Duration

	known clone.Claims // those read before the claim: in files all
	taken *clone.Lease // the lease that this claim took; nil before
	was   *clone.Lease // the lease that it replaced; nil for none
}

func newClaimer(ctx context.Context, a *workspace.Run, r ClaimRequest) (*claimer, error) {
	store, options, who, err := a.ToWriteAs(ctx, r.DryRun, a.MustActor)
	if err != nil {
		return nil, err
	}
	c := &claimer{app: a, store: store, options: options, loop: r.Loop, despite: r.Despite}
	if c.place, err = a.Live(store.Place()); err != nil {
		return nil, err
	}
	if c.ttl, err = claimTTL(a); err != nil {
		return nil, err
	}
	self, _ := process.Self()
	c.judge = Judge(a, c.place, options.Now)
	c.who = clone.Claimant{Actor: who, Process: self.ID, Run: a.Getenv("STIG_RUN"), Above: a.Above, MayTake: a.MayTake(who), Take: r.Take}
	return c, nil
}

// claimTTL returns how long a claim lasts that no process holds.
func claimTTL(a *workspace.Run) (time.Duration, error) {
	if a.Config.Claims.TTL == "" {
		return clone.LeaseTTL, nil
	}
	return checkpoint.ParseSpan(a.Config.Claims.TTL)
}

// Judge returns the judge that decides whether leases of a store are valid.
func Judge(a *workspace.Run, p clone.Place, now time.Time) clone.Judge {
	self, _ := process.Self()
	j := clone.Judge{Now: now, Host: self.Host, Tree: p.Worktree, Running: process.Running, Foreign: a.Foreign}
	if p.Documents != nil {
		j.Running = process.RunningHere
	}
	return j
}

// Shows returns a function that reports the status and assignee of an issue in a store.
func Shows(f *beads.Snapshot) func(issue string) (status, holder string) {
	return func(id string) (string, string) {
		if i, ok := f.Index(id); ok {
			return f.At(i).Status, f.At(i).Assignee
		}
		return "", ""
	}
}

// claim takes the lease on an issue and then the issue. If the store is not written, the
// previous lease is restored.
func (c *claimer) claim(ctx context.Context, id string) (*checkpoint.Claimed, error) {
	c.taken, c.was = nil, nil
	claimed, err := checkpoint.Claim(ctx, c.store, c.options, id, checkpoint.Claiming{
		Who: c.who.Actor, Lease: func(f *beads.Snapshot, issue string) error { return c.take(ctx, f, issue) }, DespiteExternal: c.despite,
		MayTake: func(issue, holder string) bool {
			l, judge, ok := c.leaseOf(issue, holder)
			return ok && judge.Ended(l) || c.who.Take || c.who.MayTake(holder)
		},
		Held: func(issue, holder string) *fault.Error {
			l, judge, ok := c.leaseOf(issue, holder)
			return judge.Refusal(issue, holder, l, ok)
		},
	})
	if err != nil || c.options.DryRun {
		c.settle(c.was)
		return claimed, err
	}
	if c.taken != nil {
		kept := *c.taken
		if c.loop == nil && c.place.Documents == nil {
			kept = c.kept(ctx, kept)
			c.settle(&kept)
		}
		claimed.Until = kept.Until.Format(time.RFC3339)
	}
	c.app.Hold(ctx, c.store.Place(), claimed.ID, c.who.Actor)
	if c.who.Take {
		warnOfTaken(ctx, c.app, claimed)
	}
	return claimed, nil
}

// leaseOf returns the lease of a holder on an issue, and the judge of it.
func (c *claimer) leaseOf(issue, holder string) (clone.Lease, clone.Judge, bool) {
	claims, judge, err := c.judge.AsRead(func() (clone.Claims, error) { return c.place.Claims(issue) })
	c.app.WarnOfShared(err)
	l, ok := claims.Lease(issue)
	return l, judge, ok && l.Covers(holder)
}

// take puts a lease on an issue. In files, the store is locked and the lease names this process,
// so that it ends with the process if the store is not written. On a server it is the final
// lease at once, since the server may not answer again after the edit; if the store does not
// show the claim, the lease is void after a minute.
func (c *claimer) take(ctx context.Context, f *beads.Snapshot, issue string) error {
	c.judge.InStore = Shows(f)
	if c.options.DryRun {
		claims, _ := c.place.Claims(issue)
		_, err := c.ask(&claims, issue)
		return err
	}
	beside, err := c.place.ChangeClaims(func(all *clone.Claims) (bool, error) {
		answer, err := c.ask(all, issue)
		if err != nil || answer == clone.LeaseInside {
			return false, err
		}
		if l, ok := all.Lease(issue); !ok {
			c.was = nil
		} else if c.taken == nil || !clone.SameLease(l, *c.taken) {
			c.was = &l
		}
		c.taken = new(c.lease(ctx, issue))
		if _, holder := c.judge.InStore(issue); c.was != nil && c.was.Covers(holder) && holder != c.who.Actor && c.judge.Ended(*c.was) {
			c.taken.Took = holder
		}
		c.judge.Prune(all)
		all.Forget(issue)
		all.Hold(*c.taken)
		return true, nil
	}, c.concerned(issue)...)
	if beside {
		c.app.Edits().WarnOfBeside()
	}
	if fault.Is(err, fault.Conflict) {
		return err
	}
	if err != nil && c.place.Documents != nil {
		return &fault.Error{Code: fault.Store, ID: issue, Reason: fmt.Sprintf("cannot be claimed now: %v", err), Hint: "type stig doctor to check the server", Err: err}
	}
	c.app.WarnOfShared(err)
	return nil
}

// concerned returns the issue alone, or nil (all) if leases and marks of others must be pruned
// too. On a server nothing needs to be pruned: it has no marks, and ended claims are returned.
func (c *claimer) concerned(issue string) []string {
	if c.place.Documents != nil {
		return []string{issue}
	}
	kept := clone.Claims{Leases: slices.Clone(c.known.Leases), Done: slices.Clone(c.known.Done)}
	c.judge.Prune(&kept)
	if len(kept.Leases) < len(c.known.Leases) || len(kept.Done) < len(c.known.Done) {
		return nil
	}
	return []string{issue}
}

// ask refuses an issue that cannot be claimed because of a lease or because it was closed on
// another branch.
func (c *claimer) ask(all *clone.Claims, issue string) (clone.LeaseAnswer, error) {
	if l, ok := all.Lease(issue); ok {
		switch answer := c.judge.Ask(l, c.who); answer {
		case clone.LeaseInside:
			return answer, nil
		case clone.LeaseRefused:
			return answer, c.judge.Refusal(issue, l.Actor, l, true)
		}
	}
	if mark, closed := clone.ClosedElsewhere(all, issue, c.place.Branch, branches(c.app, c.place)); closed && !c.who.Take {
		return clone.LeaseRefused, clone.RefusalOf(mark)
	}
	return clone.LeaseFree, nil
}

// lease returns the lease that this process takes: a loop's, or one that lasts until the store
// is written.
func (c *claimer) lease(ctx context.Context, issue string) clone.Lease {
	l := clone.Lease{
		Issue: issue, Actor: c.who.Actor, Process: c.who.Process, Host: c.judge.Host, Worktree: c.place.Worktree, Tree: c.place.Worktree,
		Named: c.place.TreeName(), Since: c.options.Now, Lasts: c.ttl,
	}
	if c.loop != nil {
		l.Run, l.Lasts, l.Cap = c.loop.Run, c.loop.Lasts, l.Since.Add(c.loop.Cap)
	}
	l.Until = l.Since.Add(l.Lasts)
	if c.loop == nil && c.place.Documents != nil {
		l = c.kept(ctx, l)
	}
	return l
}

// kept returns the lease that remains when the command ends, without a process. If a worker
// loop started the command, the lease names the run and is returned when the run ends.
func (c *claimer) kept(ctx context.Context, l clone.Lease) clone.Lease {
	l.Run, l.Took = c.who.Run, ""
	l.Process, l.Person = process.ID{}, IsPerson(c.app, c.place, l.Actor) && !namedByAssistant(ctx, c.app, l.Actor)
	return l
}

// namedByAssistant reports whether a name was chosen by an assistant session for itself, as the
// skill asks if no hook set a name. A session that acts under git's user name cannot be told
// from that person.
func namedByAssistant(ctx context.Context, a *workspace.Run, name string) bool {
	if a.Assistant(name) == "" {
		return false
	}
	person, err := a.Person(ctx)
	return err == nil && name != person
}

// settle replaces the lease that this claim took with l; nil removes it.
func (c *claimer) settle(l *clone.Lease) {
	if c.taken == nil {
		return
	}
	_, err := c.place.ChangeClaims(func(all *clone.Claims) (bool, error) {
		now, ok := all.Lease(c.taken.Issue)
		switch {
		case !ok || !clone.SameLease(now, *c.taken):
			return false, nil
		case l == nil:
			all.End(now.Issue)
		default:
			all.Hold(*l)
		}
		return true, nil
	}, c.taken.Issue)
	c.app.WarnOfShared(err)
}

// IsPerson reports whether a name is that of a person, as far as the clone knows.
func IsPerson(a *workspace.Run, p clone.Place, name string) bool {
	return a.Getenv("STIG_RUN") == "" && !isMachine(kindOf(p, name))
}

// kindOf returns the kind of an actor: from its profile, or else from the clone's records.
func kindOf(p clone.Place, name string) string {
	if clone.IsSession(name) {
		return clone.Agent
	}
	root := filepath.Dir(filepath.Dir(filepath.Join(p.Worktree, filepath.FromSlash(p.Store))))
	if own, err := clone.LoadProfile(root, name); err == nil {
		return own.Kind
	}
	who, _ := p.Presence(name)
	return cmp.Or(who.Kind, clone.Unknown)
}

func isMachine(kind string) bool { return kind == clone.Agent || kind == clone.Program }

// hasEnded reports whether a name is that of an agent or program that runs no loop. Such an
// actor does not keep an issue; a person does.
func hasEnded(p clone.Place, name string) bool {
	if !isMachine(kindOf(p, name)) {
		return false
	}
	who, _ := p.Presence(name)
	running, known := who.Runs()
	return who.Process == (process.ID{}) || known && !running
}

// branches returns a function that reports whether merging a branch of the clone may bring a
// close that the store of this work tree does not have: the branch exists and is not merged, or
// is checked out elsewhere with uncommitted work. Answers are cached.
func branches(a *workspace.Run, p clone.Place) func(name string) bool {
	known := map[string]bool{}
	return func(name string) bool {
		if _, asked := known[name]; !asked {
			known[name] = mayBring(a, p, "refs/heads/"+name)
		}
		return known[name]
	}
}

func mayBring(a *workspace.Run, p clone.Place, ref string) bool {
	git := a.GitIn(p.Worktree)
	merged, err := git.Run(a.Ctx, "merge-base", "--is-ancestor", ref, "HEAD")
	if err != nil || merged.Exit == 1 {
		return true // if unknown, assume so: the work must not be done twice
	}
	if merged.Exit != 0 {
		there, err := git.Run(a.Ctx, "show-ref", "--verify", "--quiet", ref)
		return err != nil || there.Exit == 0
	}
	trees, err := git.Run(a.Ctx, "worktree", "list", "--porcelain")
	return err != nil || strings.Contains(string(trees.Stdout), "branch "+ref+"\n")
}

// ClosedElsewhere returns a function that reports whether an issue that is open in the store
// was closed on another branch whose merge may bring the close. Claim refuses such issues.
func ClosedElsewhere(a *workspace.Run, store beads.Place, claims *clone.Claims) (func(issue string) (clone.Done, bool), error) {
	if len(claims.Done) == 0 {
		return func(string) (clone.Done, bool) { return clone.Done{}, false }, nil
	}
	place, err := a.Live(store) // another branch may have been checked out meanwhile
	isThere := branches(a, place)
	return func(issue string) (clone.Done, bool) {
		return clone.ClosedElsewhere(claims, issue, place.Branch, isThere)
	}, err
}

// renewOwn renews the actor's claim on an issue that the command did not write.
func renewOwn(ctx context.Context, a *workspace.Run, store beads.Place, issue string, now time.Time) {
	place, claims, _ := leases(a, store, now, issue)
	who, err := a.ActorName(ctx)
	edit := clone.ClaimEdit{Actor: who, Now: now}
	if err != nil || !edit.Renew(&claims, issue) {
		return // nothing to renew
	}
	_, err = place.ChangeClaims(func(all *clone.Claims) (bool, error) { return edit.Renew(all, issue), nil }, issue)
	a.WarnOfShared(err)
}

// Renew renews this process's claim on an issue. It refuses (fault.Conflict) a claim that was
// lost or that has reached its cap.
func Renew(ctx context.Context, a *workspace.Run, issue string) error {
	place, now, who, err := claimsOf(ctx, a)
	if err != nil {
		return err
	}
	self, _ := process.Self()
	_, err = place.ChangeClaims(func(all *clone.Claims) (bool, error) {
		l, ok := all.Lease(issue)
		if !ok || l.Actor != who || !l.Process.Same(self.ID) {
			e := &fault.Error{Code: fault.Conflict, ID: issue, Reason: "is not claimed by " + who + " any more", Hint: "type stig orient " + issue}
			if ok {
				e.Reason += ": " + l.Actor + " holds it" + Judge(a, place, now).Where(l)
			}
			return false, e
		}
		renewed, ok := clone.Renewed(l, now)
		if !ok {
			return false, &fault.Error{Code: fault.Conflict, ID: issue, Reason: "is claimed for " + l.Cap.Sub(l.Since).String() + ", the longest a claim can be renewed",
				Hint: "type stig release " + issue}
		}
		all.Hold(renewed)
		return true, nil
	}, issue)
	if errors.Is(err, context.DeadlineExceeded) { // the leases being locked by others says nothing about this one
		err = &fault.Error{Code: fault.Store, ID: issue, Reason: "the claim cannot be renewed now", Hint: "try again", Err: err}
	}
	return err
}

// claimsOf returns the location of the store's leases, the time, and the actor.
func claimsOf(ctx context.Context, a *workspace.Run) (place clone.Place, now time.Time, who string, err error) {
	if place, err = a.LivePlace(); err != nil {
		return place, now, "", err
	}
	if now, err = a.Clock(); err != nil {
		return place, now, "", err
	}
	who, err = a.MustActor(ctx)
	return place, now, who, err
}

// LeaseOf returns the lease on an issue, which may have ended.
func LeaseOf(a *workspace.Run, issue string) (clone.Lease, bool) {
	place, err := a.LivePlace()
	if err != nil {
		return clone.Lease{}, false
	}
	claims, err := place.Claims(issue)
	a.WarnOfShared(err)
	return claims.Lease(issue)
}
