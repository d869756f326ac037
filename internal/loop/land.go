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

// land merges the work of a run, checks the result, moves the branch for results to it, and
// closes the issue. Loops land one at a time. Each reads the issue again when its turn comes,
// since the checks of others may take long.
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
	if !r.left.closed && isClosed(record) { // closed since the command ended
		_, r.Why = l.closedByOthers(r)
		return sawLost, nil
	}
	if r.Criteria != gate.Hash(gate.Of(record).Text()) {
		r.question.Text = fmt.Sprintf("The acceptance criteria changed while %s worked on the issue, so the loop does not close it. Do they say what you want?\n%s", l.name, l.where(ctx, r))
		return sawCriteriaChanged, nil
	}
	if r.tree != nil {
		if err = l.findUpon(ctx, r); err == nil { // that request may have landed meanwhile
			r.tree.GoOnto(l.treesOf(r).Onto)
			_, err = l.receive(ctx, r)
		}
		if err == nil {
			err = l.merge(ctx, r.tree)
		}
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
		return r.refused("", refused.Reason, refused.Exit, fmt.Sprintf("Work of others is on %s. Type git merge %[1]s in the work tree and resolve the conflicts there.", refused.Onto)), nil
	case isRefused:
		return r.refused(firstSaid("git", refused.Tail), refused.Reason, refused.Exit, fenced(refused.Tail)), nil
	}
	return saw, err
}

// merge merges the work of others into that of a run. The time limit is that of a run, since a
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

// refused records why the work of a run was rejected: by is what rejected it, as firstSaid
// returns it; exit is its exit code, 0 if nothing ran; text is Markdown for the next pass.
func (r *Run) refused(by, why string, exit int, text string) observation {
	r.Refused, r.Why, r.exit, r.feedback = by, why, exit, text
	if r.tree != nil && r.upon.Number == 0 {
		from, _ := r.tree.Landing()
		r.Onto = cmp.Or(from, r.tree.Tip)
	}
	switch {
	case r.Regated:
		return sawRefusedAgain
	case r.left.checkpoint:
		return sawRefusedProgress
	}
	return sawRefused
}

// reopen reverts a close that the command made itself.
func (l *loop) reopen(ctx context.Context, r *Run) error {
	if !r.left.closed {
		return nil
	}
	_, err := service.Reopen(context.WithoutCancel(ctx), l.fresh(ctx, ""), service.ReopenRequest{ID: r.Issue, Reason: "its work does not pass: " + r.Why})
	return err
}

// reject reverts a close that the command made itself, and leaves the reason for the rejection
// on the issue.
func (l *loop) reject(ctx context.Context, r *Run) error {
	ctx = context.WithoutCancel(ctx)
	if err := l.reopen(ctx, r); err != nil {
		return err
	}
	content := map[string]any{"payload": visible.OneLine(r.Why), "to": l.name, "run": r.ID}
	if r.exit != 0 {
		content["exit"] = fmt.Sprint(r.exit)
	}
	return l.leave(ctx, traces.GateName, traces.Draft{Issue: r.Issue, Type: trace.Feedback, Content: content, Body: strings.TrimLeft(r.feedback+"\n\n"+l.strayWork(ctx, r), "\n")})
}

// prove runs the criteria in the work tree of a run or in place. If they pass and show the
// work, it lands the work and closes the issue.
func (l *loop) prove(ctx context.Context, r *Run, record *beads.Record) (observation, error) {
	dir, remove, err := l.judgingTree(ctx, r)
	if err != nil {
		return "", err
	}
	defer func() { _ = remove(context.WithoutCancel(ctx)) }()
	reason, done := l.reason(ctx, record, r)
	gated, err := service.Gate(ctx, l.quiet(ctx, dir), r.Issue, service.CloseOptions{Reason: reason, Stacked: r.upon.Number != 0})
	if errors.Is(err, workspace.ErrNotRun) && r.takenAsDone() {
		err = gated.Take(r.Taken.Word, r.Taken.By)
	}
	switch {
	case ctx.Err() != nil:
		return "", errors.New("while its checks ran")
	case errors.Is(err, workspace.ErrNotRun) && !r.takenAsDone():
		r.question = checkpoint.Question{Options: []string{checkpoint.OnMyWord, notDone}, Text: fmt.Sprintf("%s says that it is done, and its checks do not run: %v. Is it done? "+
			"With criteria that can be run the loop checks this itself: type stig edit %s --acceptance TEXT, then give any answer.\n%s",
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
	if l.byReview() {
		if sent, err := l.send(after, r, record, gated, done); sent || err != nil {
			return sawInReview, err
		}
	} else if r.tree != nil {
		if err := r.tree.Land(after); err != nil {
			return "", err
		}
		_, tip := r.tree.Landing()
		if err := gated.KeepShown(l.shownAt(r, tip)); err != nil {
			l.app.Warn("%s: the results of its checks were not stored: %v", r.Issue, err) // they run again before the next work
		}
	}
	r.Step = stepLanded
	if err := l.record(&r.Run); err != nil {
		return "", err
	}
	l.keepDone(after, r, done)
	if _, err := gated.Close(after); err != nil {
		return l.keptOpen(after, r, err)
	}
	l.commitStore(after, r)
	return sawClosed, nil
}

// keepDone records what was done in the issue of a run; "" for nothing to add.
func (l *loop) keepDone(ctx context.Context, r *Run, done string) {
	if done == "" {
		return
	}
	if _, err := service.Checkpoint(ctx, l.fresh(ctx, ""), service.CheckpointRequest{ID: r.Issue, Estimate: signals.Estimate{Done: done}}); err != nil {
		l.app.Warn("%s: what was done was not recorded in the issue: %v", r.Issue, err) // the reason of the close has it
	}
}

// mostChanged is how many paths a message lists.
const mostChanged = 5

// judgingTree returns the directory in which the criteria of a run are run, and a function that
// removes it. It is the run's work tree, which must match its commit, or a fresh checkout of
// that commit.
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
			Reason: "the work tree differs from its commit: " + strings.Join(differs[:min(len(differs), mostChanged)], "; "),
			Tail:   strings.Join(differs, "\n"),
		}
	}
	return r.tree.Dir, stays, err
}

// isShown reports whether the work of a run may land: its checks show the work; or they may
// pass before it too, according to their fences, the issue's labels or the configuration; or a
// person accepts it. Otherwise it sets the question for a person.
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
		"The checks pass, and none of them failed before run %s of %s: they do not show what it did. Should the work be accepted?\n\n%s\n\n%s\n"+
			"A criterion that fails without the work shows it: stig edit %s --acceptance TEXT. Put checks that pass before and after into a fence marked verify held.\n%s",
		r.ID, l.name, strings.Join(checks, "\n"), l.diffOf(ctx, r), visible.Quoted(r.Issue), l.where(ctx, r))}
	return false, nil
}

// Further options of the question about work that no check shows; the first is
// checkpoint.TakeIt.
const (
	rejectIt       = "reject it: the work is to be done again"
	writeCriterion = "I have written a criterion: see whether it shows the work"
)

// keptOpen handles an error that keeps an issue open although the work was accepted: it waits
// for other issues or an answer, or its criteria changed.
func (l *loop) keptOpen(ctx context.Context, r *Run, err error) (observation, error) {
	switch {
	case fault.Is(err, fault.Waits):
		return sawBlocked, nil
	case fault.Is(err, fault.Changed):
		r.question.Text = fmt.Sprintf("The acceptance criteria changed while they ran: %v. Do they say what you want?\n%s", err, l.where(ctx, r))
		return sawCriteriaChanged, nil
	case fault.Is(err, fault.Found):
		r.Why = visible.OneLine(err.Error())
		return sawUnclosable, nil
	}
	return "", err
}

// putAway removes the work tree of a closed issue and lets git pack the loop's commits. Both
// may take minutes in a large repository. Errors do not keep the issue open.
func (l *loop) putAway(ctx context.Context, r *Run) error {
	if r.tree == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if err := r.tree.Remove(ctx); err != nil {
		l.tell(r.Issue, "its work tree was not removed: %v", err)
	}
	if err := git.Upkeep(ctx, *l.trees); err != nil {
		l.once("git did not pack the repository: " + err.Error())
	}
	return nil
}

// commitStore commits the store after a close if requested.
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
		l.app.Warn("%s: the store was not committed: %v", r.Issue, err)
	}
}

// reason returns the close reason: what a checkpoint says was done; otherwise what the commits
// say; otherwise whose work it is. If it is from the commits, done is their full text, to be
// recorded in the issue.
func (l *loop) reason(ctx context.Context, record *beads.Record, r *Run) (reason, done string) {
	if estimate, ok := signals.LastEstimate(notes.Parse(record.Text(beads.Notes))); ok && !l.isOfOther(r) {
		said := signals.ReadEstimate(estimate.Body).Done
		if reason = firstSentences(said); !gate.SaysNothing(reason) {
			return reason, ""
		}
		if said != "" {
			return l.whose(record, r), ""
		}
	}
	if done = l.fromCommits(ctx, r); done == "" {
		return l.whose(record, r), ""
	}
	return firstSentences(done), done
}

// isOfOther reports whether the last checkpoint is that of another worker, of several at the
// issue of a run.
func (l *loop) isOfOther(r *Run) bool {
	names := l.editors(r, changesNotes)
	return r.Holder != "" && len(names) > 0 && !l.isOwn(names[len(names)-1])
}

func (l *loop) whose(record *beads.Record, r *Run) string {
	return fmt.Sprintf("%s: the work of %s in run %s", record.Text(beads.Title), l.name, r.ID)
}

const (
	mostNamed   = 10  // commits or files listed for a run without a checkpoint
	mostSubject = 120 // maximum characters of each
)

// fromCommits describes the commits of a run by their subjects and changed files; "" if there
// are none or git fails.
func (l *loop) fromCommits(ctx context.Context, r *Run) string {
	if l.code.Root == "" {
		return ""
	}
	from, tip, without, there := r.Base, "HEAD", "", l.app.GitIn(l.code.Root)
	if r.tree != nil {
		from, tip = r.tree.Landing()
		without, there = l.trees.Store, l.app.GitIn(r.tree.Dir)
	}
	said, err := there.Must(ctx, "log", "--no-merges", "--reverse", "--format=%s", from+".."+tip)
	if err != nil || strings.TrimSpace(said) == "" {
		return ""
	}
	text := "from the commits: " + namedFirst(strings.Split(strings.TrimSpace(said), "\n"), "; ")
	changed, err := there.Between(ctx, from, tip, without)
	if err != nil || len(changed) == 0 {
		return text
	}
	var files []string
	for _, c := range changed {
		files = append(files, c.Path)
	}
	return text + ". It changed " + namedFirst(files, ", ")
}

// namedFirst lists the first items and counts the others.
func namedFirst(list []string, between string) string {
	var named []string
	for _, one := range list[:min(len(list), mostNamed)] {
		named = append(named, visible.Clipped(visible.OneLine(visible.HideSecrets(workspace.Visible(one))), mostSubject))
	}
	text := strings.Join(named, between)
	if more := len(list) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// mostReason is the maximum length of a close reason in characters.
const mostReason = 300

func firstSentences(text string) string {
	runes := []rune(visible.OneLine(text))
	if len(runes) > mostReason {
		return strings.TrimSpace(string(runes[:mostReason])) + " …"
	}
	return string(runes)
}

// failed returns the failed check, its first output, its exit code, and feedback with its last
// lines. lack is a note on what the checks read and the work tree does not have.
func failed(v *gate.Verdict, lack string) (by, why string, exit int, text string) {
	o, why := failing(v)
	if why == "" {
		return "", "its checks did not pass", 1, lack
	}
	program := visible.FirstLine(o.Text)
	if o.Failed != nil {
		program = o.Failed.Command
	}
	program, _, _ = strings.Cut(program, " ")
	return firstSaid(program, o.Tail), why, o.Exit, strings.TrimLeft(lack+"\n\n", "\n") + fenced(o.Reason+"\n"+o.Tail)
}

// failing returns the first check that ran and did not pass, and what happened; "" for none.
func failing(v *gate.Verdict) (o gate.Outcome, why string) {
	for _, o := range v.Outcomes() {
		if !o.Passed() && o.Exit != gate.ExitNotRun {
			return o, fmt.Sprintf("the check %s ends with exit code %d", o.Named(), o.Exit)
		}
	}
	return o, ""
}

// where tells a person where the work of a run is. A branch that is checked out in a work tree
// cannot be checked out elsewhere.
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
	text += ".\n"
	if stray := l.strayWork(ctx, r); stray != "" {
		text += "\nIts work is elsewhere:\n\n" + stray
	}
	return text
}

// notDone is the second option of the question whether work is done that no check can show.
const notDone = "it is not done yet"

// exchanges returns the questions about an issue with their answers.
func exchanges(record *beads.Record) []signals.Exchange {
	return signals.Exchanges(signals.Escalations(notes.Parse(record.Text(beads.Notes))))
}

// taken returns a person's answer that the issue of a run is done as it is, or lands if it
// passes. It is nil if the last answer says otherwise, is not from a person, or has already
// been used by a run.
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
	worker := l.takenWorker(last)
	if worker == "" && !l.takes(last, checkpoint.OnMyWord, checkpoint.TakeIt, checkpoint.NoSecret) {
		return nil, nil
	}
	t := &clone.Taken{By: last.Answer.By, Word: visible.OneLine(last.Answer.Text), Part: fmt.Sprint(len(said), " ", last.Question.Hash()), Worker: worker}
	runs, _, err := l.runs()
	for _, e := range runs {
		if e.Issue == r.Issue && e.ID != r.ID && e.Taken != nil && e.Taken.Part == t.Part && !clone.Outcome(e.Outcome).IsRepeated() {
			return nil, nil
		}
	}
	return t, err
}

// takes reports whether a person answered a question of the loop with its first option and that
// option is one of words.
func (l *loop) takes(e signals.Exchange, words ...string) bool {
	options := signals.ReadQuestion(e.Question.Text).Options
	return e.Answer != nil && len(options) > 0 && slices.Contains(words, options[0]) && strings.HasPrefix(e.Answer.Text, options[0]) &&
		service.IsPerson(l.app, l.place, e.Answer.By)
}

// takenAsDone reports whether a person accepts the work whatever its checks show.
func (r *Run) takenAsDone() bool {
	return r.Taken != nil && !strings.HasPrefix(r.Taken.Word, checkpoint.NoSecret)
}
