package clone

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stig/internal/file"
	"stig/internal/git"
)

// Place is where the live state of a store is, and where the store is in its clone.
type Place struct {
	Worktree string // root of the work tree; without git the directory of the store
	Store    string // path of the store in the work tree, with slashes
	Branch   string // checked out there; "" if HEAD is detached or without git
	Head     string // commit of HEAD; "" if there is none
	Tree     git.Checkout

	// Documents stores what other machines need too; nil if everything is in files of the
	// clone. Otherwise Host and Now are this machine's name and clock.
	Documents Documents
	Host      string
	Now       func() time.Time

	rebased string // the branch being rebased while HEAD is detached; "" for none
	shared  string // in git's common directory; "" without git
	beside  string // beside the store, if the shared one cannot be written
}

const (
	sharedDir = "stig"  // in git's common directory
	besideDir = ".stig" // in the directory of the store
)

// At returns the place of the live state of the store at a path. Links are resolved, so that a
// store has one journal whatever path leads to it.
func At(path string) (Place, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return Place{}, err
	}
	real, there, err := realPath(full)
	if err != nil {
		return Place{}, err
	}
	dir := filepath.Dir(real)
	tree, err := git.CheckoutOf(there)
	if err != nil {
		return Place{}, err
	}
	p := Place{Worktree: tree.Root, Tree: tree, beside: filepath.Join(dir, besideDir)}
	if tree.Root == "" {
		p.Worktree, p.Store = dir, filepath.Base(real)
		return p, nil
	}
	below, err := filepath.Rel(tree.Root, real)
	if err != nil {
		return Place{}, err
	}
	p.Store, p.shared = filepath.ToSlash(below), filepath.Join(tree.Common, sharedDir)
	p.Branch, p.Head = tree.Head()
	if p.Branch == "" {
		p.rebased = tree.Rebasing()
	}
	return p, nil
}

// realPath resolves the links of an absolute path, and returns the directory that exists: git
// removes a store for a moment when it replaces it, and for a store on a server there may be no
// directory.
func realPath(path string) (real, there string, err error) {
	if real, err = filepath.EvalSymlinks(path); err == nil {
		return real, filepath.Dir(real), nil
	}
	up := filepath.Dir(path)
	if !errors.Is(err, fs.ErrNotExist) || up == path {
		return "", "", err
	}
	if real, err = filepath.EvalSymlinks(up); err == nil {
		return filepath.Join(real, filepath.Base(path)), real, nil
	}
	if real, there, err = realPath(up); err == nil {
		real = filepath.Join(real, filepath.Base(path))
	}
	return real, there, err
}

// TreeName returns git's name of the work tree in the clone, "." for the main one; "" without
// git.
func (p Place) TreeName() string {
	if p.Tree.Own == "" {
		return ""
	}
	name, err := filepath.Rel(p.Tree.Common, p.Tree.Own)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(name)
}

// Shared reports whether all work trees of a clone share the live state, which needs git.
func (p Place) Shared() bool { return p.shared != "" }

// dirs lists the directories to read live state from; the first writable one is written.
func (p Place) dirs() []string {
	if p.shared == "" {
		return []string{p.beside}
	}
	return []string{p.shared, p.beside}
}

// inDir calls write with the directories of dirs until it succeeds. A sandbox may make git's
// directory read-only.
func (p Place) inDir(write func(dir string) error) (err error) {
	for _, dir := range p.dirs() {
		e := p.makeDir(dir)
		if e == nil {
			e = write(dir)
		}
		if e == nil {
			return nil
		}
		err = errors.Join(err, e)
	}
	return err
}

// makeDir creates a directory of live state, with a .gitignore if it is beside the store.
func (p Place) makeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := file.MkdirPrivate(dir); err != nil {
		return err
	}
	if dir != p.beside {
		return nil
	}
	ignore := filepath.Join(dir, ".gitignore")
	if info, err := os.Lstat(ignore); err == nil && info.Size() > 0 {
		return nil // a full disk leaves an empty one
	}
	return file.Replace(ignore, []byte("*\n"))
}

// Writable returns dir, stig's own directory in git's, which may not exist yet, if files can be
// created in it; otherwise the one beside the store: a sandbox may make git's directory
// read-only.
func Writable(dir, store string) string {
	in := dir
	if _, err := os.Stat(in); errors.Is(err, fs.ErrNotExist) {
		in = filepath.Dir(dir)
	}
	if f, err := os.CreateTemp(in, file.Unfinished); err == nil {
		_, _ = f.Close(), os.Remove(f.Name())
		return dir
	}
	p, err := At(store)
	if err != nil || p.makeDir(p.beside) != nil {
		return dir
	}
	return p.beside
}
