package loop

import (
	"context"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/process"
)

// beat runs the command for what stands under Heartbeat in the actor's file, when that is
// due and no issue is.
func (l *loop) beat(ctx context.Context) (ran bool, err error) {
	if l.profile.Every <= 0 || l.Once || l.UntilEmpty || strings.TrimSpace(l.profile.Section(clone.Heartbeat)) == "" {
		return false, nil
	}
	runs, now, err := l.runs()
	if err != nil || now.Before(l.nextBeat(runs, now)) {
		return false, err
	}
	self, _ := process.Self()
	r := &Run{state: runClaimed, Run: clone.Run{ID: clone.NewRunID(), Actor: l.name, Task: taskHeartbeat, Attempt: 1, Loop: self.ID, Step: stepClaimed, Started: now}}
	if err := l.record(&r.Run); err != nil {
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
