package night

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/workspace"
)

// WorkTree is the work tree of an issue.
type WorkTree struct {
	ID          string   `json:"id"` // "" if its creation was interrupted
	Dir         string   `json:"dir"`
	Branch      string   `json:"branch"`
	Ahead       bool     `json:"ahead"`       // the branch has commits that the results lack
	Uncommitted []string `json:"uncommitted"` // files
	Gone        bool     `json:"gone"`        // the directory does not exist
	Running     string   `json:"running"`     // the run that is using it; "" for none

	tree *git.Worktree
}

// WorkTrees lists the work trees of workers in this clone.
func WorkTrees(ctx context.Context, a *workspace.Run) (list []WorkTree, err error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	options, err := a.Trees(store.Place())
	if err != nil || options == nil {
		return []WorkTree{}, err
	}
	place, err := a.Live(store.Place())
	if err != nil {
		return nil, err
	}
	runs, _, err := place.Runs(time.Time{})
	if err != nil {
		return nil, err
	}
	trees, err := git.Worktrees(ctx, *options)
	if err != nil {
		return nil, err
	}
	list = []WorkTree{}
	for _, tree := range trees {
		one := WorkTree{ID: tree.Issue, Dir: tree.Dir, Branch: tree.Branch, Uncommitted: []string{}, Gone: !workspace.Exists(tree.Dir), Running: runningIn(runs, tree.Dir), tree: tree}
		if one.Ahead, err = tree.Ahead(ctx); err != nil {
			return nil, err
		}
		if !one.Gone && one.ID != "" {
			left, err := tree.Uncommitted(ctx)
			if err != nil {
				return nil, err
			}
			one.Uncommitted = append(one.Uncommitted, left.Files...)
		}
		list = append(list, one)
	}
	return list, nil
}

// runningIn returns the run that works in a directory, as far as this process can see; "" for
// none.
func runningIn(runs []clone.Run, dir string) string {
	for _, r := range slices.Backward(runs) {
		if r.Worktree == dir && r.Ended.IsZero() && r.Outcome == "" && r.IsRunning() {
			return r.ID
		}
	}
	return ""
}

// TreeRemoved says what became of the work tree of an issue.
type TreeRemoved struct {
	ID        string   `json:"id"`
	Dir       string   `json:"dir"`
	Leftovers string   `json:"leftovers"` // branch with the uncommitted work; "" for none
	Files     []string `json:"files"`     // files on it
	Branch    string   `json:"branch"`    // the branch, if kept for commits that the results lack; "" if removed
	DryRun    bool     `json:"dry_run"`
}

// RemoveWorkTree removes the work tree of an issue. Uncommitted work is kept on a leftovers
// branch. It refuses (fault.Conflict) a work tree that a run is using.
func RemoveWorkTree(ctx context.Context, a *workspace.Run, id string, dryRun bool) (*TreeRemoved, error) {
	if err := a.ForPeople("worktree rm"); err != nil {
		return nil, err
	}
	list, err := WorkTrees(ctx, a)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(one WorkTree) bool { return one.ID == id || one.Branch == git.BranchOf(id, git.WorkBranch) })
	if at < 0 {
		return nil, workspace.Usage(id+": has no work tree in this clone", "type stig worktree list")
	}
	one := list[at]
	if one.Running != "" {
		return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: "run " + one.Running + " works in " + one.Dir, Hint: "let it end, or end its loop: stig worker kill NAME"}
	}
	done := &TreeRemoved{ID: id, Dir: one.Dir, Files: one.Uncommitted, DryRun: dryRun}
	if one.Ahead {
		done.Branch = one.Branch
	}
	switch {
	case dryRun:
		return done, nil
	case one.Gone || one.ID == "":
		return done, one.tree.Forget(ctx)
	case len(one.Uncommitted) == 0 && !one.Ahead:
		if err := one.tree.Remove(ctx); !fault.Is(err, fault.Refused) {
			return done, err
		}
	}
	place, err := a.LivePlace()
	if err != nil {
		return nil, err
	}
	kept, err := putAside(ctx, place, one.tree, !one.Ahead)
	done.Leftovers, done.Files = cmp.Or(kept.Branch, kept.Commit), append([]string{}, kept.Files...)
	return done, err
}

// putAside removes a work tree, with its branch if branch is set, and keeps work that exists
// nowhere else as leftovers of the last run in it.
func putAside(ctx context.Context, place clone.Place, tree *git.Worktree, branch bool) (kept git.Leftovers, err error) {
	runs, _, err := place.Runs(time.Time{})
	if err != nil {
		return kept, err
	}
	o := git.Aside{Run: "unknown", Actor: "unknown", Branch: branch}
	for _, r := range runs {
		if r.Worktree == tree.Dir {
			o.Run, o.Actor = r.ID, r.Actor
		}
	}
	if o.Held, err = place.Held(o.Run); err != nil {
		return kept, err
	}
	return tree.SetAside(ctx, o)
}
