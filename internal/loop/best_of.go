package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"stig/checkpoint"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/loop/actors"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// MostWorkers is the maximum number of workers that do one issue side by side.
const MostWorkers = 32

// contest is several workers that do one issue side by side. The loop holds the claim of all.
type contest struct {
	*loop
	head    *Run // the claim; it has no record
	all     []*contender
	resumed bool       // its loop was killed, and this one completes it
	winner  *contender // whose work landed; nil for none
	reached string     // the limit that kept others from starting; "" for none
	checks  sync.Mutex // setups and checks run one at a time
}

// contender is one worker of a contest.
type contender struct {
	*loop
	run   *Run // nil before it starts
	lines int  // that its commits change
	err   error
}

// errBeaten ends the runs of the others once one passed.
var errBeaten = errors.New("another worker passed")

// mayCompete checks a request for several workers, and names them.
func (l *loop) mayCompete() error {
	switch {
	case l.BestOf == 0 && (l.Smallest || l.Jobs != 0):
		return workspace.Usage("--smallest and --jobs need --best-of", "")
	case l.BestOf == 0:
		return nil
	case l.BestOf < 2 || l.BestOf > MostWorkers:
		return workspace.Usage(fmt.Sprintf("--best-of: must be a number of workers from 2 to %d; found %d", MostWorkers, l.BestOf), "")
	case l.Jobs < 0:
		return workspace.Usage(fmt.Sprintf("--jobs: must be above 0; found %d", l.Jobs), "")
	case l.filter.issue == "":
		return workspace.Usage("--best-of: needs the id of one issue", "type stig ready to list what can be started")
	case l.NoClose:
		return workspace.Usage("--best-of lands the work that passes, and --no-close lands none", "omit one of them")
	case l.trees == nil:
		return workspace.Usage("--best-of: needs a work tree for each worker, and these work in place", "type git init, or remove worktree: false from the actor's file")
	}
	l.Crew = nil
	for k := range l.BestOf {
		l.Crew = append(l.Crew, fmt.Sprintf("%s-%d", l.name, k+1))
	}
	return nil
}

// compete has several workers do a claimed issue side by side, as one attempt. The first work
// that passes its checks lands, or with Smallest the one that changes the fewest lines; that of
// the others becomes leftovers. If none passes, a person is asked once.
func (l *loop) compete(ctx context.Context, head *Run) (err error) {
	if head.Taken, err = l.taken(head); err != nil {
		return err
	}
	if head.Taken != nil {
		if err := l.record(&head.Run); err != nil {
			return err
		}
		return l.perform(ctx, head)
	}
	if err := l.retire(ctx, head.Issue, func(string) bool { return true }); err != nil {
		return err
	}
	l.inHand = true
	_ = actors.SignOfLife(l.app, l.name, func(p *clone.Presence) { p.Issue = head.Issue })
	c := &contest{loop: l, head: head}
	for _, name := range l.Crew {
		c.all = append(c.all, l.contender(ctx, name))
	}
	return c.run(ctx)
}

// resumeContest completes the runs of a killed loop that worked side by side. The work of those
// that had ended is judged; the others count as stopped.
func (l *loop) resumeContest(ctx context.Context, issue string, left []clone.Run) error {
	c := &contest{loop: l, resumed: true, head: &Run{Run: clone.Run{ID: left[0].ID, Actor: l.name, Issue: issue, Started: left[0].Started}}}
	for _, r := range left {
		x := l.contender(ctx, r.Actor)
		x.run = &Run{state: runOrphaned, Run: r}
		x.adopt(x.run)
		c.all = append(c.all, x)
	}
	claimed, err := l.reclaim(ctx, c.head)
	if err != nil {
		return err
	}
	for _, x := range c.all {
		x.known[issue] = l.known[issue]
		if !claimed {
			x.run.Cause, x.run.Why = string(clone.OutcomeLost), "another worker has the issue since its loop was killed"
		}
	}
	return c.run(ctx)
}

// contender returns a worker that acts for the claim of this loop.
func (l *loop) contender(ctx context.Context, name string) *contender {
	app := l.app.Fresh(ctx, "work")
	app.Cache = nil
	own := *l
	own.app, own.name = app.Lasting(ctx, "work", l.name), name
	own.known, own.noticed = maps.Clone(l.known), map[string]bool{}
	own.inbox, own.records, own.watched, own.done = inbox{}, clone.RunLog{}, nil, Done{}
	if l.trees != nil {
		trees := *l.trees
		trees.Worker, own.trees = name, &trees
	}
	return &contender{loop: &own}
}

// run runs the contenders, has their work judged, and completes the issue. If one meets an
// error, its run stays open, and the next turn of the loop resumes it.
func (c *contest) run(ctx context.Context) error {
	held, stop := c.tend(ctx, c.head)
	defer stop()
	working, end := context.WithCancelCause(held)
	defer end(nil)
	var failed error
	var offered []*contender
	ended, active, waiting := make(chan *contender), 0, c.all
	for {
		for len(waiting) > 0 && active < cmp.Or(c.Jobs, len(c.all)) && working.Err() == nil && failed == nil {
			x := waiting[0]
			waiting = waiting[1:]
			if mayRun, err := c.begin(x); !mayRun || err != nil {
				waiting, failed = nil, err
				break
			}
			active++
			go func() { x.err = c.work(working, x); ended <- x }()
		}
		if active == 0 {
			break
		}
		x := <-ended
		active--
		if x.err == nil && x.run.state == runOffered && (c.Smallest || c.resumed) {
			offered = append(offered, x)
			continue
		}
		failed = errors.Join(failed, x.err)
		if x.err == nil {
			failed = errors.Join(failed, c.judge(working, end, x))
		}
	}
	slices.SortStableFunc(offered, func(a, b *contender) int {
		return cmp.Or(cmp.Compare(a.lines, b.lines), cmp.Compare(slices.Index(c.all, a), slices.Index(c.all, b)))
	})
	for _, x := range offered {
		failed = errors.Join(failed, c.judge(working, end, x))
	}
	return errors.Join(failed, c.finish(context.WithoutCancel(ctx), held.Err() == nil && failed == nil))
}

// begin records the run of a contender, unless a limit is reached.
func (c *contest) begin(x *contender) (mayRun bool, err error) {
	if x.run != nil { // of a killed loop
		return true, nil
	}
	runs, now, err := x.runs()
	if err != nil {
		return false, err
	}
	if c.reached = x.Bounds.Reached(x.used(runs, now)); c.reached != "" {
		return false, nil
	}
	r := &Run{state: runClaimed, Run: c.head.Run}
	r.ID, r.Actor, r.Holder, r.Task, r.Started = clone.NewRunID(), x.name, c.name, clone.BestOfTask, now
	if err := x.standing(r, &checkpoint.Claimed{}); err != nil {
		return false, err
	}
	x.run = r
	return true, x.record(&r.Run)
}

// work takes the run of a contender to its end, or until its work has to be judged.
func (c *contest) work(ctx context.Context, x *contender) error {
	sign := func(issue, run string) {
		_ = actors.SignOfLife(x.app, x.name, func(p *clone.Presence) {
			if p.Kind, p.Issue, p.Run = clone.Agent, issue, run; run == "" {
				p.Process = process.ID{}
			}
		})
	}
	sign(x.run.Issue, x.run.ID)
	defer sign("", "")
	c.checks.Lock()
	err := x.advance(ctx, x.run, runPrepared, runOffered, runSettled)
	c.checks.Unlock()
	if err == nil {
		err = x.advance(ctx, x.run, runOffered, runSettled)
	}
	if err == nil && x.run.state == runOffered && x.run.tree != nil {
		var s git.Stat
		s, err = git.StatOf(context.WithoutCancel(ctx), *x.trees, git.Unit{From: x.run.tree.Base, Commit: x.run.Commit})
		x.lines = s.Added + s.Deleted
	}
	return err
}

// judge has the work of a contender land if it passes, unless another's did, and completes its
// record. Once one passed, end ends the runs of the others.
func (c *contest) judge(ctx context.Context, end context.CancelCauseFunc, x *contender) error {
	if x.run.state == runOffered && c.winner != nil {
		x.run.state, x.run.outcome = runJudged, clone.OutcomeStopped
	}
	c.checks.Lock()
	err := x.advance(ctx, x.run, runSettled)
	c.checks.Unlock()
	if err != nil {
		return err
	}
	switch {
	case x.run.outcome == clone.OutcomeClosed && c.winner == nil:
		c.winner = x
		end(errBeaten)
	case x.run.outcome == clone.OutcomeStopped && c.winner != nil && c.Smallest:
		x.run.Why = fmt.Sprintf("%s passed with %s", c.winner.name, visible.Counted(c.winner.lines, "changed line"))
	case x.run.outcome == clone.OutcomeStopped && c.winner != nil:
		x.run.Why = c.winner.name + " passed first"
	}
	return x.advance(ctx, x.run)
}

// finish asks a person if no work landed although the runs came to an end, sets the work of the
// others aside, and releases the issue.
func (c *contest) finish(ctx context.Context, isOver bool) error {
	id := c.head.Issue
	var ran []*contender
	for _, x := range c.all {
		if x.run != nil && x.run.state == runConcluded {
			ran = append(ran, x)
		}
	}
	c.raced = isOver && !c.resumed
	waits, err := c.conclusion(ctx, ran)
	if err != nil {
		return err
	}
	if !waits { // otherwise a person looks at the work trees
		err := c.retire(ctx, id, func(branch string) bool {
			return slices.ContainsFunc(ran, func(x *contender) bool { return x.run.Branch == branch })
		})
		if err != nil {
			c.tell(id, "the work trees of its workers were not removed: %v", err) // the next run of the issue removes them
		}
	}
	for _, x := range ran {
		if x.run.Asked = c.head.Asked; x.run.Asked {
			if err := x.record(&x.run.Run); err != nil {
				return err
			}
		}
		c.done.Runs = append(c.done.Runs, actors.RunOf(x.run.Run))
	}
	if c.winner == nil {
		c.release(ctx, id)
	}
	return nil
}

// conclusion sets why the loop ends, and asks a person if all runs came to an end without work
// that passes. It reports whether a question waits.
func (c *contest) conclusion(ctx context.Context, ran []*contender) (waits bool, err error) {
	what := visible.Counted(len(ran), "run")
	switch {
	case c.winner != nil:
		c.done.Reason = fmt.Sprintf("%s is closed with the work of %s", c.head.Issue, c.winner.name)
	case slices.ContainsFunc(ran, func(x *contender) bool { return x.run.left.asked }):
		c.done.Reason, waits = "a worker asked a person", true
	case !c.raced: // the attempt is not over
	case slices.ContainsFunc(ran, func(x *contender) bool { return x.run.outcome == clone.OutcomeLost }),
		!slices.ContainsFunc(ran, func(x *contender) bool { return !x.run.outcome.IsRepeated() }):
		c.done.Reason = cmp.Or(c.reached, fmt.Sprintf("none of %s passed", what))
	default:
		err = c.askWhich(ctx, ran)
		c.done.Reason, waits = fmt.Sprintf("none of %s passed; a person was asked", what), c.head.Asked
	}
	if waits && c.raced {
		c.done.Asked, c.done.Waiting = 1, true
	}
	return waits, err
}

// askWhich asks a person about the issue, with the diff of each worker.
func (c *contest) askWhich(ctx context.Context, ran []*contender) error {
	var text strings.Builder
	var options []string
	why := ""
	for _, x := range ran {
		r := x.run
		if r.Commit == "" { // failed runs are not committed
			if err := x.keepTree(ctx, r); err != nil {
				return err
			}
		}
		said := strings.ReplaceAll(cmp.Or(r.Why, r.Said), "`", "'")
		if o := r.question.Options; len(o) > 0 && (o[0] == checkpoint.OnMyWord || o[0] == checkpoint.TakeIt) {
			options, said = append(options, checkpoint.TakeWorkOf+x.name+takeEnd), cmp.Or(r.Why, "no check can be run")
		}
		if why == "" && said != "" {
			why = ": `" + said + "`"
		}
		fmt.Fprintf(&text, "\n%s, run %s: %s", x.name, r.ID, r.outcome)
		if said != "" {
			fmt.Fprintf(&text, ": `%s`", said)
		}
		if r.Branch != "" {
			fmt.Fprintf(&text, "\n\n%s\n`git diff %s...%s` shows it.\n", c.stat(ctx, r.Base, cmp.Or(r.Commit, r.Base)), visible.Quoted(c.trees.Onto), visible.Quoted(r.Branch))
		}
	}
	first := fmt.Sprintf("None of %s passed%s", visible.Counted(len(ran), "run"), why)
	ask := ". What should change? It is not tried again until somebody answers.\n"
	if len(options) > 0 {
		options = append(options, tryAgain)
		ask = ". Should one be accepted?\n"
	}
	c.head.question = checkpoint.Question{Text: first + ask + text.String(), Options: options}
	_, err := c.ask(ctx, c.head)
	return err
}

// takeEnd ends the option by which a person takes the work of one of several workers; tryAgain
// is the last option.
const (
	takeEnd  = ": merge it, and close the issue"
	tryAgain = "none: the work is to be done again"
)

// takenWorker returns the worker whose work a person takes with an answer; "" for none.
func (l *loop) takenWorker(e signals.Exchange) string {
	if e.Answer == nil || !service.IsPerson(l.app, l.place, e.Answer.By) {
		return ""
	}
	for _, option := range signals.ReadQuestion(e.Question.Text).Options {
		if name, ok := strings.CutPrefix(option, checkpoint.TakeWorkOf); ok && strings.HasPrefix(e.Answer.Text, option) {
			return strings.TrimSuffix(name, takeEnd)
		}
	}
	return ""
}

// treesOf returns the options of the work tree of a run: that of its worker, or of the worker
// whose work a person took. Stacked work has the branch of a request for its results.
func (l *loop) treesOf(r *Run) git.WorktreeOptions {
	trees := *l.trees
	if r.Taken != nil && r.Taken.Worker != "" {
		trees.Worker = r.Taken.Worker
	}
	if r.upon.Number != 0 {
		trees.Onto = git.RequestBranch(r.upon.Branch)
	}
	return trees
}

// retire removes the work trees and branches of workers that did an issue side by side, for those
// branches that pick selects. What they contain becomes leftovers. None of their programs runs.
func (l *loop) retire(ctx context.Context, issue string, pick func(branch string) bool) error {
	if l.trees == nil {
		return nil
	}
	trees, err := git.Worktrees(ctx, *l.trees)
	for _, tree := range trees {
		if tree.Issue == issue && tree.IsOfWorker() && pick(tree.Branch) {
			err = errors.Join(err, l.retireTree(ctx, tree))
		}
	}
	return err
}

// retireTree is retire for one work tree.
func (l *loop) retireTree(ctx context.Context, tree *git.Worktree) error {
	if !workspace.Exists(tree.Dir) {
		return tree.Forget(ctx)
	}
	r := &Run{Run: clone.Run{Issue: tree.Issue}, tree: tree}
	last, err := l.lastIn(r)
	if err != nil {
		return err
	}
	return l.aside(ctx, r, last, true, fmt.Sprintf("run %s of %s did not land; its changes", last.ID, workspace.Visible(last.Actor)))
}
