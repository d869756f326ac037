package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

// Checkout is the git work tree that contains a file.
type Checkout struct {
	Root   string // its top directory
	Own    string // git's directory of this work tree
	Common string // git's directory shared by all work trees of the clone
}

// CheckoutOf finds the work tree of a file or directory, by its real path, searching upwards
// for .git without starting git. Without a work tree it returns the zero Checkout.
func CheckoutOf(path string) (Checkout, error) {
	dir, err := RealDir(path)
	if err != nil {
		return Checkout{}, err
	}
	for ; ; dir = filepath.Dir(dir) {
		git, err := DotGit(dir)
		if err != nil {
			return Checkout{}, err
		}
		if git != "" {
			return worktreeAt(dir, git)
		}
		if filepath.Dir(dir) == dir {
			return Checkout{}, nil
		}
	}
}

// worktreeAt reads where the .git at a root leads.
func worktreeAt(root, git string) (Checkout, error) {
	w := Checkout{Root: root, Own: git, Common: git}
	info, err := os.Stat(git)
	if err != nil {
		return Checkout{}, beads.Unreadable(git, err)
	}
	if !info.IsDir() {
		text, err := file.Read(git)
		if err != nil {
			return Checkout{}, beads.Unreadable(git, err)
		}
		link, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
		if !ok {
			return Checkout{}, nil // git reports what is wrong with it
		}
		w.Own = file.Under(root, strings.TrimSpace(link))
		w.Common = w.Own
	}
	if text, err := file.Read(filepath.Join(w.Own, "commondir")); err == nil {
		w.Common = file.Under(w.Own, strings.TrimSpace(string(text)))
	}
	return w, nil
}

// Head returns the branch that is checked out, "" if HEAD is detached, and its commit, ""
// before the first one and if git does not keep its references in files.
func (w Checkout) Head() (branch, commit string) {
	text, err := file.Read(filepath.Join(w.Own, "HEAD"))
	if err != nil {
		return "", ""
	}
	head := strings.TrimSpace(string(text))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return "", head
	}
	commit, _ = w.Ref(ref)
	return strings.TrimPrefix(ref, "refs/heads/"), commit
}

// Ref returns the commit of a reference such as refs/heads/main, "" for none. It does not start
// git; known is false if only git can tell, because references are not kept in files, or this
// one is damaged or symbolic.
func (w Checkout) Ref(name string) (commit string, known bool) {
	if _, err := os.Lstat(filepath.Join(w.Common, "reftable")); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	path := filepath.Join(w.Common, filepath.FromSlash(name))
	if text, err := file.Read(path); err == nil {
		commit = strings.TrimSpace(string(text))
		return commit, IsHash(commit)
	} else if info, e := os.Lstat(path); e == nil && !info.IsDir() {
		return "", false // it exists, but is unreadable
	}
	packed, err := os.ReadFile(filepath.Join(w.Common, "packed-refs"))
	if err != nil {
		return "", errors.Is(err, fs.ErrNotExist)
	}
	end := bytes.Index(packed, []byte(" "+name+"\n"))
	if end < 0 {
		return "", true
	}
	commit = string(packed[bytes.LastIndexByte(packed[:end], '\n')+1 : end])
	return commit, IsHash(commit)
}

// Rebasing returns the branch that git is rebasing in the work tree, which HEAD does not name
// meanwhile; "" for none.
func (w Checkout) Rebasing() string {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		if text, err := file.Read(filepath.Join(w.Own, dir, "head-name")); w.Own != "" && err == nil {
			if branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "refs/heads/"); ok {
				return branch
			}
		}
	}
	return ""
}

// DotGit returns the .git of a directory, a directory or a file, or "". One without a HEAD is
// not a repository, for git neither: a sandbox of Codex leaves such in each directory it may
// write.
func DotGit(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(path, "HEAD"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", beads.Unreadable(path, err)
	}
	return path, nil
}

// MainCheckout returns the main checkout of a linked worktree, given its .git, or "" if git is
// not a linked worktree (the main checkout itself, a submodule).
func MainCheckout(git string) (string, error) {
	if info, err := os.Stat(git); err != nil || info.IsDir() {
		return "", err
	}
	text, err := file.Read(git)
	if err != nil {
		return "", beads.Unreadable(git, err)
	}
	link, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if !ok {
		return "", &fault.Error{Code: fault.Store, Path: git, Reason: fmt.Sprintf("expected \"gitdir: PATH\", found %.40q", text), Hint: "see git worktree repair"}
	}
	dir := file.Under(filepath.Dir(git), strings.TrimSpace(link))
	common, err := file.Read(filepath.Join(dir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", beads.Unreadable(filepath.Join(dir, "commondir"), err)
	}
	return checkoutOf(file.Under(dir, strings.TrimSpace(string(common))))
}

// checkoutOf returns the checkout of a repository's own directory: the parent of a .git, or the
// one named by the configuration, as for a submodule. A bare repository has none, whatever is
// beside it.
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
			return "", beads.Unreadable(filepath.Join(repository, name), err)
		}
		if worktree := coreWorktree(string(text)); worktree != "" {
			return file.Under(repository, worktree), nil
		}
	}
	return "", nil
}

// coreWorktree is the value of core.worktree in git's configuration, or "".
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

// RealDir returns the canonical name of a directory, absolute and without symbolic links:
// locking one file under two names would time out.
func RealDir(dir string) (string, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return "", beads.Unreadable(dir, err)
	}
	return resolved, nil
}
