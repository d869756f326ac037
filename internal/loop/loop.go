// Package loop runs workers: it runs a command for one issue after another (Work), or for all
// agents of a swarm at once, round by round (RunSwarm). It then examines what each run left,
// has the gate judge it, lands what passes, and releases the rest.
//
// A Run follows the table transitions from its claim to its end. Each step is recorded before
// the next begins, so that the run of a killed loop can be resumed. The next issue, the
// back-off and the limits are computed only from run records and a time.
//
// The package does not decide what a worker reads, whether work is good, or how a swarm agrees:
// packages orient, gate and swarm do. It pushes nothing and changes no branch that is checked
// out.
//
//	done, err := loop.Work(ctx, a, loop.Request{Command: []string{"./agent"}, Once: true})
package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/internal/visible"
)

// run works until there is a reason to end.
func (l *loop) run(ctx context.Context) error {
	changes, stop := l.store.Watch()
	defer stop()
	began := len(l.done.Runs)
	for failures := 0; ; {
		ended, err := l.turn(ctx, changes, began, failures > 0)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case ended:
			return err
		case err == nil:
			failures = 0
			continue
		}
		if failures++; failures > mostFailures {
			return err
		}
		l.app.Warn("%v; retrying", err)
		l.pause(ctx, l.Times.Look<<min(failures-1, 5))
	}
}

// mostFailures is how many times in a row the loop retries after failures of its surroundings,
// such as a locked store or a full disk.
const mostFailures = 10

// turn does one thing: a run, or waiting. After a failed turn (again) it first completes what
// that left unfinished. began is the number of runs that had ended before the first turn.
func (l *loop) turn(ctx context.Context, changes <-chan struct{}, began int, again bool) (ended bool, err error) {
	p, err := l.scan(ctx, began, again)
	switch {
	case err != nil || p.ended:
		return p.ended, err
	case !p.until.IsZero():
		wait(ctx, []*loop{l}, nil, p.until, nil)
		return false, nil
	}
	ran, next, err := l.act(ctx, p.sensed)
	p.due(next)
	switch {
	case err != nil:
		return false, err
	case l.isEnough(began):
		return true, nil
	case ran:
		l.idle = false
		return false, nil
	case l.empty(p.sensed):
		return true, nil
	}
	l.sayIdle(p.sensed)
	wait(ctx, []*loop{l}, changes, p.next, p.others)
	return false, nil
}

// prospect is what a loop can do now.
type prospect struct {
	sensed
	ended bool
	until time.Time // it must not look for work before; zero for now
}

// due makes t the time of the next look, if it is earlier.
func (s *sensed) due(t time.Time) {
	if s.next.IsZero() || !t.IsZero() && t.Before(s.next) {
		s.next = t
	}
}

// scan finds what the loop can do now. After a failed turn (again) it first completes what that
// left unfinished.
func (l *loop) scan(ctx context.Context, began int, again bool) (p prospect, err error) {
	if again {
		if err := l.recover(ctx); err != nil {
			return p, err
		}
		if l.isEnough(began) {
			return prospect{ended: true}, nil
		}
	}
	if p.ended, p.until, err = l.mayRun(ctx); err != nil || p.ended || !p.until.IsZero() {
		return p, err
	}
	l.synchronize(ctx)
	asked, err := l.followBranch(ctx)
	if err != nil {
		return p, err
	}
	if p.sensed, err = l.sense(ctx); err != nil {
		return p, err
	}
	p.asked += asked
	if len(p.order) > 0 {
		err := l.tryPlace(ctx, p.order[0].Issue)
		p.ended = err != nil
		return p, err
	}
	return p, nil
}

// sayIdle reports once that the loop waits and for what, until it has something to do again.
func (l *loop) sayIdle(s sensed) {
	switch {
	case l.idle:
	case s.full:
		l.tell("", "%s", l.fullText())
	case s.asked > 0 && !s.next.IsZero():
		l.tell("", "nothing to take before %s; waiting; unanswered questions: %d", l.at(s.next), s.asked)
	case s.asked > 0:
		l.tell("", "nothing to take now; unanswered questions: %d", s.asked)
	case s.next.IsZero() && len(s.marked) > 0:
		l.tell("", "nothing to take now: %s", s.unmerged())
	case s.next.IsZero():
		l.tell("", "nothing to take now; waiting for the store to change")
	default:
		l.tell("", "nothing to take before %s; waiting", l.at(s.next))
	}
	l.idle = true
}

// at formats a time in UTC, as everywhere in stig, with its date unless that is today.
func (l *loop) at(t time.Time) string {
	t = t.UTC()
	if l.now().Format(time.DateOnly) == t.Format(time.DateOnly) {
		return t.Format(time.TimeOnly) + " UTC"
	}
	return t.Format(time.DateTime) + " UTC"
}

// isEnough reports whether the loop ends because of its last runs, and sets the reason.
func (l *loop) isEnough(began int) bool {
	switch {
	case l.silent >= 2:
		l.done.Silent, l.done.Reason = true, "two runs in a row left nothing: no work, no trace, no checkpoint"
	case l.raced:
	case l.Once && slices.ContainsFunc(l.done.Runs[began:], func(r actors.Run) bool { return r.Outcome != string(clone.OutcomeRegated) }):
		l.ordered, l.done.Reason = true, "one run done, as requested by --once"
	default:
		return false
	}
	return true
}

// pause waits for d or until ctx ends.
func (l *loop) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// mayRun decides whether the loop may look for work now. ended means that it is over; until is
// when it has to wait.
func (l *loop) mayRun(ctx context.Context) (ended bool, until time.Time, err error) {
	now := l.now()
	l.takeName(ctx)
	if err := l.reload(ctx); err != nil {
		return false, until, err
	}
	switch state := l.state(now); state {
	case clone.Dead, clone.Draining:
		l.ordered, l.done.Reason = true, fmt.Sprintf("%s is %s; type stig worker resume %[1]s to let it work", l.name, state)
		return true, until, nil
	case clone.Paused, clone.Maintenance:
		if l.Once || l.UntilEmpty {
			l.ordered, l.done.Waiting = true, true
			l.done.Reason = fmt.Sprintf("%s is %s: it takes no work until stig worker resume %[1]s", l.name, state)
			return true, until, nil
		}
		if l.paused != string(state) {
			l.tell("", "%s: takes no work until stig worker resume %s", state, l.name)
		}
		l.paused = string(state)
		return false, now.Add(l.Times.Sense), nil
	}
	l.paused = ""
	if why := l.busy(); why != "" {
		l.once(why)
		return false, now.Add(l.Times.Look), nil
	}
	delete(l.noticed, l.busyText)
	runs, now, err := l.runs()
	if err != nil {
		return false, until, err
	}
	if reached := l.Bounds.Reached(l.used(runs, now)); reached != "" {
		l.done.Reason = reached
		return true, until, nil
	}
	alike := FindCorrelated(runs, now)
	waits, answered, err := l.refusedAlike(ctx, alike)
	switch {
	case err != nil:
		return false, until, err
	case waits:
		return l.waitsForPlace("work is rejected with the same message: " + alike.Said)
	case alike.Until.After(now) && !answered:
		l.sayAlike(ctx, alike)
		return false, alike.Until, nil
	}
	next := l.Bounds.Next(l.name, runs, now)
	if !next.IsZero() {
		l.once(fmt.Sprintf("waiting until %s: %s per hour reached (per_hour in the actor's file)", l.at(next), visible.Counted(l.Bounds.PerHour, "run")))
	}
	return false, next, nil
}

// takeName gives the loop, between two runs, the new name that its actor was given meanwhile.
// If that fails, it reports so once and keeps the old name.
func (l *loop) takeName(ctx context.Context) {
	p, _ := l.place.Presence(l.name)
	if p.Rename == "" {
		return
	}
	free, err := l.place.LockLoop(p.Rename)
	if err != nil {
		l.once(fmt.Sprintf("%s cannot be renamed to %s: another loop has that name", l.name, p.Rename))
		return
	}
	if _, err := actors.Rename(ctx, l.fresh(ctx, ""), actors.RenameRequest{Old: l.name, New: p.Rename}); err != nil {
		_ = free()
		l.once(fmt.Sprintf("%s cannot be renamed to %s: %v", l.name, p.Rename, err))
		return
	}
	l.tell("", "%s is now called %s", l.name, p.Rename)
	_ = l.alone()
	l.alone, l.name, l.app.Actor, l.done.Actor = free, p.Rename, p.Rename, p.Rename
}

// waitsForPlace waits for the answer to a question about the place. A loop that should end when
// nothing is left ends.
func (l *loop) waitsForPlace(why string) (ended bool, until time.Time, err error) {
	if l.Once || l.UntilEmpty || l.filter.issue != "" {
		l.done.Asked, l.done.Waiting, l.done.Reason = 1, true, why+"; a person was asked"
		return true, until, nil
	}
	l.once(why + "; waiting for an answer")
	return false, l.now().Add(l.Times.Sense), nil
}

// reload reads the actor's file if it changed. If the file has a mistake, the old values stay.
func (l *loop) reload(ctx context.Context) error {
	changed, err := l.loadProfile()
	if err != nil {
		l.once(err.Error())
		return nil
	}
	l.filter.roles = l.roles
	if !changed || !l.ofFile {
		return nil
	}
	return l.fromFile(ctx)
}

// sayAlike reports once for all loops why all of them pause. The first loop to get here does
// it.
func (l *loop) sayAlike(ctx context.Context, alike CorrelatedFailures) {
	what := "every worker fails in the same way"
	if alike.Runs[0].Refused != "" {
		what = "work is rejected with the same message"
	}
	text := fmt.Sprintf("%s: %s; all pause until %s", what, cmp.Or(alike.Said, "exit code 75"), l.at(alike.Until))
	if first, err := l.place.SayOnce("alike " + alike.Until.Format(time.RFC3339)); err == nil && first {
		l.tell("", "%s", text)
		l.notify(ctx, "loops pause", text, "")
	}
}

// state returns the state that a person set for the actor.
func (l *loop) state(now time.Time) clone.State {
	p, _ := l.place.Presence(l.name)
	return p.Told(now)
}

// leftBehind is the age after which a lock of git's index counts as left by a killed git.
const leftBehind = 10 * time.Minute

// busy returns a message if git has an operation in progress in the store's own checkout, which
// may change the store; "" otherwise.
func (l *loop) busy() string {
	own := l.place.Tree.Own
	doing := git.Underway(own)
	if doing == "switch" { // git locks the index so, and leaves the lock when killed
		info, err := os.Lstat(filepath.Join(own, "index.lock"))
		if err != nil || l.app.Now().Sub(info.ModTime()) > leftBehind {
			doing = ""
		}
	}
	if doing == "" {
		return ""
	}
	l.busyText = "paused: git is in the middle of a " + doing + " in the store's checkout"
	return l.busyText
}

// mostOutrun is how many times in a row the loop looks again at once after others took
// everything it found.
const mostOutrun = 3

// act does the first possible thing of what was sensed. next is when something without an issue
// is due; zero for never.
func (l *loop) act(ctx context.Context, s sensed) (ran bool, next time.Time, err error) {
	for _, id := range s.exhausted {
		if err := l.askAbout(ctx, s.past[id], id); err != nil {
			return false, next, err
		}
	}
	if len(s.exhausted) > 0 {
		return true, next, nil // the store changed
	}
	for _, c := range s.order {
		r, err := l.claim(ctx, c)
		if err != nil {
			return false, next, err
		}
		if r == nil {
			continue // others were faster
		}
		l.outrun = 0
		if l.BestOf > 0 {
			return true, next, l.compete(ctx, r)
		}
		return true, next, l.perform(ctx, r)
	}
	if len(s.order) == 0 {
		l.outrun = 0
	} else if l.outrun++; l.outrun <= mostOutrun {
		return true, next, nil // what was sensed is out of date
	}
	return l.withoutIssue(ctx)
}

// empty reports whether the loop ends because nothing is left to do, and sets the reason.
func (l *loop) empty(s sensed) bool {
	wants := l.Once || l.UntilEmpty || l.filter.issue != ""
	if !wants || !l.Once && (!s.next.IsZero() || len(s.others) > 0 && l.filter.issue == "") {
		return false
	}
	l.done.Reason, l.done.Asked = "nothing is left to do", s.asked
	switch id := l.filter.issue; {
	case l.isDone():
		l.done.Reason = id + " is closed"
	case !s.next.IsZero():
		l.done.Reason = "nothing to take before " + s.next.UTC().Format(time.DateTime) + " UTC"
	case s.full:
		l.done.Reason = l.fullText()
	case s.inReview > 0:
		l.done.Reason = visible.Counted(s.inReview, "issue") + " in review"
	case len(s.marked) > 0:
		l.done.Reason = s.unmerged()
	case len(s.left) > 0:
		l.done.Reason = "only issues for other workers are left: " + strings.Join(s.left, ", ")
	case id != "" && !l.isLeft(s.past[id]):
		l.done.Reason = fmt.Sprintf("%s cannot be taken now; stig orient %s shows why", id, visible.Quoted(id))
	}
	if s.asked > 0 {
		l.done.Waiting, l.done.Reason = true, fmt.Sprintf("only questions remain: %d wait for an answer", s.asked)
	}
	return true
}

// isDone reports whether the loop's single issue is closed.
func (l *loop) isDone() bool {
	record, err := l.recordOf(l.filter.issue)
	return err == nil && isClosed(record)
}

// wait returns when a store changes, the time is reached, or a person changes the state of an
// actor. Meanwhile the loops keep giving signs of life. changes is nil if the stores do not matter.
// others are leases in the project of the first loop whose end also matters: the store of another
// work tree has changed then.
func wait(ctx context.Context, loops []*loop, changes <-chan struct{}, until time.Time, others []clone.Lease) {
	l := loops[0]
	now := l.now()
	most := l.Times.Sense
	if left := until.Sub(now); !until.IsZero() && left < most {
		most = max(left, l.Times.Look/20)
	}
	end, look, sign := time.NewTimer(most), time.NewTicker(l.Times.Look), time.NewTicker(l.Times.Sign)
	defer end.Stop()
	defer look.Stop()
	defer sign.Stop()
	var was []clone.State
	for _, l := range loops {
		l.rest()
		was = append(was, l.state(now))
	}
	quiet := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-changes:
			l.settle(ctx)
			return
		case <-sign.C:
			signAll(loops)
		case <-look.C:
			now := l.now()
			if !until.IsZero() && !until.After(now) {
				return
			}
			for i, l := range loops {
				if l.state(now) != was[i] {
					return
				}
			}
			if len(others) > 0 && l.isGone(others) {
				l.settle(ctx)
				return
			}
			if !quiet {
				quiet = true
				for _, l := range loops {
					l.app.Cache.Drop()
				}
				debug.FreeOSMemory() // waiting may take hours
			}
		}
	}
}

// signAll gives a sign of life for each loop.
func signAll(loops []*loop) {
	for _, l := range loops {
		_ = actors.SignOfLife(l.app, l.name, nil) // the next one may succeed
	}
}

// isGone reports whether one of the leases is no longer valid, without reading the store.
func (l *loop) isGone(others []clone.Lease) bool {
	var issues []string
	for _, lease := range others {
		issues = append(issues, lease.Issue)
	}
	claims, judge, _ := service.Judge(l.app, l.place, l.now()).AsRead(func() (clone.Claims, error) { return l.place.Claims(issues...) })
	return slices.ContainsFunc(others, func(was clone.Lease) bool {
		is, ok := claims.Lease(was.Issue)
		return !ok || !clone.SameLease(is, was) || !judge.Holds(is)
	})
}

// settle waits a moment, so that several changes in a row are read once, and many loops do not
// read a large store all the time.
func (l *loop) settle(ctx context.Context) {
	l.pause(ctx, min(l.Times.Look, max(l.Times.Look/40, 4*l.reading)))
}

// isRace reports whether an error means that the issue can no longer be claimed.
func isRace(err error) bool {
	return fault.Is(err, fault.Conflict) || fault.Is(err, fault.Waits)
}

// askAbout asks a person about an issue whose attempts or passes were used up before this loop
// began, for example under a higher limit.
func (l *loop) askAbout(ctx context.Context, past *Past, issue string) error {
	last := cmp.Or(past.Of(l.name).Last, past.Last)
	r, failures := &Run{Run: *last}, past.Failures()
	if len(failures) == 0 {
		failures = []clone.Run{r.Run}
	}
	r.question = l.escalation(ctx, r, failures, l.turnAfter(past, issue))
	if _, err := l.ask(ctx, r); err != nil {
		return err
	}
	r.Asked = true // or it was closed meanwhile
	return l.record(&r.Run)
}

var errLost = errors.New("the claim is lost")
var errStopped = errors.New("a person ended the actor")
