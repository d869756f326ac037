package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"stig/beads"
	"stig/diff"
	"stig/git"
	"stig/jsonl"
	"stig/lint"
	"stig/live"
	"stig/merge"
	"stig/process"
)

// Linked worktrees have a store each when git keeps it: a claim in one is not
// seen in the others before it is merged.

// WarnOfBeside says when somebody else has an issue in progress in the store of
// another worktree of the repository. What cannot be found out is no hindrance.
func (a *App) WarnOfBeside(ctx context.Context, id, actor string) {
	store, err := a.Discover()
	if err != nil || !process.Finder("", a.Getenv)("git") {
		return
	}
	for _, tree := range a.storesBeside(ctx, store.Place()) {
		holder := holderIn(tree, id)
		if holder == "" || holder == actor {
			continue
		}
		a.Warn("%s: %s has it in progress in %s, which this store does not know yet", id, holder, filepath.Dir(tree.Place().Dir))
		a.Hint("type stig release " + id + " and take another, unless that work was given up")
	}
}

// storesBeside are the stores at the same place in the other worktrees.
func (a *App) storesBeside(ctx context.Context, store beads.Place) (list []beads.Store) {
	git, path, err := a.Git(store)
	if err != nil {
		return nil
	}
	top, err := git.Must(ctx, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return nil
	}
	top = filepath.FromSlash(strings.TrimSpace(top))
	place, err := filepath.Rel(top, path)
	if err != nil || !filepath.IsLocal(place) {
		return nil
	}
	trees, err := git.Must(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil
	}
	for field := range strings.SplitSeq(trees, "\x00") {
		tree, ok := strings.CutPrefix(field, "worktree ")
		if !ok || filepath.FromSlash(tree) == top {
			continue
		}
		if s, err := jsonl.Discover(jsonl.Where{Dir: tree, File: filepath.Join(tree, place)}); err == nil {
			list = append(list, a.At(s))
		}
	}
	return list
}

// holderIn is who has an issue in progress in a store, "" for nobody.
func holderIn(store beads.Store, id string) string {
	file, err := store.Snapshot()
	if err != nil {
		return ""
	}
	defer file.Close()
	issue, err := file.Find(id)
	if err != nil || issue.Status != "in_progress" {
		return ""
	}
	return issue.Assignee
}

// births gives from the journal what an issue was called when it was made: two
// branches may give one id to two issues in one second, and titles change. What
// the journal of this clone does not know, it does not say.
func (a *App) births() func(id string, as beads.Birth) (title string, known bool) {
	journal := sync.OnceValue(func() (j live.Journal) {
		if place, err := a.livePlace(); err == nil {
			j, _ = place.Journal() // without it the titles of now are compared
		}
		return j
	})
	return func(id string, as beads.Birth) (string, bool) { return titleAtBirth(journal(), id, as) }
}

// titleAtBirth follows the edits of a title back to that of a new issue that
// was made at the same time by the same actor.
func titleAtBirth(j live.Journal, id string, as beads.Birth) (title string, known bool) {
	made := map[string]bool{}     // titles of new issues with that id
	before := map[string]string{} // of a title, the one that it replaced
	for _, r := range j.Records {
		for _, c := range r.Changes {
			switch {
			case c.Issue != id || r.Result != live.Written:
			case c.Kind == string(diff.Issue):
				if line, err := beads.ParseRecord([]byte(c.Now)); err == nil && line.Birth().Together(as) {
					made[line.Text(beads.Title)] = true
				}
			case c.Kind == string(diff.Key) && c.Name == string(beads.Title):
				before[decoded(c.Now)] = decoded(c.Was)
			}
		}
	}
	title = as.Title
	for range before {
		was, edited := before[title]
		if made[title] || !edited {
			break
		}
		title = was
	}
	return title, made[title]
}

// decoded is the text of a JSON string.
func decoded(raw string) (text string) {
	_ = json.Unmarshal([]byte(raw), &text) // the journal holds what the store held
	return text
}

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
