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

// weigh decides, from earlier runs, what follows from the outcome of a run.
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
		r.Why = r.Said // such as a rate limit or a missing file
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
		r.Why = "every worker fails in the same way: " + r.Said
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
		l.tell(r.Issue, "left to other workers: %s used up its tries within 24 hours", l.name)
	}
	if r.outcome.IsFailure() {
		return sawAttempt, nil
	}
	return sawOpen, nil
}

// conclude ends the record of a run and reports it. The inbox items of its issue are
// acknowledged at the next look.
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
	if r.Heard && (r.outcome == clone.OutcomeClosed || r.outcome.IsPass() || r.outcome == clone.OutcomeWaiting || r.outcome == clone.OutcomeUnproven || r.outcome == clone.OutcomeInReview) {
		l.heard[r.Issue] = r.Started
	}
	if r.hint != "" && r.outcome == clone.OutcomeLater {
		l.app.Hint(r.hint)
	}
	return sawRecorded, nil
}

// releaseOthers releases other issues that the command of a run claimed: nobody works on them
// any more.
func (l *loop) releaseOthers(ctx context.Context, r *Run) {
	claims, err := l.place.Claims()
	if err != nil {
		l.once(err.Error()) // the unreadable part was set aside
	}
	for _, lease := range claims.Leases {
		if lease.Run == r.ID && lease.Actor == l.name && lease.Issue != r.Issue {
			l.release(ctx, lease.Issue)
			l.tell(lease.Issue, "claimed by the command of run %s, and released", r.ID)
		}
	}
}

// told returns why a run came to its outcome.
func told(r *Run) string {
	text := r.Why
	if r.Asked {
		text = strings.TrimPrefix(text+"; a person was asked", "; ")
	}
	return text
}

// warnOfCost reports once that the cost of a run is unreadable, or unknown despite a limit.
func (l *loop) warnOfCost(r *Run) {
	if r.UnreadPrice != "" {
		l.once(fmt.Sprintf("run %s printed %q, which is not a price: its cost is unknown", r.ID, r.UnreadPrice))
	}
	if l.Bounds.Cost > 0 && !r.IsPriced() {
		l.once("--max-cost: the cost of a run is unknown and not counted; " + costHint)
	}
}

// acknowledge acknowledges the inbox items that ended runs had in their prompts, in a store
// already read. Items that came after a run's start wait for the next run.
func (l *loop) acknowledge(ctx context.Context, file *beads.Snapshot, graph *dag.Graph) {
	if len(l.heard) == 0 {
		return
	}
	a := l.fresh(ctx, "")
	in, err := traces.InboxIn(ctx, a, file, graph, traces.InboxRequest{Actor: l.name, Roles: l.roles})
	if err != nil {
		return // they stay for the next look
	}
	var ids []string
	for _, item := range in.Items {
		started, ok := l.heard[item.Issue]
		// An item from the second in which the run began may have come too late for it.
		if ok && item.At.Before(started.Truncate(time.Second)) {
			ids = append(ids, item.ID)
		}
	}
	clear(l.heard)
	if len(ids) > 0 {
		_, _ = traces.Ack(ctx, a, traces.AckRequest{Actor: l.name, Roles: l.roles, Items: ids}) // on error they stay for the next look
	}
}

// acknowledgeLast calls acknowledge at the end of the loop.
func (l *loop) acknowledgeLast(ctx context.Context) {
	if len(l.heard) == 0 {
		return
	}
	if file, err := l.store.Snapshot(); err == nil {
		defer file.Close()
		l.acknowledge(ctx, file, dag.New(file))
	}
}

// release releases an issue. If the actor no longer has it, that is not an error.
func (l *loop) release(ctx context.Context, id string) {
	a := l.fresh(ctx, "")
	a.Actor = l.name
	_, err := service.Release(ctx, a, service.ReleaseRequest{ID: id})
	if err != nil && !fault.Is(err, fault.Conflict) {
		l.app.Warn("%s: cannot be released: %v", id, err) // the claim ends with this process
	}
}

// errorOf returns the trace of a failed attempt.
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

// giveBack releases the issue of a run, unless others work on it for the same claim.
func (l *loop) giveBack(ctx context.Context, r *Run) error {
	if r.Holder == "" {
		l.release(ctx, r.Issue)
	}
	return nil
}

// giveBackFailed releases an issue and adds the error of a failed attempt, in one edit if
// possible.
func (l *loop) giveBackFailed(ctx context.Context, r *Run) error {
	if r.Holder != "" {
		return l.leaveError(ctx, r)
	}
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

// leaveError adds the error of a failed attempt to its issue.
func (l *loop) leaveError(ctx context.Context, r *Run) error {
	return l.leave(ctx, l.name, l.errorOf(r))
}

// leave adds a trace. If the trace is not possible, for example because the line would be too
// long, it prints a warning.
func (l *loop) leave(ctx context.Context, as string, d traces.Draft) error {
	a := l.fresh(ctx, "")
	a.Actor = as
	_, err := traces.Add(ctx, a, traces.AddRequest{Drafts: []traces.Draft{d}})
	if fault.Is(err, fault.Usage) || fault.Is(err, fault.Conflict) {
		l.app.Warn("%s: the %s was not added to the issue: %v", d.Issue, d.Type, err)
		return nil
	}
	return err
}

const (
	tailLines = 20
	tailBytes = 4 << 10
	tailRead  = 256 << 10 // bytes read from the end of a log
)

// endOf returns at most most bytes from the end of a log; "" if it cannot be read.
func endOf(path string, most int64) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > most {
		_, _ = file.Seek(-most, io.SeekEnd) // on error, read all of it
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	return string(text)
}

// fenced returns the end of an output as a code block for feedback; "" if there is none.
func fenced(text string) string {
	if text = shortened(text); text == "" {
		return ""
	}
	return visible.Fenced(text)
}

// shortened returns the end of an output without credentials.
func shortened(text string) string {
	lines := strings.Split(strings.TrimSpace(workspace.Visible(text)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	text = visible.HideSecrets(strings.Join(lines, "\n"))
	if len(text) > tailBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-tailBytes:], "")
	}
	return text
}

// escalation returns the question to a person about an issue that the loop does not get done.
// failures are the failed attempts, or the last pass.
func (l *loop) escalation(ctx context.Context, r *Run, failures []clone.Run, turn Turn) (q checkpoint.Question) {
	var text strings.Builder
	what := "Its work was not accepted after all passes"
	if clone.Outcome(failures[0].Outcome).IsFailure() {
		what = visible.Counted(len(failures), "run") + " failed at this issue"
	}
	if why := failures[len(failures)-1].Why; why != "" { // first, since a survey shows only the first words
		what += ": `" + strings.ReplaceAll(why, "`", "'") + "`"
	}
	then := ". It is not tried again until somebody answers."
	if turn == TurnSpared {
		q.Only = l.name
		then = fmt.Sprintf(". %s does not try it again until somebody answers. No other worker is running here; one that is started may take it.", l.name)
	}
	text.WriteString(what + then + " What should change?\n")
	for _, f := range failures {
		fmt.Fprintf(&text, "\n- run %s of %s: %s, exit %d", f.ID, f.Actor, f.Outcome, f.Exit)
		if f.Why != "" {
			fmt.Fprintf(&text, ": `%s`", strings.ReplaceAll(f.Why, "`", "'"))
		}
		if f.Said != "" && !strings.Contains(f.Why, f.Said) {
			fmt.Fprintf(&text, "; last output: `%s`", strings.ReplaceAll(f.Said, "`", "'"))
		}
	}
	q.Text = text.String() + "\n" + l.where(ctx, r)
	return q
}

// ask asks a person the question of a run, once. If the issue was closed meanwhile, it asks
// nobody. Of several workers at an issue the claim's holder asks once they have ended.
func (l *loop) ask(ctx context.Context, r *Run) (observation, error) {
	if r.Holder != "" {
		return sawAsked, nil
	}
	r.question.Unclosed = true
	_, err := service.Escalate(ctx, l.fresh(ctx, ""), service.EscalateRequest{ID: r.Issue, Question: r.question})
	switch {
	case fault.Is(err, fault.Changed):
		_, r.Why = l.closedByOthers(r)
		return sawLost, nil
	case err == nil, fault.Is(err, fault.Conflict): // a question already waits
		r.Asked, r.Spared = true, r.question.Only != ""
		return sawAsked, nil
	}
	return "", err
}
