// Package boards holds the services that only the board needs: the graph in pieces that can
// be read, and what was done for an issue so far.
//
//	done, err := boards.WorkOn(ctx, a, "harbor-1", 64<<10)
package boards

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"stig/app"
	"stig/jsonl"
	"stig/live"
	"stig/verify"
)

// Work is what was done for an issue that is not closed, to be shown beside what its
// worker asks.
type Work struct {
	Where string          // the work tree or the branch it is in; "" where it is in none of its own
	Diff  string          // from where it was begun, uncommitted changes included; "" for none
	Gate  *verify.Verdict // what its checks showed when they ran there last; nil for never
}

// workSeen is how far back runs are looked for.
const workSeen = 30 * 24 * time.Hour

// WorkOn looks at what was done for an issue: in the work tree of its last run, on the
// branch of that where the tree is gone, or for work in place here. It changes nothing,
// and gives most bytes of the diff at most.
func WorkOn(ctx context.Context, a *app.App, id string, most int) (Work, error) {
	store, err := a.Discover()
	if err != nil {
		return Work{}, err
	}
	run, err := lastRun(a, store.Place().Path, id)
	if err != nil {
		return Work{}, err
	}
	root, dir, from, where := filepath.Dir(store.Place().Dir), run.Worktree, run.Base, run.Worktree
	switch {
	case run.Worktree != "" && app.Exists(run.Worktree):
	case run.Branch != "" && run.Base != "":
		dir, from, where = root, run.Base+"..."+cmp.Or(run.Commit, "refs/heads/"+run.Branch), run.Branch
	default:
		dir, from, where = root, "HEAD", ""
	}
	return Work{where, a.GitIn(dir).Changes(ctx, from, ".beads", most), verdictIn(store.Place().Path, dir, id)}, nil
}

// lastRun is the last run of a loop on an issue; the zero Run for none.
func lastRun(a *app.App, store, id string) (last live.Run, err error) {
	place, err := live.At(store)
	if err != nil {
		return last, err
	}
	now, err := a.Clock()
	if err != nil {
		return last, err
	}
	runs, _, err := place.Runs(now.Add(-workSeen)) // damaged lines are what stig doctor reports
	for _, r := range runs {
		if r.Issue == id {
			last = r
		}
	}
	return last, err
}

// verdictIn is what the checks of an issue showed when they ran last in a work tree, whatever
// has changed since; nil for never.
func verdictIn(store, dir, id string) *verify.Verdict {
	tree, err := jsonl.WorktreeOf(dir)
	if err != nil || tree.Own == "" {
		return nil
	}
	place, err := live.At(store)
	if err != nil {
		return nil
	}
	last, _ := verify.Verdicts{Dir: filepath.Join(tree.Own, "stig", "verdicts", filepath.FromSlash(place.Store))}.Last(id)
	return last
}
