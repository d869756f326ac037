package app

import (
	"context"
	"fmt"
	"strings"

	"stig/beads"
	"stig/git"
	"stig/lint"
	"stig/merge"
)

// The merge driver, which git runs in a shell at the top of the work tree. stig
// writes %A in one step, so that a stig that ends without 0 has left there either a
// result with conflict markers or our side untouched. Of the latter git merge-file
// makes a merge by lines. That one may hold an id twice without a conflict, so the
// driver never calls it merged.
const (
	PlainDriver    = "stig merge %O %A %B" // what setup wrote before there was a fallback
	DriverFallback = " || { grep -q ^======= %A || git merge-file --diff3 -L ours -L base -L theirs %A %O %B; exit 1; }"
	DriverCommand  = PlainDriver + DriverFallback
)

// Unfinished says what a merge that git has not finished left of the store; nil
// where nothing is wrong with it. thorough is that of git.Client.MergeState.
func (a *App) Unfinished(ctx context.Context, store beads.Place, thorough bool) (*lint.Unfinished, error) {
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, err
	}
	state, err := repo.MergeState(ctx, path, thorough)
	if err != nil || state.Sides != nil && !a.leftOut(state.Sides) {
		return nil, err
	}
	switch {
	case state.Unmerged && state.Alone && state.Redo:
		return &lint.Unfinished{
			Reason: oneSide(state.Doing),
			Hint:   fmt.Sprintf("type %s, look at the result, then type git add %s", mergeAgain(ctx, repo, store), store.Path),
		}, nil
	case state.Unmerged:
		return &lint.Unfinished{
			Reason: "has a conflict, in " + merging(state.Doing) + " that is not finished",
			Hint:   "type stig merge --resolve, which lists what is open and how to answer, then git add " + store.Path,
		}, nil
	case state.Alone:
		again := "git " + state.Doing + " --abort, and start again"
		if state.Redo {
			again = mergeAgain(ctx, repo, store) + ", then git add " + store.Path
		}
		return &lint.Unfinished{
			Reason: oneSide(state.Doing),
			Hint:   "type " + again + "; if they are to be left out, type " + leaveOut(state.Doing),
		}, nil
	}
	return nil, nil
}

// leftOut reports whether ours lacks what a side changed. Where stig merge makes
// ours of both, ours has it all.
func (a *App) leftOut(sides []git.Side) bool {
	for _, s := range sides {
		merged := merge.Options{Births: a.births()}.Stores(s.Base, s.Ours, s.Theirs)
		if len(merged.Conflicts) > 0 || merged.Text != s.Ours {
			return true
		}
	}
	return false
}

func oneSide(doing string) string {
	return "holds one side alone, in " + merging(doing) + " that is not finished: the changes of the other side are missing"
}

// merging names what git does in a sentence.
func merging(doing string) string {
	switch doing {
	case "":
		return "a merge"
	case "am":
		return "a git am"
	}
	return "a " + doing
}

// mergeAgain is what to type for git to merge the store again. The driver that
// setup wrote once would leave out again what it left out where stig did not run.
func mergeAgain(ctx context.Context, repo git.Client, store beads.Place) string {
	again := "git checkout -m -- " + store.Path
	result, err := repo.Run(ctx, "config", "--get", "merge.stig.driver")
	if err == nil && strings.TrimSpace(string(result.Stdout)) == PlainDriver {
		return "stig setup git && " + again
	}
	return again
}

// leaveOut is what to type to go on with our version alone.
func leaveOut(doing string) string {
	switch doing {
	case "rebase":
		return "git rebase --continue"
	case "merge":
		return "git commit --no-verify"
	}
	return "git commit --no-verify --allow-empty"
}

// RefuseUnfinished refuses a store that an unfinished merge may have left
// incomplete: work would begin without what others did, and what is written now
// would hide that it is missing.
func (a *App) RefuseUnfinished(ctx context.Context, store beads.Place) error {
	u, err := a.Unfinished(ctx, store, false)
	if err != nil || u == nil {
		return err
	}
	return &beads.RefusedError{Path: store.Path, Reason: u.Reason, Hint: u.Hint}
}
