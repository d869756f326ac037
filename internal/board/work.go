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

// Work is what was done for an unclosed issue, to be shown beside its worker's question.
type Work struct {
	Diff string        // from where it was begun, uncommitted changes included; "" for none
	Gate *gate.Verdict // what its checks showed when they ran there last; nil for never
}

// workSeen is how far back runs are looked for.
const workSeen = 30 * 24 * time.Hour

// WorkOn looks at what was done for each of some issues: in the work tree of its last run,
// on the branch of that where the tree is gone, or for work in place here. It changes
// nothing, and gives most bytes of a diff at most.
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
	diffs := map[stretch]string{} // many issues are worked on in one place
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

// placeOfRun is where a run worked, and from which commit.
func placeOfRun(root string, run clone.Run) (dir, from string) {
	switch {
	case run.Worktree != "" && workspace.Exists(run.Worktree):
		return run.Worktree, run.Base
	case run.Branch != "" && run.Base != "":
		return root, run.Base + "..." + cmp.Or(run.Commit, "refs/heads/"+run.Branch)
	}
	return root, "HEAD"
}

// lastRuns are the last runs of loops, by the issue that they worked on.
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
	runs, _, err := place.Runs(now.Add(-workSeen)) // damaged lines are what stig doctor reports
	for _, r := range runs {
		last[r.Issue] = r
	}
	return last, err
}

// verdictIn is what the checks of an issue showed when they ran last in a work tree, whatever
// has changed since; nil for never.
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
