package board

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/workspace"
)

// Work is the work on an unclosed issue, shown with its worker's question.
type Work struct {
	Diff string        // since the work began, uncommitted changes included; "" for none
	Gate *gate.Verdict // the last verdict of its checks there; nil if they never ran
}

// workSeen is how far back runs are searched.
const workSeen = 30 * 24 * time.Hour

// WorkOn returns the work on issues, by id: in the work tree of the issue's last run, on the
// run's branch if the work tree is gone, or else in this directory. It changes nothing. A diff
// has at most most bytes.
func WorkOn(ctx context.Context, a *workspace.Run, ids []string, most int) (map[string]Work, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	place := store.Place()
	runs, err := lastRuns(a, place.Path)
	if err != nil {
		return nil, err
	}
	type stretch struct{ dir, from string }
	diffs := map[stretch]string{} // several issues may share a work tree
	done := map[string]Work{}
	for _, id := range ids {
		dir, from := placeOfRun(filepath.Dir(place.Dir), runs[id])
		diff, known := diffs[stretch{dir, from}]
		if !known {
			diff = a.GitIn(dir).Changes(ctx, from, ".beads", most)
			diffs[stretch{dir, from}] = diff
		}
		done[id] = Work{diff, verdictIn(place.Path, dir, id)}
	}
	return done, nil
}

// placeOfRun returns where a run worked, and the commit or range to compare with.
func placeOfRun(root string, run clone.Run) (dir, from string) {
	switch {
	case run.Worktree != "" && workspace.Exists(run.Worktree):
		return run.Worktree, run.Base
	case run.Branch != "" && run.Base != "":
		return root, run.Base + "..." + cmp.Or(run.Commit, "refs/heads/"+run.Branch)
	}
	return root, "HEAD"
}

// lastRuns returns the last run of each issue.
func lastRuns(a *workspace.Run, store string) (map[string]clone.Run, error) {
	place, err := clone.At(store)
	if err != nil {
		return nil, err
	}
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	last := map[string]clone.Run{}
	runs, _, err := place.Runs(now.Add(-workSeen)) // stig doctor reports damaged lines
	for _, r := range runs {
		last[r.Issue] = r
	}
	return last, err
}

// verdictIn returns the last verdict of an issue in a work tree, whatever has changed since;
// nil if there is none.
func verdictIn(store, dir, id string) *gate.Verdict {
	tree, err := git.CheckoutOf(dir)
	if err != nil || tree.Own == "" {
		return nil
	}
	place, err := clone.At(store)
	if err != nil {
		return nil
	}
	last, _ := gate.Verdicts{Dir: filepath.Join(tree.Own, "stig", "verdicts", filepath.FromSlash(place.Store))}.Last(id)
	return last
}
