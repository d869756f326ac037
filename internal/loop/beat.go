package loop

import (
	"context"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/loop/actors"
	"stig/internal/process"
)

// beat runs the command for what stands under Heartbeat in the actor's file, when that is
// due and no issue is.
func (l *loop) beat(ctx context.Context) (ran bool, err error) {
	if l.profile.Every <= 0 || l.Once || l.UntilEmpty || strings.TrimSpace(l.profile.Section(clone.Heartbeat)) == "" {
		return false, nil
	}
	now, err := l.now()
	if err != nil {
		return false, err
	}
	runs, err := l.runs(now)
	if err != nil || now.Before(l.nextBeat(runs, now)) {
		return false, err
	}
	self, _ := process.Self()
	r := &clone.Run{ID: clone.NewRunID(), Actor: l.name, Task: taskHeartbeat, Attempt: 1, Loop: self.ID, Step: stepClaimed, Started: now}
	if err := l.record(r); err != nil {
		return false, err
	}
	return true, l.perform(ctx, r)
}

// nextBeat is when the heartbeat is due, counted from the last one; the zero time where
// there was none within Window.
func (l *loop) nextBeat(runs []clone.Run, now time.Time) (due time.Time) {
	for _, r := range runs {
		if r.Actor == l.name && r.Task == taskHeartbeat && !r.Started.After(now) { // else the clock was set back
			due = r.Started.Add(l.profile.Every)
		}
	}
	return due
}

// finishBeat ends the record of a heartbeat, or of a dream that was killed. What it wrote
// into its work tree stays there: no issue says whether it is right.
func (l *loop) finishBeat(r *clone.Run) error {
	outcome, _ := clone.Left{
		Exit: r.Exit, TimedOut: r.TimedOut, Stopped: r.Cause == string(clone.OutcomeStopped), Traces: true,
	}.Outcome()
	if outcome == clone.OutcomeRejected { // it ended with 0
		outcome = clone.OutcomeAdvanced
	}
	r.Outcome = string(outcome)
	if now, err := l.now(); err == nil && r.Ended.IsZero() {
		r.Ended = now
	}
	if err := l.record(r); err != nil {
		return err
	}
	l.done.Runs = append(l.done.Runs, actors.RunOf(*r))
	l.Tell(Event{Text: r.Task + ": " + told(r), Run: r})
	return nil
}
