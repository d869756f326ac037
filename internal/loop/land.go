package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// land merges the work of a run, checks the result, puts it on the branch that results
// go to, and closes the issue. Loops do that one after the other, and look at the issue when
// it is their turn: the checks of others may take long.
func (l *loop) land(ctx context.Context, r *Run) (observation, error) {
	if r.tree != nil {
		unlock, err := clone.LockOnto(ctx, l.place, l.trees.Onto, l.Cap)
		if err != nil {
			return "", err
		}
		defer func() { _ = unlock() }()
	}
	record, err := l.recordOf(r.Issue)
	if err != nil {
		return "", err
	}
	if !r.left.closed && isClosed(record) { // since the command ended
		_, r.Why = l.closedByOthers(r)
		return sawLost, nil
	}
	if r.Criteria != gate.Hash(gate.Of(record).Text()) {
		r.question.Text = fmt.Sprintf("The acceptance criteria changed while %s worked on the issue, so that its loop does not close it. Do they say what is wanted?\n%s", l.name, l.where(ctx, r))
		return sawCriteriaChanged, nil
	}
	if r.tree != nil {
		err = l.merge(ctx, r.tree)
	}
	var saw observation
	if err == nil {
		saw, err = l.suspect(ctx, r, record)
	}
	if err == nil && saw == "" {
		saw, err = l.prove(ctx, r, record)
	}
	refused, isRefused := errors.AsType[*git.RejectedError](err)
	switch {
	case isRefused && len(refused.Files) > 0:
		return r.refused(refused.Reason, refused.Exit, fmt.Sprintf("What others did is on %s. Type git merge %[1]s in the work tree, and resolve it there.", l.trees.Onto)), nil
	case isRefused:
		return r.refused(refused.Reason, refused.Exit, fenced(refused.Tail)), nil
	}
	return saw, err
}

// merge merges what others did into the work of a run, in the time of a run at most: a
// merge driver or a hook of the repository may hang.
func (l *loop) merge(ctx context.Context, tree *git.Worktree) error {
	limit := cmp.Or(l.runTimeout, time.Hour)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := tree.Merge(limited)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return &git.RejectedError{Reason: fmt.Sprintf("git merge: timed out after %s; a merge driver of the repository may hang", limit)}
	}
	return err
}

// refused keeps why the work of a run is not taken, with the exit code of what refused it,
// 0 where nothing ran, and Markdown for whoever does the next pass.
func (r *Run) refused(why string, exit int, text string) observation {
	r.Why, r.exit, r.feedback = why, exit, text
	if r.left.checkpoint {
		return sawRefusedProgress
	}
	return sawRefused
}

// reopen takes back a close that the command made itself.
func (l *loop) reopen(ctx context.Context, r *Run) error {
	if !r.left.closed {
		return nil
	}
	_, err := service.Reopen(context.WithoutCancel(ctx), l.fresh(ctx, ""), service.ReopenRequest{ID: r.Issue, Reason: "its work does not pass: " + r.Why})
	return err
}

// reject takes back a close that the command made itself, and tells the actor on the issue
// why its work was not taken.
func (l *loop) reject(ctx context.Context, r *Run) error {
	ctx = context.WithoutCancel(ctx)
	if err := l.reopen(ctx, r); err != nil {
		return err
	}
	content := map[string]any{"payload": visible.OneLine(r.Why), "to": l.name, "run": r.ID}
	if r.exit != 0 {
		content["exit"] = fmt.Sprint(r.exit)
	}
	return l.leave(ctx, gateName, traces.Draft{Issue: r.Issue, Type: trace.Feedback, Content: content, Body: r.feedback})
}

// prove runs the criteria, in the work tree of a run or in place, lands the work that
// passes and that they show, and closes the issue.
func (l *loop) prove(ctx context.Context, r *Run, record *beads.Record) (observation, error) {
	dir, remove, err := l.judgingTree(ctx, r)
	if err != nil {
		return "", err
	}
	defer func() { _ = remove(context.WithoutCancel(ctx)) }()
	gated, err := service.Gate(ctx, l.quiet(ctx, dir), r.Issue, service.CloseOptions{Reason: l.reason(record, r)})
	if errors.Is(err, workspace.ErrNotRun) && r.takenAsDone() {
		err = gated.Take(r.Taken.Word, r.Taken.By)
	}
	switch {
	case ctx.Err() != nil:
		return "", errors.New("while its checks ran")
	case errors.Is(err, workspace.ErrNotRun) && !r.takenAsDone():
		r.question = checkpoint.Question{Options: []string{checkpoint.OnMyWord, notDone}, Text: fmt.Sprintf("%s says that it is done, and its checks do not run: %v. Is it done? "+
			"With criteria that can be run the loop sees for itself: stig edit %s --acceptance TEXT, and then any answer.\n%s",
			l.name, err, visible.Quoted(r.Issue), l.where(ctx, r))}
		return sawNothingRun, nil
	case err != nil:
		return l.keptOpen(ctx, r, err)
	case !gated.Passed():
		return r.refused(failed(gated.Verdict(), strings.TrimLeft(l.saidLeftOut(r)+"\n\n"+r.lack, "\n"))), nil
	}
	if proven, err := l.isShown(ctx, r, gated, record); err != nil || !proven {
		return sawUnproven, err
	}
	after := context.WithoutCancel(ctx)
	if r.tree != nil {
		if err := r.tree.Land(after); err != nil {
			return "", err
		}
		_, tip := r.tree.Landing()
		if err := gated.KeepShown(l.shownAt(r, tip)); err != nil {
			l.app.Warn("%s: what its checks showed is not kept: %v", r.Issue, err) // they run once more before the next work
		}
	}
	r.Step = stepLanded
	if err := l.record(&r.Run); err != nil {
		return "", err
	}
	if _, err := gated.Close(after); err != nil {
		return l.keptOpen(after, r, err)
	}
	l.commitStore(after, r)
	return sawClosed, nil
}

// judgingTree is the directory in which the criteria of a run are run, and what removes it:
// its work tree, which must be that of the commit, or a fresh checkout of that.
func (l *loop) judgingTree(ctx context.Context, r *Run) (dir string, remove func(context.Context) error, err error) {
	stays := func(context.Context) error { return nil }
	if r.tree == nil {
		return l.root, stays, nil
	}
	if l.app.Config.Gate.Tree == workspace.TreeFresh {
		_, tip := r.tree.Landing()
		return l.checkout(ctx, r, tip)
	}
	differs, err := r.tree.Stands(ctx)
	if err == nil && len(differs) > 0 {
		err = &git.RejectedError{
			Reason: "the work tree is not what its commit says: " + strings.Join(differs[:min(len(differs), mostChanged)], "; "),
			Tail:   strings.Join(differs, "\n"),
		}
	}
	return r.tree.Dir, stays, err
}

// isShown reports whether the work of a run may land: its checks show it, or are to be green
// before it too, as their fences, the labels of the issue or the configuration say, or a
// person takes it. Else the run has the question for a person.
func (l *loop) isShown(ctx context.Context, r *Run, gated *service.PendingClose, record *beads.Record) (bool, error) {
	changed, known, err := l.landing(ctx, r)
	if err != nil {
		return false, err
	}
	gated.Read(changed)
	if r.Before == "" {
		return true, nil
	}
	gated.Compare(r.Before)
	v := gated.Verdict()
	some := len(changed) > 0 || !known && r.left.changed
	mayHold := some && (v.MayHold() || l.app.Config.MayHold(record.Labels()))
	if v.ShowsWork() || mayHold || r.takenAsDone() || l.app.Config.Gate.Held == workspace.HeldClose {
		return true, nil
	}
	var checks []string
	for _, o := range v.Outcomes() {
		checks = append(checks, fmt.Sprintf("- %s: %s", o.Difference, visible.FirstLine(o.Text)))
	}
	r.Why = "its checks pass, and none of them failed before the work"
	r.question = checkpoint.Question{Options: []string{checkpoint.TakeIt, rejectIt, writeCriterion}, Text: fmt.Sprintf(
		"The checks pass, and none of them failed before run %s of %s: they do not show what it did. Is the work to be taken?\n\n%s\n\n%s\n"+
			"A criterion that fails without the work shows it: stig edit %s --acceptance TEXT. Checks that are to hold stand in a fence marked verify held.\n%s",
		r.ID, l.name, strings.Join(checks, "\n"), l.diffOf(ctx, r), visible.Quoted(r.Issue), l.where(ctx, r))}
	return false, nil
}

// The other options of the question about work that no check shows; checkpoint.TakeIt is the first.
const (
	rejectIt       = "reject it: the work is to be done again"
	writeCriterion = "I have written a criterion: see whether it shows the work"
)

// keptOpen is why an issue is not closed though nobody found fault with the work: it
// waits for others, for an answer, or its criteria changed.
func (l *loop) keptOpen(ctx context.Context, r *Run, err error) (observation, error) {
	switch {
	case fault.Is(err, fault.Waits):
		return sawBlocked, nil
	case fault.Is(err, fault.Changed):
		r.question.Text = fmt.Sprintf("The acceptance criteria changed while they ran: %v. Do they say what is wanted?\n%s", err, l.where(ctx, r))
		return sawCriteriaChanged, nil
	case fault.Is(err, fault.Found):
		r.Why = visible.OneLine(err.Error())
		return sawUnclosable, nil
	}
	return "", err
}

// putAway removes the work tree of a closed issue, and has git pack what the loop committed.
// Both may take minutes in a large repository. None of it keeps the issue from being closed.
func (l *loop) putAway(ctx context.Context, r *Run) error {
	if r.tree == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if err := r.tree.Remove(ctx); err != nil {
		l.tell(r.Issue, "its work tree stays: %v", err)
	}
	if err := git.Upkeep(ctx, *l.trees); err != nil {
		l.once("git does not pack the repository: " + err.Error())
	}
	return nil
}

// commitStore commits the store after a close, where that was asked for.
func (l *loop) commitStore(ctx context.Context, r *Run) {
	if !l.Commit {
		return
	}
	a := l.fresh(ctx, "")
	commit, err := service.PrepareCommit(ctx, a, l.store.Place())
	if err == nil {
		_, err = commit(ctx, r.Issue)
	}
	if err != nil {
		l.app.Warn("%s: the store is not committed: %v", r.Issue, err)
	}
}

// reason is what a checkpoint says was done, else whose work it is.
func (l *loop) reason(record *beads.Record, r *Run) string {
	estimate, ok := signals.LastEstimate(notes.Parse(record.Text(beads.Notes)))
	done := ""
	if ok {
		done = firstSentences(signals.ReadEstimate(estimate.Body).Done)
	}
	if gate.SaysNothing(done) {
		done = fmt.Sprintf("%s: the work of %s in run %s", record.Text(beads.Title), l.name, r.ID)
	}
	return done
}

// mostReason is how long a close reason is, in characters.
const mostReason = 300

func firstSentences(text string) string {
	runes := []rune(visible.OneLine(text))
	if len(runes) > mostReason {
		return strings.TrimSpace(string(runes[:mostReason])) + " …"
	}
	return string(runes)
}

// failed says which check failed, with which exit code, and its last lines.
// lack is what the work tree has not of what they read.
func failed(v *gate.Verdict, lack string) (why string, exit int, text string) {
	o, why := failing(v)
	if why == "" {
		return "its checks did not pass", 1, lack
	}
	return why, o.Exit, strings.TrimLeft(lack+"\n\n", "\n") + fenced(o.Reason+"\n"+o.Tail)
}

// failing is the first check that ran and did not pass, and what happened; "" for none.
func failing(v *gate.Verdict) (o gate.Outcome, why string) {
	for _, o := range v.Outcomes() {
		if !o.Passed() && o.Exit != gate.ExitNotRun {
			return o, fmt.Sprintf("the check %s ends with exit code %d", o.Named(), o.Exit)
		}
	}
	return o, ""
}

// where says to a person where the work of a run is: a branch that a work tree has checked
// out cannot be checked out elsewhere.
func (l *loop) where(ctx context.Context, r *Run) string {
	if r.Branch == "" {
		return ""
	}
	text := "\nIts branch is " + r.Branch
	if l.trees != nil && r.Step != stepLanded {
		if dir, err := git.WorktreeAt(ctx, *l.trees, r.Branch); err == nil && dir != "" {
			text += ", in the work tree " + dir
		}
	}
	return text + ".\n"
}

// notDone is the other option of a question whether work is done of which nothing can be shown.
const notDone = "it is not done yet"

// exchanges are the questions about an issue, with what was answered.
func exchanges(record *beads.Record) []signals.Exchange {
	return signals.Exchanges(signals.Escalations(notes.Parse(record.Text(beads.Notes))))
}

// taken is the answer of a person that the issue of a run is done as it is, or lands if it
// passes; nil where the last one says otherwise, is an agent's, or had a run already.
func (l *loop) taken(r *Run) (*clone.Taken, error) {
	record, err := l.recordOf(r.Issue)
	if err != nil || record == nil {
		return nil, err
	}
	said := exchanges(record)
	if len(said) == 0 {
		return nil, nil
	}
	last := said[len(said)-1]
	if !l.takes(last, checkpoint.OnMyWord, checkpoint.TakeIt, checkpoint.NoSecret) {
		return nil, nil
	}
	t := &clone.Taken{By: last.Answer.By, Word: visible.OneLine(last.Answer.Text), Part: fmt.Sprint(len(said), " ", last.Question.Hash())}
	runs, _, err := l.runs()
	for _, e := range runs {
		if e.Issue == r.Issue && e.ID != r.ID && e.Taken != nil && e.Taken.Part == t.Part && !clone.Outcome(e.Outcome).IsRepeated() {
			return nil, nil
		}
	}
	return t, err
}

// takes reports whether a person answered a question of the loop with its first option, which
// is one of these.
func (l *loop) takes(e signals.Exchange, words ...string) bool {
	options := signals.ReadQuestion(e.Question.Text).Options
	return e.Answer != nil && len(options) > 0 && slices.Contains(words, options[0]) && strings.HasPrefix(e.Answer.Text, options[0]) &&
		service.IsPerson(l.app, l.place, e.Answer.By)
}

// takenAsDone reports whether a person takes the work whatever its checks show.
func (r *Run) takenAsDone() bool {
	return r.Taken != nil && !strings.HasPrefix(r.Taken.Word, checkpoint.NoSecret)
}
