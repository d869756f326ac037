package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The store is left out of a work tree by what is in git's directory of that tree alone:
// patterns, and bits in its index. That git is to follow the patterns is said in the
// environment, since git would write it into what all work trees of the repository share.

// parameters is the variable by which git passes settings on to the programs it starts.
const parameters = "GIT_CONFIG_PARAMETERS"

// SparseSettings is a variable, NAME=VALUE, with which git leaves out of a work tree what
// PrepareWorktree left out of it. Settings that env passes on are kept.
func SparseSettings(env []string) string {
	text := "'core.sparsecheckout'='true' 'core.sparsecheckoutcone'='false'"
	for _, variable := range env {
		if had, ok := strings.CutPrefix(variable, parameters+"="); ok && had != "" {
			return parameters + "=" + had + " " + text
		}
	}
	return parameters + "=" + text
}

// leaveOut writes the patterns that leave the store out of a work tree.
func (t *Worktree) leaveOut() error {
	if t.repo.store == "" {
		return nil
	}
	path := filepath.Join(t.own, "info", "sparse-checkout")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("/*\n!/"+pattern(t.repo.store)+"\n"), 0o644)
}

// hasStore reports whether files of the store are in the work tree.
func (t *Worktree) hasStore() bool {
	return t.repo.store != "" && isThere(filepath.Join(t.Dir, filepath.FromSlash(t.repo.store)))
}

// leaveOutAgain has the index leave the store out where a git that did not know of it, such
// as that of an editor, put it back. Files of the store that a worker changed stay.
func (t *Worktree) leaveOutAgain(ctx context.Context) error {
	if t.repo.store == "" {
		return nil
	}
	listed, err := t.git().Must(ctx, "ls-files", "-t", "-z", "--", t.repo.store)
	if err != nil {
		return err
	}
	isThere := func(line string) bool { return strings.HasPrefix(line, "H ") }
	if !slices.ContainsFunc(strings.Split(listed, "\x00"), isThere) {
		return nil
	}
	if err := t.leaveOut(); err != nil {
		return err
	}
	_, err = t.git().Run(ctx, "sparse-checkout", "reapply") // it fails for nothing but files of the store that differ
	return err
}

// Older versions had git write into the configuration of the repository that work trees
// have settings of their own, and held oldTreesLock while they made one.
const (
	ownSettings  = "extensions.worktreeConfig"
	oldTreesLock = "trees.lock"
	ownConfig    = "config.worktree"
)

// undoOwnSettings takes back what older versions wrote into the configuration of the
// repository, where nobody else has use of it: no work tree but theirs has settings of its
// own, and the main one none but those that git moved there for them.
func (r *worktreeRepo) undoOwnSettings(ctx context.Context) error {
	mark := filepath.Join(r.common, "stig", oldTreesLock)
	if !isThere(mark) {
		return nil
	}
	others := false
	for dir, own := range ownDirectories(r.common) {
		path := filepath.Join(own, ownConfig)
		set, err := r.settings(ctx, path)
		if err != nil {
			return err
		}
		if _, ours := readNote(own); (ours || filepath.Dir(dir) == r.trees) && len(without(set, sparseKeys)) == 0 {
			err = os.RemoveAll(path)
		}
		if err != nil {
			return err
		}
		others = others || isThere(path)
	}
	config, main := filepath.Join(r.common, "config"), filepath.Join(r.common, ownConfig)
	moved, err := r.settings(ctx, main)
	if err != nil || others || len(without(moved, movedKeys)) > 0 {
		return err
	}
	for key, values := range moved {
		if _, err := r.git.Must(ctx, "config", "--file", config, key, values[len(values)-1]); err != nil {
			return err
		}
	}
	if _, err := r.git.Run(ctx, "config", "--file", config, "--unset", ownSettings); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(main), os.Remove(mark))
}

// What git writes into the settings of a work tree that is sparse, and what it moves there
// of the main one.
var (
	sparseKeys = []string{"core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse"}
	movedKeys  = []string{"core.bare", "core.worktree"}
)

// settings reads a file of git's configuration, which may not be there.
func (r *worktreeRepo) settings(ctx context.Context, path string) (map[string][]string, error) {
	if !isThere(path) {
		return nil, nil
	}
	return r.git.settings(ctx, path)
}

// without lists the keys of settings but for some.
func without[V any](set map[string]V, some []string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(set)), func(key string) bool { return slices.Contains(some, key) })
}
