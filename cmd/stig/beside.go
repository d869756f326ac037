package main

import (
	"context"
	"path/filepath"
	"strings"

	"stig/beads"
	"stig/process"
)

// Linked worktrees have a store each when git keeps it: a claim in one is not
// seen in the others before it is merged.

// warnOfBeside says when somebody else has an issue in progress in the store of
// another worktree of the repository. What cannot be found out is no hindrance.
func (a *core) warnOfBeside(ctx context.Context, store beads.Store, id, actor string) {
	if !process.Finder("", a.getenv)("git") {
		return
	}
	for _, tree := range a.storesBeside(ctx, store) {
		holder := holderIn(tree, id)
		if holder == "" || holder == actor {
			continue
		}
		a.warn("%s: %s has it in progress in %s, which this store does not know yet", id, holder, filepath.Dir(tree.Dir))
		a.hint("type stig release " + id + " and take another, unless that work was given up")
	}
}

// storesBeside are the stores at the same place in the other worktrees.
func (a *core) storesBeside(ctx context.Context, store beads.Store) (list []beads.Store) {
	git, path, err := a.git(store)
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
		if s, err := beads.Discover(beads.Where{Dir: tree, File: filepath.Join(tree, place)}); err == nil {
			list = append(list, s)
		}
	}
	return list
}

// holderIn is who has an issue in progress in a store, "" for nobody.
func holderIn(store beads.Store, id string) string {
	file, err := beads.Read(store)
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
