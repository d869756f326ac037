package loop

import (
	"context"

	"stig/internal/git"
)

// tidy removes the work trees of issues that were closed since their last run, such as by a
// person. What holds work that is not merged stays, and so does what a loop works in.
func (l *loop) tidy(ctx context.Context) {
	if l.trees == nil {
		return
	}
	trees, err := git.Worktrees(ctx, *l.trees)
	if err != nil {
		l.app.Warn("work trees of closed issues are not removed: %v", err)
		return
	}
	busy := map[string]bool{}
	runs, _, err := l.runs()
	if err != nil {
		return // what may be in use stays
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
		if err := tree.Remove(ctx); err != nil {
			l.once("the work tree of " + tree.Issue + " stays: " + err.Error())
		}
	}
}
