package beads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// gitOf is the .git of a directory, a directory or a file, or "".
func gitOf(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", unreadable(path, err)
	}
	return path, nil
}

// mainCheckout is the main checkout that a linked worktree's .git leads to, or
// "" when git is no linked worktree (the main checkout itself, a submodule).
func mainCheckout(git string) (string, error) {
	if info, err := os.Stat(git); err != nil || info.IsDir() {
		return "", err
	}
	text, err := os.ReadFile(git)
	if err != nil {
		return "", unreadable(git, err)
	}
	link, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if !ok {
		return "", &StoreError{Path: git, Reason: fmt.Sprintf("expected \"gitdir: PATH\", found %q", brief(text)), Hint: "see git worktree repair"}
	}
	dir := under(filepath.Dir(git), strings.TrimSpace(link))
	common, err := os.ReadFile(filepath.Join(dir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", unreadable(filepath.Join(dir, "commondir"), err)
	}
	return checkoutOf(under(dir, strings.TrimSpace(string(common))))
}

// checkoutOf is the checkout that belongs to a repository's own directory:
// what stands around a .git, and what the configuration of another names, as
// that of a submodule does. A bare repository has none, and what lies beside
// it is not its own.
func checkoutOf(repository string) (string, error) {
	if filepath.Base(repository) == ".git" {
		return filepath.Dir(repository), nil
	}
	for _, name := range []string{"config.worktree", "config"} {
		text, err := os.ReadFile(filepath.Join(repository, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", unreadable(filepath.Join(repository, name), err)
		}
		if worktree := coreWorktree(string(text)); worktree != "" {
			return under(repository, worktree), nil
		}
	}
	return "", nil
}

// coreWorktree is the value of core.worktree in a configuration of git, or "".
func coreWorktree(config string) (worktree string) {
	core := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if core && strings.EqualFold(strings.TrimSpace(key), "worktree") {
			worktree = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return worktree
}
