package loop

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// weigh decides by the runs before what follows from the outcome of a run.
func (l *loop) weigh(ctx context.Context, r *Run) (observation, error) {
	runs, now, err := l.runs()
	if err != nil {
		return "", err
	}
	if r.Ended.IsZero() {
		r.Ended = now
	}
	if r.Issue == "" || r.outcome == clone.OutcomeClosed || r.outcome == clone.OutcomeLost {
		return sawOver, nil
	}
	if (r.outcome == clone.OutcomeLater || r.outcome == clone.OutcomeFailed) && r.Why == "" {
		r.Why = r.Said // such as that there are too many requests, or no file of that name
	}
	this := r.Run
	this.Outcome = string(r.outcome)
	runs = append(runs, this)
	past := PastOf(runs, now)[r.Issue]
	turn := TurnOthers
	spent := l.Attempts > 0 && past.Spent(l.name, l.limits()) && !(r.outcome.IsPass() && l.NoClose)
	if spent {
		turn = l.turnAfter(past, r.Issue)
	}
	alike := FindCorrelated(runs, r.Ended)
	switch {
	case !alike.Until.IsZero() && r.outcome == clone.OutcomeFailed:
		r.Why = "every worker fails alike: " + r.Said
		return sawAlike, nil
	case !alike.Until.IsZero() && r.Refused != "":
		return sawAlike, nil
	case r.outcome.IsFailure() && turn != TurnOthers:
		r.question = l.escalation(ctx, r, past.Failures(), turn)
		return sawAttemptsUsed, nil
	case r.outcome.IsPass() && turn != TurnOthers:
		r.question = l.escalation(ctx, r, []clone.Run{this}, turn)
		return sawPassesUsed, nil
	case spent && (r.outcome.IsFailure() || r.outcome.IsPass()):
		l.tell(r.Issue, "is left to other workers: %s tried it as often as it does within 24 hours", l.name)
	}
	if r.outcome.IsFailure() {
		return sawAttempt, nil
	}
	return sawOpen, nil
}

// conclude ends the record of a run, and tells of it. What it was about is acknowledged with
// the next look.
func (l *loop) conclude(ctx context.Context, r *Run) (observation, error) {
	if r.Issue != "" {
		l.releaseOthers(ctx, r)
	} else {
		l.removeDetached(ctx, r)
	}
	r.Outcome = string(r.outcome)
	if err := l.record(&r.Run); err != nil {
		return "", err
	}
	l.done.Runs = append(l.done.Runs, actors.RunOf(r.Run))
	l.event(Event{Issue: r.Issue, Event: r.Outcome, Text: told(r), Run: &r.Run})
	l.warnOfCost(r)
	if r.Issue == "" {
		return sawRecorded, nil
	}
	l.silent++
	if r.outcome != clone.OutcomeSilent {
		l.silent = 0
	}
	if r.Heard && (r.outcome == clone.OutcomeClosed || r.outcome.IsPass() || r.outcome == clone.OutcomeWaiting || r.outcome == clone.OutcomeUnproven) {
		l.heard[r.Issue] = r.Started
	}
	if r.hint != "" && r.outcome == clone.OutcomeLater {
		l.app.Hint(r.hint)
	}
	return sawRecorded, nil
}

// releaseOthers gives back what the command of a run claimed besides its issue: nobody
// works on that any more.
func (l *loop) releaseOthers(ctx context.Context, r *Run) {
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

// told is why a run came to its outcome.
func told(r *Run) string {
	text := r.Why
	if r.Asked {
		text = strings.TrimPrefix(text+"; a person was asked", "; ")
	}
	return text
}

// warnOfCost says once what of the cost of a run cannot be read, and that its bound cannot be kept.
func (l *loop) warnOfCost(r *Run) {
	if r.UnreadPrice != "" {
		l.once(fmt.Sprintf("run %s printed %q, which is no price: its cost is not known", r.ID, r.UnreadPrice))
	}
	if l.Bounds.Cost > 0 && !r.IsPriced() {
		l.once("--max-cost: the cost of a run is not known, and counts for nothing; " + costHint)
	}
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
	_, err := service.Release(ctx, l.fresh(ctx, ""), service.ReleaseRequest{ID: id})
	if err != nil && !fault.Is(err, fault.Conflict) {
		l.app.Warn("%s: cannot be given back: %v", id, err) // the claim ends with this process
	}
}

// errorOf is the trace of a failed attempt.
func (l *loop) errorOf(r *Run) traces.Draft {
	what := map[clone.Outcome]string{
		clone.OutcomeSilent: cmp.Or(r.Why, "the run left nothing: no work, no trace, no checkpoint"), clone.OutcomeTimedOut: "the run timed out",
		clone.OutcomeFailed: fmt.Sprintf("the command ended with exit code %d", r.Exit),
	}[r.outcome]
	tail := cmp.Or(shortened(assistant.ReadableText(endOf(r.Log, tailRead))), "(no output)")
	return traces.Draft{Issue: r.Issue, Type: trace.Error, Content: map[string]any{
		"error_type": what, "traceback": tail, "run": r.ID, "exit": fmt.Sprint(r.Exit),
	}}
}

// giveBack is release for the issue of a run.
func (l *loop) giveBack(ctx context.Context, r *Run) error {
	l.release(ctx, r.Issue)
	return nil
}

// giveBackFailed gives an issue back, and leaves the error of a failed attempt on it: in one
// edit where both can be done.
func (l *loop) giveBackFailed(ctx context.Context, r *Run) error {
	a := l.fresh(ctx, "")
	leave, err := traces.Leaving(ctx, a, l.errorOf(r))
	if err == nil {
		_, err = service.Release(ctx, a, service.ReleaseRequest{ID: r.Issue, Before: leave})
	}
	if err == nil {
		return nil
	}
	if err := l.leaveError(ctx, r); err != nil {
		return err
	}
	return l.giveBack(ctx, r)
}

// leaveError leaves the error of a failed attempt on its issue.
func (l *loop) leaveError(ctx context.Context, r *Run) error {
	return l.leave(ctx, l.name, l.errorOf(r))
}

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

// endOf is the end of a log, so many bytes at most; "" where it cannot be read.
func endOf(path string, most int64) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd) // else all of it will do
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	return string(text)
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

// escalation is what a person is asked about an issue that the loop does not get done.
// failures are the failed attempts, or the last pass.
func (l *loop) escalation(ctx context.Context, r *Run, failures []clone.Run, turn Turn) (q checkpoint.Question) {
	var text strings.Builder
	what := "Its work was not taken after all passes"
	if clone.Outcome(failures[0].Outcome).IsFailure() {
		what = visible.Counted(len(failures), "run") + " failed at this issue"
	}
	if why := failures[len(failures)-1].Why; why != "" { // first, for a survey has the first words alone
		what += ": `" + strings.ReplaceAll(why, "`", "'") + "`"
	}
	then := ". It is not tried again before somebody answers."
	if turn == TurnSpared {
		q.Only = l.name
		then = fmt.Sprintf(". %s does not try it again before somebody answers; no other worker runs here, and one that is started takes it all the same.", l.name)
	}
	text.WriteString(what + then + " What is to change?\n")
	for _, f := range failures {
		fmt.Fprintf(&text, "\n- run %s of %s: %s, exit %d", f.ID, f.Actor, f.Outcome, f.Exit)
		if f.Why != "" {
			fmt.Fprintf(&text, ": `%s`", strings.ReplaceAll(f.Why, "`", "'"))
		}
		if f.Said != "" && !strings.Contains(f.Why, f.Said) {
			fmt.Fprintf(&text, "; the last that it printed: `%s`", strings.ReplaceAll(f.Said, "`", "'"))
		}
	}
	q.Text = text.String() + "\n" + l.where(ctx, r)
	return q
}

// ask puts the question of a run to a person, once; about an issue that was closed meanwhile
// nobody is asked any more.
func (l *loop) ask(ctx context.Context, r *Run) (observation, error) {
	r.question.Unclosed = true
	_, err := service.Escalate(ctx, l.fresh(ctx, ""), service.EscalateRequest{ID: r.Issue, Question: r.question})
	switch {
	case fault.Is(err, fault.Changed):
		_, r.Why = l.closedByOthers(r)
		return sawLost, nil
	case err == nil, fault.Is(err, fault.Conflict): // it waits already
		r.Asked, r.Spared = true, r.question.Only != ""
		return sawAsked, nil
	}
	return "", err
}
