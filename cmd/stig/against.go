package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"stig/beads"
	"stig/git"
	"stig/lint"
)

// past opens the store as it was where the present commit left a revision, so
// that what others did there since is not taken for what was undone here. It is
// nil for "", and for a revision from before there was a store or any commit; the
// function that it gives closes it.
func (a *core) past(ctx context.Context, store beads.Store, revision string) (*lint.Past, func(), error) {
	if revision == "" {
		return nil, func() {}, nil
	}
	repo, _, err := a.git(store)
	if err != nil {
		return nil, nil, err
	}
	if revision == "HEAD" && unborn(ctx, repo) {
		a.warn("there is no commit yet, so that there is nothing to hold the store against")
		return nil, func() {}, nil
	}
	left, err := whereLeft(ctx, repo, revision)
	if err != nil {
		return nil, nil, unknownRevision(err, store)
	}
	file, forget, err := a.openAt(ctx, store, left)
	if err == nil {
		return &lint.Past{File: file, Name: revision}, forget, nil
	}
	if _, missing := errors.AsType[*git.RevisionError](err); !missing {
		return nil, nil, err
	}
	had, e := hadStore(ctx, repo, left)
	if e != nil {
		return nil, nil, e
	}
	if had {
		return nil, nil, unknownRevision(err, store)
	}
	a.warn("%s: has no store yet, so that there is nothing to hold this one against", revision)
	return nil, func() {}, nil
}

// unborn reports whether HEAD is a branch without a commit: a hook that runs before
// the first one must let it pass.
func unborn(ctx context.Context, repo git.Client) bool {
	branch, err := repo.Run(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil || branch.Exit != 0 {
		return false
	}
	commit, err := repo.Run(ctx, "rev-parse", "-q", "--verify", "HEAD")
	return err == nil && commit.Exit != 0
}

// whereLeft is the last commit that a revision and the present one share.
func whereLeft(ctx context.Context, repo git.Client, revision string) (string, error) {
	commit, err := repo.Commit(ctx, revision)
	if err != nil {
		return "", err
	}
	base, err := repo.Run(ctx, "merge-base", commit, "HEAD")
	if err != nil {
		return "", err
	}
	if base.Exit != 0 {
		return "", usage(fmt.Sprintf("%q: shares no commit with HEAD", revision),
			"name an earlier commit of this branch; in a shallow clone type git fetch --unshallow")
	}
	return strings.TrimSpace(string(base.Stdout)), nil
}

// hadStore reports whether a commit holds any store: one that was moved since
// must not pass for one that is new. What lies deeper in a .beads, such as the
// backups of bd, is none.
func hadStore(ctx context.Context, repo git.Client, commit string) (bool, error) {
	files, err := repo.Must(ctx, "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit)
	if err != nil {
		return false, err
	}
	for file := range strings.SplitSeq(files, "\x00") {
		if dir, name := path.Split(file); path.Base(dir) == ".beads" && strings.HasSuffix(name, ".jsonl") {
			return true, nil
		}
	}
	return false, nil
}
