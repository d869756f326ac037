package loop

import (
	"context"

	"stig/internal/beads"
	"stig/internal/git"
)

// would finds what the loop would take and run now, and writes nothing.
func (l *loop) would(ctx context.Context) error {
	runs, now, err := l.runs()
	if err != nil {
		return err
	}
	l.done.Reason = "nothing would be taken"
	if l.isDone() {
		l.done.Reason += ": " + l.filter.issue + " is closed"
	}
	if reached := l.Bounds.Reached(UsedBy(l.name, runs, now)); reached != "" {
		l.done.Reason = reached
		return nil
	}
	if why := l.busy(); why != "" {
		l.done.Reason = why
		return nil
	}
	s, err := l.sense(ctx)
	if err != nil {
		return err
	}
	l.done.Asked, l.done.Waiting = s.asked, len(s.order) == 0 && s.asked > 0
	if len(s.order) == 0 {
		return nil
	}
	first := s.order[0]
	record, err := l.recordOf(first.Issue)
	if err != nil || record == nil {
		return err
	}
	why := map[Kind]string{KindAnswer: "an answer or feedback", KindOwn: "begun before", KindReady: "ready"}[first.Kind]
	l.done.Reason = "a dry run takes nothing"
	l.done.Would = &Would{Issue: first.Issue, Title: record.Text(beads.Title), Why: why, Command: l.Command, Worktree: l.root}
	if l.trees != nil {
		l.done.Would.Worktree = l.trees.Dir
		l.done.Would.Branch, l.done.Would.Onto = git.BranchOf(first.Issue, l.trees.Onto), l.trees.Onto
	}
	return nil
}
