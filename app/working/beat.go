package working

import (
	"context"
	"strings"
	"time"

	"stig/app/actors"
	"stig/live"
	"stig/process"
	"stig/profile"
	"stig/work"
)

// beat runs the command for what stands under Heartbeat in the actor's file, when that is
// due and no issue is.
func (l *loop) beat(ctx context.Context) (ran bool, err error) {
	if l.profile.Every <= 0 || l.Once || l.UntilEmpty || strings.TrimSpace(l.profile.Section(profile.Heartbeat)) == "" {
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
	r := &live.Run{ID: live.NewRunID(), Actor: l.name, Task: taskHeartbeat, Attempt: 1, Loop: self.ID, Step: stepClaimed, Started: now}
	if err := l.record(r); err != nil {
		return false, err
	}
	return true, l.perform(ctx, r)
}

// nextBeat is when the heartbeat is due, counted from the last one; the zero time where
// there was none within work.Window.
func (l *loop) nextBeat(runs []live.Run, now time.Time) (due time.Time) {
	for _, r := range runs {
		if r.Actor == l.name && r.Task == taskHeartbeat && !r.Started.After(now) { // else the clock was set back
			due = r.Started.Add(l.profile.Every)
		}
	}
	return due
}

// finishBeat ends the record of a heartbeat, or of a dream that was killed. What it wrote
// into its work tree stays there: no issue says whether it is right.
func (l *loop) finishBeat(r *live.Run) error {
	outcome, _ := work.Left{
		Exit: r.Exit, TimedOut: r.TimedOut, Stopped: r.Cause == string(work.Stopped), Traces: true,
	}.Outcome()
	if outcome == work.Rejected { // it ended with 0
		outcome = work.Advanced
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
