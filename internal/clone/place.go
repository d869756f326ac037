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

// Place is where the live state of one store is kept, and where the store
// stands in its clone.
type Place struct {
	Worktree string // top directory of the work tree; without git the directory that holds the store
	Store    string // the store's path in the work tree, with slashes
	Branch   string // checked out there; "" where HEAD is detached or there is no git
	Head     string // commit of HEAD, "" without
	Tree     git.Checkout

	// Documents keeps what other machines have to see too; nil where all is in files of
	// the clone. Host and Now are then the name and the clock of this machine.
	Documents Documents
	Host      string
	Now       func() time.Time

	rebased string // the branch that is being rebased, while HEAD is detached for that; "" for none
	shared  string // in git's common directory; "" without git
	beside  string // beside the store, for where the first cannot be written
}

const (
	sharedDir = "stig"  // in git's common directory
	besideDir = ".stig" // in the directory of the store
)

// At gives the place of the live state of the store at that path. Its real
// path decides, so that one store reached in two ways has one journal.
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

// realPath follows the symbolic links of an absolute path, and gives the directory that is
// there: git takes a store away for a moment when it puts another one there, and of one on
// a server that was named by hand there may be no directory.
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

// TreeName is how git names the work tree in the clone, "." for the main one; "" without git.
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

// Shared reports whether all work trees of a clone have the live state in
// common, which takes git.
func (p Place) Shared() bool { return p.shared != "" }

// dirs lists the directories that live state is read from: the first that can
// be written is written.
func (p Place) dirs() []string {
	if p.shared == "" {
		return []string{p.beside}
	}
	return []string{p.shared, p.beside}
}

// inDir calls write with the first directory that takes what it writes. A
// sandbox may keep git's directory read-only.
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

// makeDir makes a directory of live state. Beside the store git is told to
// leave it alone.
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
		return nil // an empty one is left by a writer that a full disk stopped
	}
	return file.Replace(ignore, []byte("*\n"))
}

// Writable gives dir, a directory of stig's own in git's that need not be there
// yet, where files can be made in it, else that beside the store at a path: a
// sandbox may keep git's directory read-only.
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
