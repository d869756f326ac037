package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/loop/actors"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Request is the input of Work.
type Request struct {
	Filter  []string // an issue, or KEY=VALUE as in choose.go
	Roles   []string // an issue must have one of these labels; default: those of the actor's file
	Epic    string   // only issues inside this one
	Command []string // program and arguments; empty for the command in the actor's file

	Once, UntilEmpty bool
	Onto             string // branch for results; "" for git.WorkBranch
	NoClose          bool   // do not merge or close
	Commit           bool   // commit the store after a close
	DryRun           bool
	Plan             bool // a dry run for all issues; it needs no trust

	BestOf   int  // how many workers do the issue of Filter side by side; 0 for one issue after another
	Smallest bool // with BestOf: wait for all, and land the smallest work that passes, not the first
	Jobs     int  // with BestOf: how many run at once; 0 for all

	Bounds     Bounds
	Project    string         // of a loop that works in several, the name of this one; "" for one project
	TakesTurns bool           // with the loop before it, which works in another project: one run at a time
	Crew       []string       // actors of all loops of this stig work; they share the limits on cost and tokens
	Host       assistant.Host // runs its program instead of Command; "" for none
	RunTimeout time.Duration  // 0 for the value in the actor's file
	Attempts   int            // failed attempts before a person is asked
	Cap        time.Duration  // maximum age of a claim

	Version string // of stig, for the registry
	Tell    func(Event)
	Times   Times
}

// Times are the intervals of the loop, which users cannot change. Zero values stand for the
// defaults.
type Times struct {
	Sign  time.Duration // between signs of life; 0 for clone.Place.SignEvery
	Renew time.Duration // between renewals of a claim
	Lasts time.Duration // validity of a claim without renewal
	Look  time.Duration // between reads of the actor's state
	Sense time.Duration // between reads of the store if nothing signals a change
	Grace time.Duration // for a command to end
}

func (t Times) defaults() Times {
	t.Renew = cmp.Or(t.Renew, 3*time.Minute)
	t.Lasts = cmp.Or(t.Lasts, clone.LoopLasts)
	t.Look = cmp.Or(t.Look, 2*time.Second)
	t.Sense = cmp.Or(t.Sense, 5*time.Minute)
	t.Grace = cmp.Or(t.Grace, 10*time.Second)
	return t
}

// Event is something a loop reports while it runs.
type Event struct {
	At      time.Time
	Actor   string
	Project string     // of a loop that works in several; "" for one
	Issue   string     // "" for none
	Title   string     // of the issue
	Event   string     // EventClaimed, EventSaid, or the outcome of a run
	Text    string     // the report; for an ended run, why it had that outcome, "" if obvious
	Run     *clone.Run // the run that ended; nil for other events
}

// Events that are not outcomes.
const (
	EventClaimed = "claimed"
	EventSaid    = "said"
)

// Done is the result of Work.
type Done struct {
	Actor   string       `json:"actor"`
	Project string       `json:"-"`
	Reason  string       `json:"reason"` // why it ended
	Runs    []actors.Run `json:"runs"`
	DryRun  bool         `json:"dry_run"`
	Would   *Would       `json:"would,omitempty"` // of a dry run; nil if there is nothing to take
	Asked   int          `json:"asked"`           // issues that wait for an answer
	Silent  bool         `json:"silent"`          // it ended because two runs in a row left nothing
	Waiting bool         `json:"waiting"`         // only questions remain
	Summary Summary      `json:"summary"`
	Plan    *Plan        `json:"plan,omitempty"` // of --plan

	lands string // command that lands its results; "" if they are not on a branch
}

// Summary is the result of a loop's runs. Each issue is in one list, according to its last run.
type Summary struct {
	Closed  []string `json:"closed"`
	Waiting []string `json:"waiting"` // for a person's answer
	Review  []string `json:"review"`  // for reviewers
	Failed  []string `json:"failed"`  // or not done for another reason
	Seconds int      `json:"seconds"` // total duration of the runs
	Cost    string   `json:"cost"`    // of all runs, formatted; "" if there were none
	Next    []string `json:"next"`    // commands to type
}

// summarize sets the summary of the runs.
func (d *Done) summarize() {
	last := map[string]actors.Run{}
	var order []string
	var took time.Duration
	var spent clone.Spent
	for _, r := range d.Runs {
		spent.Join(r.Spent())
		if r.Ended != nil {
			took += max(r.Ended.Sub(r.Started), 0)
		}
		if r.Issue == "" {
			continue
		}
		if _, again := last[r.Issue]; !again {
			order = append(order, r.Issue)
		}
		if was := last[r.Issue]; r.Task == clone.BestOfTask && was.Task == r.Task && was.Outcome == string(clone.OutcomeClosed) {
			continue // the others of a best-of say nothing more about the issue
		}
		last[r.Issue] = r
	}
	s := Summary{Closed: []string{}, Waiting: []string{}, Review: []string{}, Failed: []string{}, Next: []string{}, Seconds: int(took.Seconds()), Cost: spent.String()}
	for _, id := range order {
		switch r := last[id]; {
		case r.Outcome == string(clone.OutcomeClosed):
			s.Closed = append(s.Closed, id)
		case r.Asked || r.Outcome == string(clone.OutcomeWaiting) || r.Outcome == string(clone.OutcomeUnproven):
			s.Waiting = append(s.Waiting, id)
		case r.Outcome == string(clone.OutcomeInReview):
			s.Review = append(s.Review, id)
		default:
			s.Failed = append(s.Failed, id)
		}
	}
	if len(s.Closed) > 0 && d.lands != "" {
		s.Next = append(s.Next, d.lands)
	}
	if len(s.Review) > 0 {
		s.Next = append(s.Next, "stig land --sync")
	}
	if len(s.Waiting) > 0 || d.Asked > 0 {
		s.Next = append(s.Next, "stig resolve --list")
	}
	if len(order) > 0 {
		s.Next = append(s.Next, "stig morning")
	}
	if d.Project != "" && len(s.Next) > 0 {
		s.Next = []string{"stig morning --all"}
	}
	d.Summary = s
}

// Merge combines the results of several loops.
func Merge(all []*Done) *Done {
	one := &Done{Runs: []actors.Run{}, Waiting: len(all) > 0}
	var names, reasons []string
	for _, d := range all {
		who := d.Actor
		if d.Project != "" {
			who = d.Project
		}
		names, reasons = append(names, d.Actor), append(reasons, who+": "+d.Reason)
		one.Runs, one.Project = append(one.Runs, d.Runs...), cmp.Or(one.Project, d.Project)
		one.DryRun, one.Silent, one.Waiting = d.DryRun, one.Silent || d.Silent, one.Waiting && d.Waiting
		one.Asked, one.lands, one.Would, one.Plan = max(one.Asked, d.Asked), cmp.Or(one.lands, d.lands), cmp.Or(one.Would, d.Would), cmp.Or(one.Plan, d.Plan)
	}
	if len(all) == 1 {
		reasons = []string{all[0].Reason}
	}
	one.Actor, one.Reason = strings.Join(slices.Compact(names), ", "), strings.Join(slices.Compact(reasons), "\n")
	slices.SortStableFunc(one.Runs, func(a, b actors.Run) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Attempt, b.Attempt))
	})
	one.summarize()
	return one
}

// Would is what a dry run would take and run.
type Would struct {
	Project  string   `json:"project,omitempty"` // of several, whose issue it is
	Issue    string   `json:"issue"`
	Title    string   `json:"title"`
	Why      string   `json:"why"`
	Command  []string `json:"command"`
	Worktree string   `json:"worktree"` // the directory it works in, or the parent of its work tree
	Branch   string   `json:"branch"`
	Onto     string   `json:"onto"`
}

// loop is the state of one Work.
type loop struct {
	Request
	app     *workspace.Run
	now     func() time.Time
	name    string // of the actor
	profile *clone.Profile
	files   string // directory that contains the actors' files
	store   beads.Store
	place   clone.Place
	trees   *git.WorktreeOptions // nil in place
	root    string               // the directory for work in place
	code    git.Checkout         // the checkout that work trees come from; the zero value without git
	filter  filter

	ofFile     bool // the command is from the actor's file
	roles      []string
	runTimeout time.Duration

	began   time.Time             // when this stig work began
	known   map[string]issueWords // issues it has worked on
	alone   func() error          // releases the name
	done    Done
	silent  int  // consecutive runs that left nothing
	ordered bool // a person ended it, or it was asked to do no more
	raced   bool // it has done what BestOf asks for
	paused  string
	inHand  bool                 // the sign of life names an issue or a run
	idle    bool                 // it waits, and has reported that
	outrun  int                  // how many times in a row others took everything it found
	noticed map[string]bool      // reported once
	heard   map[string]time.Time // issues of ended runs with their start: earlier inbox items are to be acknowledged

	peers    []*loop // that take turns with it, in other projects
	records  clone.RunLog
	synced   time.Time // when it last asked the forge
	inbox    inbox
	watched  *watching     // watches what the repository shares; nil before the first run
	tried    bool          // its place has been tried
	busyText string        // the message that git is busy
	reading  time.Duration // duration of the last read of the store
}

// Work runs the loop until nothing is left to do, a limit is reached, or ctx ends. The error is
// fault.Conflict if another loop of that name runs, fault.Usage if the command does not exist,
// fault.Found if the repository is not trusted.
func Work(ctx context.Context, a *workspace.Run, r Request) (*Done, error) {
	l, err := newLoop(ctx, a, r)
	if err != nil {
		return nil, err
	}
	return l.work(ctx)
}

// WorkAll is Work for several loops at once, one per actor and project. All are prepared before
// the first begins. If one ends with an error, the others continue.
func WorkAll(ctx context.Context, as []*workspace.Run, requests []Request) (*Done, error) {
	var shifts []shift
	var refused error
	for i, a := range as {
		l, err := newLoop(ctx, a, requests[i])
		switch r := requests[i]; {
		case err != nil && r.Project == "":
			return nil, err
		case err != nil:
			r.Tell(Event{At: a.Now(), Project: r.Project, Event: EventSaid, Text: notServed + err.Error()})
			refused = cmp.Or(refused, err)
		case r.TakesTurns && len(shifts) > 0:
			last := &shifts[len(shifts)-1]
			*last = append(*last, l)
		default:
			shifts = append(shifts, shift{l})
		}
	}
	if len(shifts) == 0 {
		return nil, refused
	}
	if requests[0].DryRun {
		return shifts[0].would(ctx) // the others would do the same
	}
	ended, errs := make([][]*Done, len(shifts)), make([]error, len(shifts))
	var all sync.WaitGroup
	for i, s := range shifts {
		all.Go(func() {
			if ended[i], errs[i] = s.work(ctx); errs[i] != nil && ctx.Err() == nil && len(shifts) > 1 {
				s[0].tell("", "ended: %v", errs[i])
			}
		})
	}
	all.Wait()
	return Merge(slices.Concat(ended...)), errors.Join(errs...)
}

// notServed begins the news that a loop of several projects cannot work in one.
const notServed = "not served: "

// newLoop prepares a loop. It writes nothing.
func newLoop(ctx context.Context, a *workspace.Run, r Request) (*loop, error) {
	r.Times, r.Onto = r.Times.defaults(), cmp.Or(r.Onto, git.WorkBranch)
	if r.Tell == nil {
		r.Tell = func(Event) {}
	}
	l := &loop{Request: r, noticed: map[string]bool{}, heard: map[string]time.Time{}, known: map[string]issueWords{}}
	if err := l.prepare(ctx, a); err != nil {
		return nil, err
	}
	l.began = l.now()
	return l, nil
}

// work runs a prepared loop.
func (l *loop) work(ctx context.Context) (*Done, error) {
	l.clear()
	if l.DryRun {
		return &l.done, l.would(ctx)
	}
	release, err := l.start()
	defer release()
	if err != nil {
		return nil, err
	}
	if err = l.makeReady(ctx); err == nil {
		err = l.run(ctx)
	}
	return l.finish(ctx, err)
}

// clear begins the result of the loop.
func (l *loop) clear() {
	l.done = Done{Actor: l.name, Project: l.Project, Runs: []actors.Run{}, DryRun: l.DryRun, lands: l.landCommand()}
	l.done.summarize()
}

// start locks what only one loop may use, and records the start. release is to be called in any
// case.
func (l *loop) start() (release func(), err error) {
	var held []func() error
	release = func() {
		for _, free := range held {
			_ = free()
		}
	}
	if l.alone, err = l.place.LockLoop(l.name); err != nil {
		return release, worksAs(l.name, err)
	}
	held = append(held, func() error { return l.alone() }) // which a new name replaces
	if l.BestOf > 0 {
		for _, name := range l.Crew {
			free, err := l.place.LockLoop(name)
			if err != nil {
				return release, worksAs(name, err)
			}
			held = append(held, free)
		}
	}
	if l.trees == nil {
		free, err := l.place.LockLoop(inPlace + l.place.Worktree)
		if err != nil {
			return release, &fault.Error{Code: fault.Conflict, Reason: "another loop is working in this directory", Hint: "without git, or with worktree: false, only one loop can work at a time", Err: err}
		}
		held = append(held, free)
	}
	return release, l.begin()
}

// worksAs returns the error for a name that another loop has.
func worksAs(name string, err error) error {
	return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("another loop is working as %s in this clone", name), Hint: "give another name with --actor, or end that loop", Err: err}
}

// makeReady completes what a killed loop left, and prepares the branch for results.
func (l *loop) makeReady(ctx context.Context) error {
	if err := l.beginBranch(ctx); err != nil {
		return err
	}
	if err := l.recover(ctx); err != nil {
		return err
	}
	l.tidy(ctx)
	return l.trySubject(ctx)
}

// finish records the end of the loop; err is why it ended, if it failed.
func (l *loop) finish(ctx context.Context, err error) (*Done, error) {
	l.acknowledgeLast(context.WithoutCancel(ctx))
	l.takeName(context.WithoutCancel(ctx))
	why := l.done.Reason
	if err != nil {
		why = err.Error()
		l.done.Reason = cmp.Or(l.done.Reason, why)
	}
	err = errors.Join(err, l.end(why))
	l.done.summarize()
	l.notifyEnd(ctx, err)
	return &l.done, err
}

// landCommand returns the command that brings results to the person's branch; "" if they go to
// no branch.
func (l *loop) landCommand() string {
	if l.trees == nil || l.NoClose || l.byReview() {
		return ""
	}
	return service.LandCommand(l.Onto)
}

// notifyEnd notifies people that the loop ended, unless a person ended it or it found nothing
// to do, as with an hourly cron job.
func (l *loop) notifyEnd(ctx context.Context, err error) {
	if l.ordered || ctx.Err() != nil || err == nil && len(l.done.Runs) == 0 {
		return
	}
	why := l.done.Reason
	if err != nil {
		why = err.Error()
	}
	s, details := l.done.Summary, "; after "+visible.Counted(len(l.done.Runs), "run")
	if len(l.done.Runs) > 0 {
		details += fmt.Sprintf(": %d closed, %d waiting, %d failed", len(s.Closed), len(s.Waiting), len(s.Failed))
		if len(s.Review) > 0 {
			details += fmt.Sprintf(", %d in review", len(s.Review))
		}
	}
	if s.Cost != "" {
		details += "; " + s.Cost
	}
	if len(s.Next) > 0 {
		details += "; type " + strings.Join(s.Next, ", ")
	}
	l.notify(ctx, "loop ended: "+l.name, why, details)
}

func (l *loop) notify(ctx context.Context, title, why, details string) {
	service.NotifyStopped(ctx, l.app, l.store.Place(), l.now(), title, why, details)
}

// elsewhere returns an error (fault.Conflict) if a loop of that name works on another machine
// of the database, or in another clone on this one. Within this clone LockLoop prevents that.
func (l *loop) elsewhere(one clone.Presence) error {
	if l.place.Documents == nil {
		return nil
	}
	self, _ := process.Self()
	running, _ := one.Runs()
	_, isSeen := process.RunningHere(one.Process)
	if !running || one.Process.Same(self.ID) || one.Process.Host == self.Host && !isSeen {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("another loop is working as %s on %s", l.name, one.Process.Host),
		Hint: "give another name with --actor; a killed loop counts for 3 minutes"}
}

// inPlace is the prefix of the lock name of a directory in which a loop works without work
// trees. No actor has such a name.
const inPlace = "\x00in place"

// begin registers the loop, unless another one of its name is registered.
func (l *loop) begin() error {
	var taken error
	err := actors.Start(l.app, l.name, func(p *clone.Presence) bool {
		if taken = l.elsewhere(*p); taken != nil {
			return false
		}
		if p.State == "" || p.State == clone.Provisioning {
			p.State = clone.Healthy
		}
		if p.Kind == "" {
			p.Kind = clone.Agent
		}
		p.Boots++
		p.Ended, p.EndedWhy = time.Time{}, ""
		p.Version, p.Issue, p.Run = l.Version, "", ""
		return true
	})
	return errors.Join(taken, err)
}

// rest clears the issue in hand while the loop waits.
func (l *loop) rest() {
	if l.inHand {
		l.inHand = actors.SignOfLife(l.app, l.name, func(p *clone.Presence) { p.Issue, p.Run = "", "" }) != nil
	}
}

// end clears the issue in hand and records the end of the loop.
func (l *loop) end(why string) error {
	return actors.SignOfLife(l.app, l.name, func(p *clone.Presence) {
		p.Issue, p.Run, p.Process = "", "", process.ID{}
		p.Ended, p.EndedWhy = l.now(), visible.OneLine(visible.HideSecrets(why))
	})
}

// clockOf returns the clock of a run; fault.Usage if its environment sets an invalid time.
func clockOf(a *workspace.Run) (func() time.Time, error) {
	_, err := a.Clock()
	return func() time.Time { now, _ := a.Clock(); return now }, err // checked once: the environment does not change
}

// fresh returns a new run for one step in dir; "" is the directory of the loop.
func (l *loop) fresh(ctx context.Context, dir string) *workspace.Run {
	a := l.app.Fresh(ctx, "work")
	a.Dir = cmp.Or(dir, l.app.Dir)
	return a
}

func (l *loop) tell(issue, format string, args ...any) {
	l.event(Event{Issue: issue, Event: EventSaid, Text: fmt.Sprintf(format, args...)})
}

// event reports an event with actor, time and the issue's title.
func (l *loop) event(e Event) {
	e.At, e.Actor, e.Project, e.Title = l.now(), l.name, l.Project, l.known[e.Issue].title
	l.Tell(e)
}

// once reports a text, but only the first time.
func (l *loop) once(text string) {
	if !l.noticed[text] {
		l.noticed[text] = true
		l.tell("", "%s", text)
	}
}

// runs returns the runs of all actors within Window before now.
func (l *loop) runs() (runs []clone.Run, now time.Time, err error) {
	now = l.now()
	runs, damaged, err := l.records.Runs(l.place, now.Add(-Window))
	for _, path := range damaged {
		if text := path + ": has unreadable run records"; !l.noticed[text] {
			l.noticed[text] = true
			l.app.Warn("%s", text)
		}
	}
	return runs, now, err
}

// record saves the state of a run.
func (l *loop) record(r *clone.Run) error {
	return l.place.RecordRun(*r, l.now())
}
