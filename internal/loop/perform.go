package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/loop/actors"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// Steps of a run in its record.
const (
	stepClaimed = "claimed"
	stepStarted = "started"
	stepEnded   = "ended"  // the command ended; what it left is examined next
	stepLanded  = "landed" // its work is on the branch for results
)

// Tasks of a run.
const (
	taskIssue     = "issue"
	taskHeartbeat = "heartbeat"
	taskInbox     = "inbox"
)

// claim claims an issue and begins the record of a run. It returns nil if others were faster.
func (l *loop) claim(ctx context.Context, c Candidate) (*Run, error) {
	self, _ := process.Self()
	r := &Run{state: runClaimed, Run: clone.Run{ID: clone.NewRunID(), Actor: l.name, Task: taskIssue, Issue: c.Issue, Attempt: 1, Loop: self.ID, Step: stepClaimed}}
	claimed, err := service.Claim(ctx, l.fresh(ctx, ""), service.ClaimRequest{ID: c.Issue, Loop: &service.LoopClaim{
		Run: r.ID, Lasts: l.Times.Lasts, Cap: l.Cap,
	}})
	if fault.Is(err, fault.NotFound) || isRace(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	past, err := l.inherit(ctx, c.Issue)
	if err != nil {
		return nil, err
	}
	r.Started = l.now()
	if !l.isLeft(past) && (l.until(past).After(r.Started) || past.Spent(l.name, l.limits())) {
		l.release(ctx, c.Issue) // another loop tried it since this one looked
		return nil, nil
	}
	if may, err := l.mayRequest(r); err != nil || !may {
		l.release(ctx, c.Issue)
		return nil, err
	}
	attempts, passes := past.Tried()
	r.Attempt += attempts + passes
	if err := l.standing(r, claimed); err != nil {
		return nil, err
	}
	if l.BestOf > 0 { // its workers have records
		return r, nil
	}
	return r, l.record(&r.Run)
}

// inherit ends the runs of killed loops on an issue that this loop has claimed, and returns the
// issue's history. Afterwards none of their programs is running and each of their runs has
// ended before the next begins. If a loop is still running, it has just released the issue and
// is about to record the end of its run.
func (l *loop) inherit(ctx context.Context, issue string) (*Past, error) {
	isOpen := func(r clone.Run) bool { return r.Issue == issue && r.Outcome == "" && r.Task != clone.SwarmTask }
	runs, now, err := l.runs()
	for range 100 {
		if err != nil || !slices.ContainsFunc(runs, func(r clone.Run) bool { return isOpen(r) && l.isOthers(r) }) {
			break
		}
		l.pause(ctx, 10*time.Millisecond)
		runs, _, err = l.runs()
	}
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if !isOpen(r) {
			continue
		}
		l.app.EndProgram(r, l.Times.Grace)
		killed := &Run{Run: r}
		if err := l.compareShared(ctx, killed); err != nil {
			return nil, err
		}
		if err := endKilled(l.app, l.place, killed.Run, l.Times.Grace, now, "its loop was killed, and "+l.name+" took the issue over"); err != nil {
			return nil, err
		}
	}
	runs, _, err = l.runs()
	return PastOf(runs, now)[issue], err
}

// standing records the state of an issue when it was claimed, for a later comparison.
func (l *loop) standing(r *Run, claimed *checkpoint.Claimed) error {
	var record *beads.Record
	var err error
	for _, line := range claimed.Lines {
		if line.ID == r.Issue {
			record, err = beads.ParseRecord(line.After)
		}
	}
	if record == nil && err == nil {
		record, err = l.recordOf(r.Issue)
	}
	if err != nil || record == nil {
		return err
	}
	l.known[r.Issue] = wordsOf(record)
	r.Criteria = gate.Hash(gate.Of(record).Text())
	r.Notes = gate.Hash(record.Text(beads.Notes))
	r.Comments = l.comments(record, r.ID)
	r.Heard = len(record.Comments()) > 0 || record.MayHold(beads.Notes, signals.EscalationSection)
	return nil
}

// comments counts the actor's comments on an issue, except the error that the loop itself left
// for a run before it was killed.
func (l *loop) comments(record *beads.Record, run string) (n int) {
	for _, c := range record.Comments() {
		t, err := trace.Parse(c.Text)
		ofLoop := err == nil && t.Type == trace.Error && slices.Contains(t.Trailers, trace.Trailer{Key: "run", Value: run})
		if c.Author == l.name && !ofLoop {
			n++
		}
	}
	return n
}

// perform runs the command on a claimed issue and does what follows.
func (l *loop) perform(ctx context.Context, r *Run) error {
	l.inHand = true
	_ = actors.SignOfLife(l.app, l.name, func(p *clone.Presence) { p.Issue, p.Run = r.Issue, r.ID })
	return l.advance(ctx, r)
}

// furnish prepares the work tree and the prompt of a run. If a person accepts the work as it
// is, nothing is started.
func (l *loop) furnish(ctx context.Context, r *Run) (observation, error) {
	var err error
	if r.Taken, err = l.taken(r); err != nil {
		return "", err
	}
	if err := l.findTree(ctx, r); err != nil {
		return "", err
	}
	if r.Taken != nil {
		what := "it is done"
		if !r.takenAsDone() {
			what = "it contains no credential"
		}
		l.event(Event{Issue: r.Issue, Event: EventClaimed, Text: fmt.Sprintf("run %s: %s says that %s", r.ID, workspace.Visible(r.Taken.By), what)})
		r.Ended, r.Step = l.now(), stepEnded
		return sawTaken, l.record(&r.Run)
	}
	if r.Regated, err = l.mayPass(ctx, r); err != nil {
		return "", err
	}
	if r.Regated {
		l.tell(r.Issue, "claimed, run %s: %s has moved since its work was rejected, so the work is judged again", r.ID, l.trees.Onto)
		r.Ended, r.Step = l.now(), stepEnded
		return sawRegate, l.record(&r.Run)
	}
	r.prompt, err = l.promptOf(ctx, r)
	return sawReady, err
}

// mostRegated is how many times in a row work is judged again without starting the command.
const mostRegated = 3

// mayPass reports whether the work of an issue may pass now without starting the command: it
// was rejected in the last run, and the branch for results has moved since.
func (l *loop) mayPass(ctx context.Context, r *Run) (bool, error) {
	if r.tree == nil || r.Issue == "" || l.NoClose {
		return false, nil
	}
	runs, _, err := l.runs()
	if err != nil {
		return false, err
	}
	last, again := lastOf(runs, r.Issue)
	if last.Onto == "" || last.Onto == r.tree.Tip || last.Branch != r.Branch || again >= mostRegated {
		return false, nil
	}
	content, _, err := l.content(ctx, r)
	if err != nil {
		return false, err
	}
	return l.holdsWork(r, content)
}

// lastOf returns the last ended run of an issue, and how many of its latest runs started
// nothing.
func lastOf(runs []clone.Run, issue string) (last clone.Run, regated int) {
	for _, e := range runs {
		if e.Issue != issue || e.Outcome == "" {
			continue
		}
		if regated++; e.Outcome != string(clone.OutcomeRegated) {
			regated = 0
		}
		last = e
	}
	return last, regated
}

// findTree finds the work tree of a run (none in place), runs the criteria there before the
// work, and records its content.
func (l *loop) findTree(ctx context.Context, r *Run) (err error) {
	r.Worktree = l.root
	switch {
	case r.Issue == "" && l.trees != nil:
		return l.findDetached(ctx, r)
	case r.Issue == "":
		return nil
	}
	fresh := false
	if l.trees != nil {
		if fresh, err = l.findWorktree(ctx, r); err != nil {
			return err
		}
	} else if l.code.Root != "" {
		_, r.Base = l.code.Head()
	}
	if r.lack, err = l.lacks(ctx, r); err == nil && r.lack != "" {
		l.tell(r.Issue, "%s", r.lack)
	}
	if err == nil {
		err = l.before(ctx, r, fresh)
	}
	if err == nil {
		r.Tree, _, err = l.content(ctx, r)
	}
	if err == nil && fresh {
		err = l.markFresh(r)
	}
	return err
}

// findWorktree finds the work tree of a run, removes what others left there, and runs the
// setup. It reports whether the tree is fresh: it contains no work.
func (l *loop) findWorktree(ctx context.Context, r *Run) (fresh bool, err error) {
	if err = l.findUpon(ctx, r); err != nil {
		return false, err
	}
	if r.tree, err = git.PrepareWorktree(ctx, l.treesOf(r), r.Issue); err != nil {
		return false, err
	}
	if r.upon.Number != 0 {
		l.tell(r.Issue, "its work goes on upon request #%d, branch %s", r.upon.Number, r.upon.Branch)
	}
	if r.Holder == "" { // otherwise others use theirs
		if err := l.retire(ctx, r.Issue, func(branch string) bool { return branch != r.tree.Branch }); err != nil {
			return false, err
		}
	}
	if fresh, err = l.beginClean(ctx, r); err != nil {
		return false, err
	}
	r.Worktree, r.Branch = r.tree.Dir, r.tree.Branch // from here on the tree is this run's
	more, err := l.catchUp(ctx, r)
	if err != nil {
		return false, err
	}
	return fresh && !more, l.setUp(ctx, r, r.tree.Dir)
}

// supervise runs the command until it ends. A failure of the command is in the record.
func (l *loop) supervise(ctx context.Context, r *Run) (observation, error) {
	if r.Issue == "" {
		l.tell("", "%s: run %s", r.Task, r.ID)
	} else {
		l.event(Event{Issue: r.Issue, Event: EventClaimed, Text: fmt.Sprintf("attempt %d, run %s", r.Attempt, r.ID)})
	}
	limited, cancel := l.limited(ctx)
	defer cancel()
	variables, err := l.watchShared(ctx, r)
	if err != nil {
		return "", err
	}
	ended, err := execution{
		app: l.app, store: storeDir(l.store), now: l.now, place: l.place, run: &r.Run, argv: l.Command, prompt: r.prompt, grace: l.Times.Grace,
	}.start(limited, variables...)
	if err != nil && r.Step != stepEnded {
		return "", err
	}
	r.Ended = l.now()
	switch {
	case err == nil && ctx.Err() == nil:
	case errors.Is(context.Cause(ctx), errLost):
		r.Cause = string(clone.OutcomeLost)
	default:
		r.Cause = string(clone.OutcomeStopped)
	}
	if ended.Left > 0 {
		l.tell(r.Issue, "processes that the command left running were ended: %d", ended.Left)
	}
	return sawEnd, l.record(&r.Run)
}

// limited returns a context that ends with the time limit of a run.
func (l *loop) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := l.runTimeout
	if runs, now, err := l.runs(); err == nil {
		limit = l.Bounds.RunLimit(limit, l.used(runs, now))
	}
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// tend gives signs of life and renews the claim of a run until stop is called, also while the
// loop waits for others to land and while checks run. The context ends if the claim is lost or
// a person ends the actor.
func (l *loop) tend(ctx context.Context, r *Run) (held context.Context, stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		defer close(ended)
		sign, renew, look := time.NewTicker(l.Times.Sign), time.NewTicker(l.Times.Renew), time.NewTicker(l.Times.Look)
		defer sign.Stop()
		defer renew.Stop()
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-sign.C:
				_ = actors.SignOfLife(l.app, l.name, nil) // the next one may succeed
			case <-renew.C:
				if r.Issue != "" && l.isLost(ctx, r) {
					cancel(errLost)
				}
			case <-look.C:
				if l.state(l.now()) == clone.Dead {
					cancel(errStopped)
				}
			}
		}
	}()
	return ctx, func() { close(done); <-ended; cancel(nil) }
}

// isLost renews the claim of an issue and reports whether the claim was lost. If the command
// closed the issue, no claim is needed.
func (l *loop) isLost(ctx context.Context, r *Run) bool {
	if err := service.Renew(ctx, l.fresh(ctx, ""), r.Issue); !fault.Is(err, fault.Conflict) {
		return false // if it cannot be renewed now, the next renewal may succeed
	}
	record, err := l.recordOf(r.Issue)
	if err != nil || !isClosed(record) {
		return err == nil
	}
	others, _ := l.closedByOthers(r)
	return others
}

// setUp runs the setup of the actor's file once in each new work tree.
func (l *loop) setUp(ctx context.Context, r *Run, dir string) error {
	if l.profile.Setup == "" {
		return nil
	}
	at, err := git.CheckoutOf(dir)
	if err != nil {
		return err
	}
	mark := filepath.Join(at.Own, "stig-setup")
	if text, err := os.ReadFile(mark); err == nil && string(text) == l.profile.Setup {
		return nil
	}
	if err := actors.Trusted(ctx, l.fresh(ctx, ""), l.profile); err != nil {
		return err
	}
	ctx, cancel := l.limited(ctx)
	defer cancel()
	out := new(process.Dropped)
	result, err := process.Run(ctx, process.Command{Argv: []string{"sh", "-c", l.profile.Setup}, Dir: dir, Env: environ(l.app, storeDir(l.store), &r.Run, ""), Stdout: out, Stderr: out})
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("setup: exit %d: %s", result.Exit, cmp.Or(lastLine(string(result.Stderr)), "(no output)"))
	}
	if err != nil {
		return err
	}
	return os.WriteFile(mark, []byte(l.profile.Setup), 0o600)
}

// lastLine returns the last meaningful line of an output, shortened. It skips lines of hints,
// with which git and stig end an error, and the cost, which is recorded separately.
func lastLine(text string) string {
	lines := slices.Collect(strings.Lines(text))
	slices.Reverse(lines)
	return lineOf(slices.Values(lines))
}

// lineOf returns the first meaningful line, shortened. It returns a hint or a cost only if
// there is nothing else.
func lineOf(lines iter.Seq[string]) string {
	found := ""
	for line := range lines {
		line = strings.TrimSpace(workspace.Visible(line))
		if line == "" {
			continue
		}
		found = line
		if !strings.HasPrefix(line, "hint:") && !strings.HasPrefix(line, "stig: cost=") {
			break
		}
	}
	short := []rune(visible.HideSecrets(found))
	return string(short[:min(len(short), 200)])
}
