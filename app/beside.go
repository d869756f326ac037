package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"

	"stig/beads"
	"stig/diff"
	"stig/jsonl"
	"stig/live"
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
			case c.Issue != id || r.Result != live.Written || r.Seen:
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
