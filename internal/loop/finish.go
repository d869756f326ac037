package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/loop/actors"
	"stig/internal/merge"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// finish looks at what a run left whose command has ended, and does what follows. It can
// be done again from the start: what was done already changes nothing.
func (l *loop) finish(ctx context.Context, r *clone.Run, tree *git.Worktree) error {
	after := context.WithoutCancel(ctx) // an interrupt ends checks, and keeps nothing from being put away
	if r.Task == taskHeartbeat {
		return l.finishBeat(r)
	}
	left, err := l.left(after, r, tree)
	if err != nil {
		return err
	}
	if r.Step == stepLanded && left.Closed { // the loop was killed after that: nothing is left to decide
		l.commitStore(after, r)
		l.putAway(after, r, tree)
		return l.conclude(after, r, clone.OutcomeClosed)
	}
	outcome, land := left.Outcome()
	if clone.Outcome(r.Cause) != clone.OutcomeLost {
		err := l.keep(ctx, r, tree, outcome)
		if refused, ok := errors.AsType[*git.RejectedError](err); ok && land {
			if refused.Unable != nil {
				return refused.Unable // nobody's work is at fault: the loop tries again to bring this run to its end, and starts none
			}
			r.Why = refused.Reason
			if outcome, err = l.rejected(ctx, r, left, refused.Reason, refused.Exit, fenced(refused.Tail)); err == nil {
				return l.conclude(after, r, outcome)
			}
		} else if ok {
			err = nil // it stays in the work tree as it is
		}
		if err != nil {
			return l.abandon(ctx, r, err)
		}
	}
	switch {
	case land && l.NoClose:
		outcome = clone.OutcomeAdvanced
		if left.Closed {
			outcome = clone.OutcomeClosed
		}
	case land && l.isLost(after, r):
		outcome, r.Why = clone.OutcomeLost, "the claim was given back, or ended, while the command ran"
	case land:
		for try := range 3 { // a store that is locked, or a disk that is full, may be well in a moment
			if try > 0 {
				l.pause(ctx, l.Times.Look<<(try-1))
			}
			if outcome, err = l.land(ctx, r, tree, left); err == nil || ctx.Err() != nil {
				break
			}
		}
		if err != nil {
			return l.abandon(ctx, r, err)
		}
		if outcome == clone.OutcomeClosed {
			l.putAway(after, r, tree) // others may land meanwhile
		}
	}
	return l.conclude(after, r, outcome)
}

// left looks at what a run left.
func (l *loop) left(ctx context.Context, r *clone.Run, tree *git.Worktree) (left clone.Left, err error) {
	left = clone.Left{
		Exit: r.Exit, TimedOut: r.TimedOut,
		Lost: clone.Outcome(r.Cause) == clone.OutcomeLost, Stopped: clone.Outcome(r.Cause) == clone.OutcomeStopped,
	}
	if left.Lost {
		return left, nil
	}
	record, err := l.recordOf(r.Issue)
	if err != nil {
		return left, err
	}
	if record == nil {
		left.Lost, r.Why = true, "the issue is not in the store any more"
		return left, nil
	}
	if record.Text(beads.Status) == beads.StatusTombstone {
		left.Lost, r.Why = true, "the issue was deleted"
		return left, nil
	}
	if holder := record.Text(beads.Assignee); holder != "" && holder != l.name && record.Text(beads.Status) == beads.StatusInProgress {
		left.Lost, r.Why = true, "the issue is assigned to "+workspace.Visible(holder)
		return left, nil
	}
	if left.Closed = beads.IsClosed(record.Text(beads.Status)); left.Closed {
		if left.Lost, r.Why = l.closedByOthers(r); left.Lost {
			return left, nil
		}
	}
	doc := notes.Parse(record.Text(beads.Notes))
	left.Asked = signals.Asks(doc, signals.Read(doc, l.app.Schema))
	left.Checkpoint = r.Notes != gate.Hash(record.Text(beads.Notes)) && !l.onlyOthers(r, changesNotes)
	left.Traces = l.comments(record, r.ID) > r.Comments || l.edited(r)
	now, err := l.stateAfter(ctx, r, tree)
	left.Changed = now.State != r.Tree || r.Taken != nil || l.code.Root == "" // without git nothing tells, and the gate decides
	if err == nil && !left.Changed && tree != nil {
		left.Changed, err = l.unjudged(ctx, r, tree, now)
	}
	return left, err
}

// unjudged reports whether the branch of a run holds work of earlier runs that no gate
// refused, such as that of a loop that was killed: it may be all that is needed.
func (l *loop) unjudged(ctx context.Context, r *clone.Run, tree *git.Worktree, now git.Tree) (bool, error) {
	at, err := l.now()
	if err != nil {
		return false, err
	}
	runs, err := l.runs(at)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(runs, func(e clone.Run) bool {
		return e.Issue == r.Issue && e.Step == stepLanded && e.Outcome != string(clone.OutcomeClosed)
	}) {
		return true, nil // its loop was killed before it closed the issue
	}
	if !now.Dirty && now.Head == tree.Base {
		return false, nil
	}
	if holds, err := tree.Changed(ctx); err != nil || !holds {
		return false, err
	}
	judged := false
	for _, e := range runs {
		if e.Issue == r.Issue {
			judged = !e.Asked && (judged || e.Judged && e.Commit == tree.Head) // an answer may say that it is well now
		}
	}
	return !judged, nil
}

// editors lists who changed of the issue of a run what pick picks, since it started: a
// name for each edit that stig made, but for those of the loop.
func (l *loop) editors(r *clone.Run, pick func(clone.Change) bool) (names []string) {
	journal, err := l.place.Lately(r.Started)
	if err != nil {
		return nil // what the issue is like says more
	}
	for _, e := range journal.Records {
		// The result of an edit is recorded just after the store shows it.
		if e.Result != clone.Failed && e.Command != "work" && !e.At.Before(r.Started) &&
			slices.ContainsFunc(e.Changes, func(c clone.Change) bool { return c.Issue == r.Issue && pick(c) }) {
			names = append(names, e.Actor)
		}
	}
	return names
}

// isOwn reports whether a name is that of whom the loop started.
func (l *loop) isOwn(name string) bool { return name == l.name || clone.BelongsTo(name, l.name) }

// onlyOthers reports whether others alone changed of the issue of a run what pick picks.
func (l *loop) onlyOthers(r *clone.Run, pick func(clone.Change) bool) bool {
	names := l.editors(r, pick)
	return len(names) > 0 && !slices.ContainsFunc(names, l.isOwn)
}

// closedByOthers reports whether another closed the issue of a run since it started, and
// who. What another program than stig closed counts as the command's.
func (l *loop) closedByOthers(r *clone.Run) (closed bool, why string) {
	names := l.editors(r, func(c clone.Change) bool {
		return c.Kind == string(merge.Key) && c.Name == string(beads.Status) && c.Now == `"`+beads.StatusClosed+`"`
	})
	if len(names) == 0 || l.isOwn(names[len(names)-1]) {
		return false, r.Why
	}
	return true, "the issue was closed by " + cmp.Or(workspace.Visible(names[len(names)-1]), "somebody else")
}

func changesNotes(c clone.Change) bool {
	return slices.Contains([]merge.Kind{merge.Section, merge.Signal, merge.KindProse}, merge.Kind(c.Kind))
}

// edited reports whether the actor edited any issue in the run, other than by the loop.
func (l *loop) edited(r *clone.Run) bool {
	journal, err := l.place.Lately(r.Started)
	if err != nil {
		return false // the notes and the tree say more
	}
	return slices.ContainsFunc(journal.Records, func(e clone.Record) bool {
		return e.Actor == l.name && e.Result == clone.Written && e.Command != "work" && !e.At.Before(r.Started)
	})
}

// stateBefore keeps what the directory of a run holds before the command starts.
func (l *loop) stateBefore(ctx context.Context, r *clone.Run) error {
	now, err := l.stateOf(ctx, r)
	r.Tree = now.State
	return err
}

// stateAfter is stateOf when the command has ended.
func (l *loop) stateAfter(ctx context.Context, r *clone.Run, tree *git.Worktree) (git.Tree, error) {
	if tree != nil {
		return tree.State(ctx, l.storeDir())
	}
	return l.stateOf(ctx, r)
}

// stateOf identifies what the directory of a run holds, the store left out; the zero value
// without git.
func (l *loop) stateOf(ctx context.Context, r *clone.Run) (git.Tree, error) {
	switch {
	case l.code.Root == "" || r.Worktree == "":
		return git.Tree{}, nil
	case r.Branch != "":
		return l.app.GitIn(r.Worktree).TreeHere(ctx, l.storeDir())
	}
	return l.app.GitIn(r.Worktree).Tree(ctx, l.storeDir())
}

// keep commits what a run left uncommitted, where it is worth keeping.
func (l *loop) keep(ctx context.Context, r *clone.Run, tree *git.Worktree, outcome clone.Outcome) error {
	if tree == nil || outcome.IsFailure() {
		return nil
	}
	limit := cmp.Or(l.runTimeout, time.Hour)
	limited, cancel := l.toEnd(ctx, limit)
	defer cancel()
	commit, err := tree.Commit(limited, fmt.Sprintf("%s: work of %s\n\nRun: %s\n", r.Issue, l.name, r.ID), l.name)
	if commit != "" {
		r.Commit = commit
	}
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return &git.RejectedError{Reason: fmt.Sprintf("git commit: timed out after %s; a hook of the repository may hang", limit)}
	}
	return err
}

// toEnd is a context for what is to be brought to an end, such as a commit with its hooks:
// for so long at most, and once ctx ended for as long as a command has to end.
func (l *loop) toEnd(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(l.Times.Grace, cancel) })
	return limited, func() { stop(); cancel() }
}

// conclude does what follows from the outcome of a run, and ends its record.
func (l *loop) conclude(ctx context.Context, r *clone.Run, outcome clone.Outcome) error {
	now, err := l.now()
	if err != nil {
		return err
	}
	if r.Ended.IsZero() {
		r.Ended = now
	}
	runs, err := l.runs(now)
	if err != nil {
		return err
	}
	if outcome == clone.OutcomeFailed {
		if alike := FailsAlike(append(runs, with(*r, outcome)), r.Ended); !alike.Until.IsZero() {
			outcome = clone.OutcomeLater
			r.Why = "every worker fails alike: " + r.Said
		}
	}
	if (outcome == clone.OutcomeLater || outcome == clone.OutcomeFailed) && r.Why == "" {
		r.Why = r.Said // such as that there are too many requests, or no file of that name
	}
	past := PastOf(append(runs, with(*r, outcome)), now)[r.Issue]
	var said *traces.Draft
	if outcome.IsFailure() {
		said = l.errorOf(r, outcome)
		if l.Attempts > 0 && past.Attempts >= l.Attempts {
			if err := l.leave(ctx, l.name, *said); err != nil {
				return err
			}
			if outcome, err = l.escalate(ctx, r, outcome, past.Failures); err != nil {
				return err
			}
			said = nil
		}
	}
	if outcome.IsPass() && past.Passes >= l.passes() && !l.NoClose {
		if outcome, err = l.escalate(ctx, r, outcome, []clone.Run{with(*r, outcome)}); err != nil {
			return err
		}
	}
	if outcome != clone.OutcomeClosed && outcome != clone.OutcomeLost {
		if err := l.giveBack(ctx, r.Issue, said); err != nil {
			return err
		}
	}
	l.releaseOthers(ctx, r)
	r.Outcome = string(outcome)
	if err := l.record(r); err != nil {
		return err
	}
	return l.concluded(r, outcome)
}

// releaseOthers gives back what the command of a run claimed besides its issue: nobody
// works on that any more.
func (l *loop) releaseOthers(ctx context.Context, r *clone.Run) {
	claims, err := l.place.Claims()
	if err != nil {
		l.once(err.Error()) // what was unreadable was set aside
	}
	for _, lease := range claims.Leases {
		if lease.Run == r.ID && lease.Actor == l.name && lease.Issue != r.Issue {
			l.release(ctx, lease.Issue)
			l.tell(lease.Issue, "claimed by the command of run %s, and given back", r.ID)
		}
	}
}

// with is a run as it will be recorded.
func with(r clone.Run, outcome clone.Outcome) clone.Run {
	r.Outcome = string(outcome)
	return r
}

// concluded tells of a run that ended; what it was about is acknowledged with the next look.
func (l *loop) concluded(r *clone.Run, outcome clone.Outcome) error {
	l.done.Runs = append(l.done.Runs, actors.RunOf(*r))
	l.silent++
	if outcome != clone.OutcomeSilent {
		l.silent = 0
	}
	if r.Heard && (outcome == clone.OutcomeClosed || outcome.IsPass() || outcome == clone.OutcomeWaiting) {
		l.heard[r.Issue] = r.Started
	}
	l.Tell(Event{Issue: r.Issue, Text: told(r), Run: r})
	return nil
}

// told is an outcome in words.
func told(r *clone.Run) string {
	text := r.Outcome
	if r.Why != "" {
		text += ": " + r.Why
	}
	if r.Asked {
		text += "; a person was asked"
	}
	return text
}

// acknowledge takes what runs had before them out of the inbox of the actor, in a store
// that is read already. What came since their start waits for the next run.
func (l *loop) acknowledge(ctx context.Context, file *beads.Snapshot, graph *dag.Graph) {
	if len(l.heard) == 0 {
		return
	}
	a := l.fresh(ctx, "")
	in, err := traces.InboxIn(ctx, a, file, graph, traces.InboxRequest{Actor: l.name, Roles: l.roles})
	if err != nil {
		return // they stay, and are read once more
	}
	var ids []string
	for _, item := range in.Items {
		started, ok := l.heard[item.Issue]
		// What came in the second in which the run began may have come too late for it.
		if ok && item.At.Before(started.Truncate(time.Second)) {
			ids = append(ids, item.ID)
		}
	}
	clear(l.heard)
	if len(ids) > 0 {
		_, _ = traces.Ack(ctx, a, traces.AckRequest{Actor: l.name, Roles: l.roles, Items: ids}) // else they are read once more
	}
}

// acknowledgeLast is acknowledge at the end of the loop.
func (l *loop) acknowledgeLast(ctx context.Context) {
	if len(l.heard) == 0 {
		return
	}
	if file, err := l.store.Snapshot(); err == nil {
		defer file.Close()
		l.acknowledge(ctx, file, dag.New(file))
	}
}

// release gives an issue back. That it is not the actor's any more is no failure.
func (l *loop) release(ctx context.Context, id string) {
	if id == "" {
		return
	}
	_, err := service.Release(ctx, l.fresh(ctx, ""), service.ReleaseRequest{ID: id})
	if err != nil && !fault.Is(err, fault.Conflict) {
		l.app.Warn("%s: cannot be given back: %v", id, err) // the claim ends with this process
	}
}

// errorOf is the trace of a failed attempt.
func (l *loop) errorOf(r *clone.Run, outcome clone.Outcome) *traces.Draft {
	what := map[clone.Outcome]string{
		clone.OutcomeSilent: "the run left nothing: no work, no trace, no checkpoint", clone.OutcomeTimedOut: "the run timed out",
		clone.OutcomeFailed: fmt.Sprintf("the command ended with exit code %d", r.Exit),
	}[outcome]
	tail := tailOf(r.Log)
	if tail == "" {
		tail = "(no output)"
	}
	return &traces.Draft{Issue: r.Issue, Type: trace.Error, Content: map[string]any{
		"error_type": what, "traceback": tail, "run": r.ID, "exit": fmt.Sprint(r.Exit),
	}}
}

// giveBack gives an issue back, and leaves a trace on it, nil for none: in one edit where
// both can be done.
func (l *loop) giveBack(ctx context.Context, issue string, said *traces.Draft) error {
	if said == nil {
		l.release(ctx, issue)
		return nil
	}
	a := l.fresh(ctx, "")
	leave, err := traces.Leaving(ctx, a, *said)
	if err == nil {
		_, err = service.Release(ctx, a, service.ReleaseRequest{ID: issue, Before: leave})
	}
	if err == nil {
		return nil
	}
	if err := l.leave(ctx, l.name, *said); err != nil {
		return err
	}
	l.release(ctx, issue)
	return nil
}

// leaveFeedback tells the actor on the issue why its work was not taken.
func (l *loop) leaveFeedback(ctx context.Context, r *clone.Run, why string, exit int, text string) error {
	content := map[string]any{"payload": visible.OneLine(why), "to": l.name, "run": r.ID}
	if exit != 0 {
		content["exit"] = fmt.Sprint(exit)
	}
	return l.leave(ctx, gateName, traces.Draft{Issue: r.Issue, Type: trace.Feedback, Content: content, Body: text})
}

// gateName is who leaves feedback: an inbox lists nothing of an actor's own.
const gateName = "stig"

// leave leaves a trace. One that cannot be left, such as on a line that is too long, is
// a warning.
func (l *loop) leave(ctx context.Context, as string, d traces.Draft) error {
	a := l.fresh(ctx, "")
	a.Actor = as
	_, err := traces.Add(ctx, a, traces.AddRequest{Drafts: []traces.Draft{d}})
	if fault.Is(err, fault.Usage) || fault.Is(err, fault.Conflict) {
		l.app.Warn("%s: the %s is not left on the issue: %v", d.Issue, d.Type, err)
		return nil
	}
	return err
}

const (
	tailLines = 20
	tailBytes = 4 << 10
	tailRead  = 256 << 10 // of a log, from its end
)

// tailOf is the end of a log, without credentials. Of a long one no more is read than may
// be shown.
func tailOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > tailRead {
		_, _ = file.Seek(-tailRead, io.SeekEnd) // else all of it will do
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	return shortened(string(text))
}

// fenced is the end of an output as feedback has it; "" where nothing was said.
func fenced(text string) string {
	if text = shortened(text); text == "" {
		return ""
	}
	return visible.Fenced(text)
}

// shortened is the end of an output, without credentials.
func shortened(text string) string {
	lines := strings.Split(strings.TrimSpace(workspace.Visible(text)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	text = visible.HideSecrets(strings.Join(lines, "\n"))
	if len(text) > tailBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-tailBytes:], "")
	}
	return text
}

// escalate asks a person about an issue that the loop does not get done, and has the run
// say so. failures are the failed attempts, or the last pass.
func (l *loop) escalate(ctx context.Context, r *clone.Run, outcome clone.Outcome, failures []clone.Run) (clone.Outcome, error) {
	var text strings.Builder
	what := "Its work was not taken after all passes"
	if clone.Outcome(failures[0].Outcome).IsFailure() {
		what = visible.Counted(len(failures), "run") + " failed at this issue"
	}
	if why := failures[len(failures)-1].Why; why != "" { // first, for a survey has the first words alone
		what += ": `" + strings.ReplaceAll(why, "`", "'") + "`"
	}
	text.WriteString(what + ". It is not tried again before somebody answers. What is to change?\n")
	for _, f := range failures {
		fmt.Fprintf(&text, "\n- run %s of %s: %s, exit %d", f.ID, f.Actor, f.Outcome, f.Exit)
		if f.Why != "" {
			fmt.Fprintf(&text, ": `%s`", strings.ReplaceAll(f.Why, "`", "'"))
		}
		if f.Said != "" && !strings.Contains(f.Why, f.Said) {
			fmt.Fprintf(&text, "; the last that it printed: `%s`", strings.ReplaceAll(f.Said, "`", "'"))
		}
	}
	text.WriteString("\n" + l.where(ctx, r))
	if asked, err := l.ask(ctx, r, text.String()); asked == clone.OutcomeLost || err != nil {
		return asked, err
	}
	return outcome, nil
}

// ask puts a question to a person, once; about an issue that was closed meanwhile nobody is
// asked any more.
func (l *loop) ask(ctx context.Context, r *clone.Run, text string, options ...string) (clone.Outcome, error) {
	question := checkpoint.Question{Text: text, Options: options, Unclosed: true}
	_, err := service.Escalate(ctx, l.fresh(ctx, ""), service.EscalateRequest{ID: r.Issue, Question: question})
	switch {
	case fault.Is(err, fault.Changed):
		_, r.Why = l.closedByOthers(r)
		return clone.OutcomeLost, nil
	case err == nil, fault.Is(err, fault.Conflict): // it waits already
		r.Asked = true
		return clone.OutcomeWaiting, nil
	}
	return "", err
}
