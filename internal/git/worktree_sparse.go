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

// Only git's directory of a work tree makes it omit the store: patterns, and bits in its index.
// The setting that makes git follow the patterns is passed in the environment, because git
// would otherwise write it into the configuration shared by all work trees.

// parameters is the variable through which git passes settings to child processes.
const parameters = "GIT_CONFIG_PARAMETERS"

// SparseSettings is a variable, NAME=VALUE, that makes git omit from a work tree what
// PrepareWorktree omitted. Settings in env are kept.
func SparseSettings(env []string) string {
	text := "'core.sparsecheckout'='true' 'core.sparsecheckoutcone'='false'"
	for _, variable := range env {
		if had, ok := strings.CutPrefix(variable, parameters+"="); ok && had != "" {
			return parameters + "=" + had + " " + text
		}
	}
	return parameters + "=" + text
}

// leaveOut writes the patterns that omit the store from a work tree.
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

// hasStore reports whether the work tree contains files of the store.
func (t *Worktree) hasStore() bool {
	return t.repo.store != "" && isThere(filepath.Join(t.Dir, filepath.FromSlash(t.repo.store)))
}

// leaveOutAgain omits the store again if a git without the settings, such as an editor's,
// restored it. Files of the store that a worker changed stay.
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
	_, err = t.git().Run(ctx, "sparse-checkout", "reapply") // it fails only for files of the store that differ
	return err
}

// Older versions made git write into the repository's configuration that work trees have their
// own settings, and held oldTreesLock meanwhile.
const (
	ownSettings  = "extensions.worktreeConfig"
	oldTreesLock = "trees.lock"
	ownConfig    = "config.worktree"
)

// undoOwnSettings removes the settings that older versions wrote into the repository's
// configuration, unless something else uses them. Nothing else does if only stig's work trees
// have settings of their own and the main work tree has only those that git moved there.
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

// What git writes into the settings of a sparse work tree, and what it moves from the main one.
var (
	sparseKeys = []string{"core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse"}
	movedKeys  = []string{"core.bare", "core.worktree"}
)

// settings reads a git configuration file, which may be missing.
func (r *worktreeRepo) settings(ctx context.Context, path string) (map[string][]string, error) {
	if !isThere(path) {
		return nil, nil
	}
	return r.git.settings(ctx, path)
}

// without lists the keys of settings except some.
func without[V any](set map[string]V, some []string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(set)), func(key string) bool { return slices.Contains(some, key) })
}
