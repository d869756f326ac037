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

// Request says what a loop works on, with what, and how far.
type Request struct {
	Filter  []string // an issue, or KEY=VALUE as filter.go has them
	Roles   []string // labels of which an issue must have one; those of the actor's file if empty
	Epic    string   // of the issues within this one
	Command []string // the program and its arguments; empty for that of the actor's file

	Once, UntilEmpty bool
	Onto             string // the branch that results go to; "" for git.WorkBranch
	NoClose          bool   // neither merges nor closes
	Commit           bool   // commits the store after a close
	DryRun           bool
	Plan             bool // a dry run that says what would become of all issues; it needs no trust

	Bounds     Bounds
	Crew       []string       // the actors of all loops of this stig work; those share bounds on cost and tokens
	Host       assistant.Host // whose program runs, in the place of Command; "" for none
	RunTimeout time.Duration  // 0 is that of the actor's file
	Attempts   int            // failed ones before a person is asked
	Cap        time.Duration  // how long a claim lives at most

	Version string // of stig, for the registry
	Tell    func(Event)
	Times   Times
}

// Times are those of the loop that no user changes. The zero value is what holds.
type Times struct {
	Sign  time.Duration // between signs of life
	Renew time.Duration // between renewals of a claim
	Lasts time.Duration // of a claim without renewal
	Look  time.Duration // between looks at what a person said about the actor
	Sense time.Duration // between looks at the store where nothing says that it changed
	Grace time.Duration // that a command has to end
}

func (t Times) defaults() Times {
	t.Sign = cmp.Or(t.Sign, 20*time.Second)
	t.Renew = cmp.Or(t.Renew, 3*time.Minute)
	t.Lasts = cmp.Or(t.Lasts, clone.LoopLasts)
	t.Look = cmp.Or(t.Look, 2*time.Second)
	t.Sense = cmp.Or(t.Sense, 5*time.Minute)
	t.Grace = cmp.Or(t.Grace, 10*time.Second)
	return t
}

// Event is what a loop has to say while it runs.
type Event struct {
	At    time.Time
	Actor string
	Issue string     // "" for none
	Title string     // of it
	Event string     // EventClaimed, EventSaid, or the outcome of a run
	Text  string     // the news; of a run that ended why it came to that, "" where that is plain
	Run   *clone.Run // that ended; nil for other news
}

// Names of events that are no outcomes.
const (
	EventClaimed = "claimed"
	EventSaid    = "said"
)

// Done says how a loop ended.
type Done struct {
	Actor   string       `json:"actor"`
	Reason  string       `json:"reason"` // why it ended
	Runs    []actors.Run `json:"runs"`
	DryRun  bool         `json:"dry_run"`
	Would   *Would       `json:"would,omitempty"` // of a dry run; nil where nothing would be taken
	Asked   int          `json:"asked"`           // issues that wait for an answer
	Silent  bool         `json:"silent"`          // it ended since two runs in a row left nothing
	Waiting bool         `json:"waiting"`         // only questions remain
	Summary Summary      `json:"summary"`
	Plan    *Plan        `json:"plan,omitempty"` // of --plan

	lands string // the command that lands its results; "" where they go to no branch
}

// Summary is what the runs of a loop came to. Each issue stands in one list, by its last run.
type Summary struct {
	Closed  []string `json:"closed"`
	Waiting []string `json:"waiting"` // for an answer of a person
	Failed  []string `json:"failed"`  // or are not done for another reason
	Seconds int      `json:"seconds"` // that the runs took together
	Cost    string   `json:"cost"`    // of all of them, as people read it; "" where nothing ran
	Next    []string `json:"next"`    // commands to type
}

// summarize sums up the runs.
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
		last[r.Issue] = r
	}
	s := Summary{Closed: []string{}, Waiting: []string{}, Failed: []string{}, Next: []string{}, Seconds: int(took.Seconds()), Cost: spent.String()}
	for _, id := range order {
		switch r := last[id]; {
		case r.Outcome == string(clone.OutcomeClosed):
			s.Closed = append(s.Closed, id)
		case r.Asked || r.Outcome == string(clone.OutcomeWaiting) || r.Outcome == string(clone.OutcomeUnproven):
			s.Waiting = append(s.Waiting, id)
		default:
			s.Failed = append(s.Failed, id)
		}
	}
	if len(s.Closed) > 0 && d.lands != "" {
		s.Next = append(s.Next, d.lands)
	}
	if len(s.Waiting) > 0 || d.Asked > 0 {
		s.Next = append(s.Next, "stig resolve --list")
	}
	if len(order) > 0 {
		s.Next = append(s.Next, "stig morning")
	}
	d.Summary = s
}

// Merge makes one of the ends of several loops.
func Merge(all []*Done) *Done {
	one := &Done{Runs: []actors.Run{}, Waiting: len(all) > 0}
	var names, reasons []string
	for _, d := range all {
		names, reasons = append(names, d.Actor), append(reasons, d.Actor+": "+d.Reason)
		one.Runs = append(one.Runs, d.Runs...)
		one.DryRun, one.Silent, one.Waiting = d.DryRun, one.Silent || d.Silent, one.Waiting && d.Waiting
		one.Asked, one.lands, one.Would, one.Plan = max(one.Asked, d.Asked), cmp.Or(one.lands, d.lands), cmp.Or(one.Would, d.Would), cmp.Or(one.Plan, d.Plan)
	}
	if len(all) == 1 {
		reasons = []string{all[0].Reason}
	}
	one.Actor, one.Reason = strings.Join(names, ", "), strings.Join(reasons, "\n")
	slices.SortStableFunc(one.Runs, func(a, b actors.Run) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Attempt, b.Attempt))
	})
	one.summarize()
	return one
}

// Would is what a dry run found that would be taken and run.
type Would struct {
	Issue    string   `json:"issue"`
	Title    string   `json:"title"`
	Why      string   `json:"why"`
	Command  []string `json:"command"`
	Worktree string   `json:"worktree"` // the directory that it works in, or below which its work tree is
	Branch   string   `json:"branch"`
	Onto     string   `json:"onto"`
}

// loop is one run of Work.
type loop struct {
	Request
	app     *workspace.Run
	now     func() time.Time
	name    string // of the actor
	profile *clone.Profile
	files   string // the directory that holds the actors' files
	store   beads.Store
	place   clone.Place
	trees   *git.WorktreeOptions // nil where it works in place
	root    string               // where it works in place
	code    git.Checkout         // that of which runs get work trees; the zero value without git
	filter  filter

	ofFile     bool // the command is that of the actor's file
	roles      []string
	runTimeout time.Duration

	began   time.Time             // when this stig work did
	known   map[string]issueWords // issues that it had
	alone   func() error          // releases the name
	done    Done
	silent  int  // runs in a row that left nothing
	ordered bool // a person had it end, or it was to do no more
	paused  string
	inHand  bool                 // the sign of life names an issue or a run
	idle    bool                 // it waits, and has said so
	outrun  int                  // how often in a row others were faster with all that it found
	noticed map[string]bool      // what was said once
	heard   map[string]time.Time // issues of runs that ended, with their start: what was said before is to be acknowledged

	records  clone.RunLog
	inbox    inbox
	watched  *watching     // what looks at what the repository shares; nil before the first run
	tried    bool          // whether its place is right for work
	busyText string        // what of it says that git is at work
	reading  time.Duration // how long the store took to read
}

// Work runs the loop until nothing is left to do, a bound is reached, or ctx ends.
// Errors are: fault.Conflict where another loop of that name runs, fault.Usage where the
// command is not there, fault.Found where the repository is not trusted.
func Work(ctx context.Context, a *workspace.Run, r Request) (*Done, error) {
	l, err := newLoop(ctx, a, r)
	if err != nil {
		return nil, err
	}
	return l.work(ctx)
}

// WorkAll is Work for several loops at once, each with the actor of its run. All are
// prepared before the first begins; where one ends with an error the others go on.
func WorkAll(ctx context.Context, as []*workspace.Run, requests []Request) (*Done, error) {
	var loops []*loop
	for i, a := range as {
		l, err := newLoop(ctx, a, requests[i])
		if err != nil {
			return nil, err
		}
		if l.DryRun {
			return l.work(ctx) // the others would do the same
		}
		loops = append(loops, l)
	}
	ended, errs := make([]*Done, len(loops)), make([]error, len(loops))
	var all sync.WaitGroup
	for i, l := range loops {
		all.Go(func() {
			if ended[i], errs[i] = l.work(ctx); errs[i] != nil && ctx.Err() == nil && len(loops) > 1 {
				l.tell("", "ended: %v", errs[i])
			}
		})
	}
	all.Wait()
	return Merge(slices.DeleteFunc(ended, func(d *Done) bool { return d == nil })), errors.Join(errs...)
}

// newLoop prepares a loop, and writes nothing.
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

// work runs a loop that is prepared.
func (l *loop) work(ctx context.Context) (*Done, error) {
	l.done = Done{Actor: l.name, Runs: []actors.Run{}, DryRun: l.DryRun, lands: l.landCommand()}
	l.done.summarize()
	if l.DryRun {
		return &l.done, l.would(ctx)
	}
	var err error
	l.alone, err = l.place.LockLoop(l.name)
	if err != nil {
		return nil, &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("another loop works as %s in this clone", l.name), Hint: "give another name with --actor, or end that one", Err: err}
	}
	defer func() { _ = l.alone() }()
	if l.trees == nil {
		only, err := l.place.LockLoop(inPlace + l.place.Worktree)
		if err != nil {
			return nil, &fault.Error{Code: fault.Conflict, Reason: "another loop works in this directory", Hint: "without git, or with worktree: false, one loop works at a time", Err: err}
		}
		defer func() { _ = only() }()
	}
	if err := l.begin(); err != nil {
		return nil, err
	}
	err = l.beginBranch(ctx)
	if err == nil {
		err = l.recover(ctx)
	}
	if err == nil {
		l.tidy(ctx)
		err = l.trySubject(ctx)
	}
	if err == nil {
		err = l.run(ctx)
	}
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

// landCommand brings results to the person's branch; "" where they go to none.
func (l *loop) landCommand() string {
	if l.trees == nil || l.NoClose {
		return ""
	}
	return service.LandCommand(l.Onto)
}

// notifyEnd has people told that the loop ended, unless one of them ended it, or it found
// nothing to do: one that cron starts each hour is no news.
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

// elsewhere refuses (fault.Conflict) a loop of a name that works on another machine of a
// database, or in another clone on this one; of this clone LockLoop does.
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
	return &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("another loop works as %s on %s", l.name, one.Process.Host),
		Hint: "give another name with --actor; one that was killed counts for a minute"}
}

// inPlace begins the name under which a loop locks the directory that it works in, where it
// has no work trees; no actor has such a name.
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

// rest says that nothing is in hand while the loop waits.
func (l *loop) rest() {
	if l.inHand {
		l.inHand = actors.SignOfLife(l.app, l.name, func(p *clone.Presence) { p.Issue, p.Run = "", "" }) != nil
	}
}

// end says that nothing is in hand any more.
func (l *loop) end(why string) error {
	return actors.SignOfLife(l.app, l.name, func(p *clone.Presence) {
		p.Issue, p.Run, p.Process = "", "", process.ID{}
		p.Ended, p.EndedWhy = l.now(), visible.OneLine(visible.HideSecrets(why))
	})
}

// clockOf gives the clock of a run; fault.Usage where its environment sets a time that is none.
func clockOf(a *workspace.Run) (func() time.Time, error) {
	_, err := a.Clock()
	return func() time.Time { now, _ := a.Clock(); return now }, err // its environment stays as it is
}

// fresh is a run of its own for one step, in the directory that it is about; "" for the
// directory of the loop.
func (l *loop) fresh(ctx context.Context, dir string) *workspace.Run {
	a := l.app.Fresh(ctx, "work")
	a.Dir = cmp.Or(dir, l.app.Dir)
	return a
}

func (l *loop) tell(issue, format string, args ...any) {
	l.event(Event{Issue: issue, Event: EventSaid, Text: fmt.Sprintf(format, args...)})
}

// event tells of something, with who, when, and what the issue is about.
func (l *loop) event(e Event) {
	e.At, e.Actor, e.Title = l.now(), l.name, l.known[e.Issue].title
	l.Tell(e)
}

// once says something that need not be repeated.
func (l *loop) once(text string) {
	if !l.noticed[text] {
		l.noticed[text] = true
		l.tell("", "%s", text)
	}
}

// runs are those within Window before now, of all actors.
func (l *loop) runs() (runs []clone.Run, now time.Time, err error) {
	now = l.now()
	runs, damaged, err := l.records.Runs(l.place, now.Add(-Window))
	for _, path := range damaged {
		if text := path + ": holds run records that cannot be read"; !l.noticed[text] {
			l.noticed[text] = true
			l.app.Warn("%s", text)
		}
	}
	return runs, now, err
}

// record keeps a step of a run.
func (l *loop) record(r *clone.Run) error {
	return l.place.RecordRun(*r, l.now())
}
