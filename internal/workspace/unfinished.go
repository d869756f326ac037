package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/lint"
	"stig/internal/merge"
)

// ReadText reads a whole file into one string without copies: stores may be large, and a merge
// has three of them in memory.
func ReadText(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	_, err = io.Copy(&text, file)
	return text.String(), err
}

// Unfinished returns what an unfinished merge of git left in the store; nil if nothing is
// wrong. For thorough see git.Client.MergeState.
func (a *Run) Unfinished(ctx context.Context, store beads.Place, thorough bool) (*lint.Unfinished, error) {
	if store.Mode == beads.Server {
		return nil, nil // git merges at most a copy
	}
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
	case state.Unmerged && !hasConflict(store):
		return &lint.Unfinished{
			Reason: "was merged but not added with git add, in " + Merging(state.Doing) + " that is not finished",
			Hint:   "type git add " + store.Path + " when stig check finds nothing else",
		}, nil
	case state.Unmerged:
		return &lint.Unfinished{
			Reason: "has a conflict, in " + Merging(state.Doing) + " that is not finished",
			Hint:   "type stig merge --resolve, which lists what is open and how to answer, then git add " + store.Path,
		}, nil
	case state.Alone:
		again := "git " + state.Doing + " --abort, and start again"
		if state.Redo {
			again = mergeAgain(ctx, repo, store) + ", then git add " + store.Path
		}
		return &lint.Unfinished{
			Reason: oneSide(state.Doing),
			Hint:   "type " + again + "; to leave them out, type " + leaveOut(state.Doing),
		}, nil
	}
	return nil, nil
}

// hasConflict reports whether a store has conflict markers or cannot be read.
func hasConflict(store beads.Place) bool {
	text, err := ReadText(store.Path)
	return err != nil || len(merge.Open(text, merge.Origin{})) > 0
}

// leftOut reports whether ours lacks changes of a side: whether stig merge would produce
// anything but ours.
func (a *Run) leftOut(sides []git.Side) bool {
	for _, s := range sides {
		merged := merge.Options{Births: a.Births()}.Stores(s.Base, s.Ours, s.Theirs)
		if len(merged.Conflicts) > 0 || merged.Text != s.Ours {
			return true
		}
	}
	return false
}

func oneSide(doing string) string {
	return "has the changes of one side only, in " + Merging(doing) + " that is not finished: those of the other side are missing"
}

// Merging names git's operation within a sentence.
func Merging(doing string) string {
	switch doing {
	case "":
		return "a merge"
	case "am":
		return "a git am"
	}
	return "a " + doing
}

// mergeAgain returns the command that makes git merge the store again. The driver of older
// setups has no fallback: it would lose the same changes again if stig cannot run.
func mergeAgain(ctx context.Context, repo git.Client, store beads.Place) string {
	again := "git checkout -m -- " + store.Path
	result, err := repo.Run(ctx, "config", "--get", "merge.stig.driver")
	if err == nil && strings.TrimSpace(string(result.Stdout)) == merge.PlainDriver {
		return "stig setup git && " + again
	}
	return again
}

// leaveOut returns the command that continues with our version alone.
func leaveOut(doing string) string {
	switch doing {
	case "rebase":
		return "git rebase --continue"
	case "merge":
		return "git commit --no-verify"
	}
	return "git commit --no-verify --allow-empty"
}

// RefuseUnfinished returns an error if an unfinished merge may have left the store incomplete:
// work would start without others' changes, and new edits would hide that they are missing.
func (a *Run) RefuseUnfinished(ctx context.Context, store beads.Place) error {
	u, err := a.Unfinished(ctx, store, false)
	if err != nil || u == nil {
		return err
	}
	return &fault.Error{Code: fault.Refused, Path: store.Path, Reason: u.Reason, Hint: u.Hint}
}
