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

// Checkout is the git work tree that a file lies in.
type Checkout struct {
	Root   string // its top directory
	Own    string // git's directory of this work tree alone
	Common string // git's directory of all work trees of the clone
}

// CheckoutOf finds the work tree of a file or directory, whose real path it
// follows, by looking for .git upwards; it does not start git. Without a work
// tree the zero Checkout is given.
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
			return Checkout{}, nil // git says what is wrong with it
		}
		w.Own = file.Under(root, strings.TrimSpace(link))
		w.Common = w.Own
	}
	if text, err := file.Read(filepath.Join(w.Own, "commondir")); err == nil {
		w.Common = file.Under(w.Own, strings.TrimSpace(string(text)))
	}
	return w, nil
}

// Head gives the branch that is checked out, "" where HEAD is detached, and
// its commit, "" before the first one and where git keeps its references in
// another format than files.
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

// Ref gives the commit that a reference of the clone names, such as refs/heads/main, ""
// for none. It does not start git, and known is false if only git can tell: its references
// are not kept in files, or this one is damaged or names another.
func (w Checkout) Ref(name string) (commit string, known bool) {
	if _, err := os.Lstat(filepath.Join(w.Common, "reftable")); !errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	path := filepath.Join(w.Common, filepath.FromSlash(name))
	if text, err := file.Read(path); err == nil {
		commit = strings.TrimSpace(string(text))
		return commit, IsHash(commit)
	} else if info, e := os.Lstat(path); e == nil && !info.IsDir() {
		return "", false // it is there, and cannot be read
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

// Rebasing gives the branch that git is rebasing in the work tree, which HEAD
// does not name meanwhile; "" where it is rebasing none.
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

// DotGit is the .git of a directory, a directory or a file, or "". One without a HEAD is no
// repository, to git neither: a sandbox of Codex leaves such in each directory that it may write.
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

// MainCheckout is the main checkout that a linked worktree's .git leads to, or
// "" when git is no linked worktree (the main checkout itself, a submodule).
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
			return "", beads.Unreadable(filepath.Join(repository, name), err)
		}
		if worktree := coreWorktree(string(text)); worktree != "" {
			return file.Under(repository, worktree), nil
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

// RealDir is the one name of a directory, absolute and without symbolic links: waiting for
// one lock file under two names would time out.
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
