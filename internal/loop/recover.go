package loop

import (
	"cmp"
	"context"
	"slices"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/service"
)

// recover resumes the runs of a killed loop of this name. The name is locked, so no other loop
// has it. What happens depends on the last recorded step:
//
//   - the command had not started or was running: it is ended and the run counts as stopped.
//     What it left is committed on the issue's branch, and the issue is tried again;
//   - the command had ended: what it left is examined now;
//   - its work had landed: the same, which merges nothing and closes the issue.
//
// A claim without a record of a run ends with the process that made it.
func (l *loop) recover(ctx context.Context) error {
	runs, _, err := l.runs()
	if err != nil {
		return err
	}
	beside := map[string][]clone.Run{}
	for _, r := range runs {
		switch {
		case holderOf(r) != l.name || r.Outcome != "" || l.isOthers(r):
			continue
		case r.Holder != "":
			beside[r.Issue] = append(beside[r.Issue], r)
			continue
		}
		if err := l.resume(ctx, &Run{state: runOrphaned, Run: r}); err != nil {
			return err
		}
	}
	for issue, left := range beside {
		if err := l.resumeContest(ctx, issue, left); err != nil {
			return err
		}
	}
	return nil
}

// holderOf returns the actor that holds the claim of a run.
func holderOf(r clone.Run) string { return cmp.Or(r.Holder, r.Actor) }

// isOthers reports whether a run belongs to another process, such as stig dream, or to another
// loop of this process.
func (l *loop) isOthers(r clone.Run) bool {
	self, _ := process.Self()
	running, _ := process.Running(r.Loop)
	return running && (holderOf(r) != l.name || !r.Loop.Same(self.ID))
}

// adopt makes a run of a killed loop one of this loop: its program is ended.
func (l *loop) adopt(r *Run) {
	l.app.EndProgram(r.Run, l.Times.Grace)
	spentUntilKilled(l.app, &r.Run)
	if r.Step != stepEnded && r.Step != stepLanded {
		r.Cause, r.Why = string(clone.OutcomeStopped), "its loop was killed"
	}
	if r.Step == "" {
		r.Why = "stig dream was killed"
	}
	if self, _ := process.Self(); !r.Loop.Same(self.ID) { // otherwise an error kept this loop from completing it
		if r.Step != "" { // a dream has no step; the next dream covers the same time
			l.tell(r.Issue, "run %s is unfinished because its loop was killed; resuming after %s", r.ID, r.Step)
		}
		r.Loop = self.ID
	}
	if r.Ended.IsZero() && r.Issue != "" {
		r.Ended = l.now() // before others, whose runs begin later, can get the issue
	}
}

// resume completes one run.
func (l *loop) resume(ctx context.Context, r *Run) error {
	l.adopt(r)
	if r.Issue == "" {
		return l.advance(ctx, r)
	}
	claimed, err := l.reclaim(ctx, r)
	if err != nil {
		return err
	}
	lease, held := service.LeaseOf(l.fresh(ctx, ""), r.Issue)
	if !claimed && held && lease.Run != "" && lease.Run != r.ID {
		return nil // the loop that has it now ends the record before its own run begins
	}
	runs, _, err := l.runs() // read after the lease: a loop that had the issue meanwhile has ended the record
	if err != nil {
		return err
	}
	if slices.ContainsFunc(runs, func(e clone.Run) bool { return e.ID == r.ID && e.Outcome != "" }) {
		if held && lease.Run == r.ID {
			l.release(ctx, r.Issue)
		}
		return nil
	}
	if !claimed {
		r.Cause, r.Why = string(clone.OutcomeLost), "another worker has the issue since its loop was killed"
	}
	return l.advance(ctx, r)
}

// reclaim claims the issue of a killed loop again and reports whether the run may continue. It
// may also if the issue is closed or waits for an answer, since the run itself may have done
// that.
func (l *loop) reclaim(ctx context.Context, r *Run) (bool, error) {
	record, err := l.recordOf(r.Issue)
	if record != nil {
		l.known[r.Issue] = wordsOf(record)
	}
	if err != nil || record == nil || isClosed(record) {
		return record != nil, err
	}
	_, err = service.Claim(ctx, l.fresh(ctx, ""), service.ClaimRequest{ID: r.Issue, Loop: &service.LoopClaim{
		Run: r.ID, Lasts: l.Times.Lasts, Cap: l.Cap,
	}})
	switch {
	case fault.Is(err, fault.Waits): // it asked a person
		return true, nil
	case isRace(err):
		return false, nil
	}
	return err == nil, err
}

// furnishAgain finds the work tree of a run whose loop was killed; none in place, or if nothing
// of the run is kept.
func (l *loop) furnishAgain(ctx context.Context, r *Run) (_ observation, err error) {
	if l.trees != nil && r.Issue != "" && r.Cause != string(clone.OutcomeLost) && (r.Branch != "" || r.Step != stepClaimed) {
		if err = l.findUpon(ctx, r); err == nil {
			r.tree, err = git.PrepareWorktree(ctx, l.treesOf(r), r.Issue)
		}
	}
	return sawReady, err
}

// tidy removes the work trees of issues that were closed since their last run, for example by a
// person. Work trees with unmerged work, and those in use, stay.
func (l *loop) tidy(ctx context.Context) {
	if l.trees == nil {
		return
	}
	if w, err := l.watch(ctx); err == nil {
		_ = w.ForgetStashes(ctx) // an extra reference does no harm
	}
	trees, err := git.Worktrees(ctx, *l.trees)
	if err != nil {
		l.app.Warn("work trees of closed issues were not removed: %v", err)
		return
	}
	busy := map[string]bool{}
	runs, _, err := l.runs()
	if err != nil {
		return // keep what may be in use
	}
	for _, r := range runs {
		busy[r.Issue] = busy[r.Issue] || r.Outcome == ""
	}
	for _, tree := range trees {
		if tree.Issue == "" || busy[tree.Issue] {
			continue
		}
		record, err := l.recordOf(tree.Issue)
		if err != nil || !isClosed(record) {
			continue
		}
		remove := tree.Remove
		if tree.IsOfWorker() {
			remove = func(ctx context.Context) error { return l.retireTree(ctx, tree) }
		}
		if err := remove(ctx); err != nil {
			l.once("work tree not removed: " + tree.Issue + ": " + err.Error())
		}
	}
}
