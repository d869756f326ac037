package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"stig/beads"
	"stig/git"
)

// git runs git beside the store, whose path it gives as git knows it.
func (a *core) git(store beads.Store) (repo git.Client, path string, err error) {
	if path, err = filepath.Abs(store.Path); err != nil {
		return git.Client{}, "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return git.Client{}, "", err
	}
	return a.gitIn("").Beside(path), path, nil
}

// openAt reads the store as it was committed at a revision. The function that
// it gives closes it.
func (a *core) openAt(ctx context.Context, store beads.Store, revision string) (*beads.File, func(), error) {
	repo, path, err := a.git(store)
	if err != nil {
		return nil, nil, err
	}
	copied, err := os.CreateTemp("", "stig-*.jsonl")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.Remove(copied.Name()) }
	err = repo.FileAt(ctx, revision, path, copied)
	if e := copied.Close(); err == nil {
		err = e
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	file, err := beads.Read(beads.Store{Path: copied.Name(), Dir: filepath.Dir(copied.Name())})
	if err != nil {
		remove()
		return nil, nil, err
	}
	a.warnOfLinesAt(revision, store, file)
	return file, func() {
		_ = file.Close()
		remove()
	}, nil
}

// unknownRevision turns the error about a revision that has no store into one
// about the command line.
func unknownRevision(err error, store beads.Store) error {
	if unknown, ok := errors.AsType[*git.RevisionError](err); ok {
		return usage(unknown.Reason, cmp.Or(unknown.Hint, "name a commit that has the store: see git log --oneline -- "+store.Path))
	}
	return err
}

// warnOfLinesAt names the first line of a revision that cannot be read.
func (a *core) warnOfLinesAt(revision string, store beads.Store, file *beads.File) {
	if problems := file.Problems(); len(problems) > 0 {
		a.warn("%s:%s:%d: %s", revision, store.Path, problems[0].Line, problems[0].Message)
	}
}
