package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/git"
)

// Where tells Discover where to look; the fields are the flags and variables. A relative File
// or BeadsDir is relative to Dir; File may be the URL of a store on a server.
type Where struct {
	Dir      string // working directory (-C)
	File     string // --store
	BeadsDir string // BEADS_DIR
}

// Discover finds the store: w.File, else w.BeadsDir, else the nearest .beads with issues from
// w.Dir up to the root of the repository (of the file system outside one); from a linked
// worktree, then that of the main checkout. A .beads may name another in its file "redirect",
// once, and a server with the issues in its SettingsFile. Errors have code fault.Store.
func Discover(w Where) (beads.Place, error) {
	dir, err := filepath.Abs(w.Dir)
	if err != nil {
		return beads.Place{}, beads.Unreadable(w.Dir, err)
	}
	switch {
	case IsURL(w.File):
		return storeOfURL(dir, w)
	case w.File != "":
		return storeOfFile(file.Under(dir, w.File))
	case w.BeadsDir != "":
		return storeOfDir(file.Under(dir, w.BeadsDir))
	}
	return walkUp(dir)
}

func storeOfFile(path string) (beads.Place, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if s, ok := unexported(path); ok {
			return s, nil
		}
	}
	if err != nil {
		return beads.Place{}, beads.Unreadable(path, err)
	}
	if info.IsDir() {
		return beads.Place{}, &fault.Error{Code: fault.Store, Path: path, Reason: "is a directory", Hint: "name the .jsonl file in it"}
	}
	d, err := listDir(filepath.Dir(path))
	if err != nil {
		return beads.Place{}, err
	}
	if filepath.Base(path) == SettingsFile {
		return d.server()
	}
	if filepath.Base(d.dir) != beads.DirName && !d.has("metadata.json") {
		// Some other directory: the files beside it mean nothing.
		return beads.Place{Path: path, Dir: d.dir}, nil
	}
	s, err := d.store(filepath.Base(path))
	if main, _ := d.jsonl(); s.Mode == beads.BD && filepath.Base(path) != main {
		s.Mode = beads.Export // some other export
	}
	return s, err
}

// unexported returns the store whose export a file would be, if bd keeps the issues in Dolt and
// may not have exported them yet.
func unexported(path string) (beads.Place, bool) {
	d, err := listDir(filepath.Dir(path))
	if err != nil {
		return beads.Place{}, false
	}
	s, found, err := d.find()
	return s, err == nil && found && s.Mode == beads.BD && s.Path == path
}

// storeOfDir is the store of a .beads named explicitly, which must contain one.
func storeOfDir(dir string) (beads.Place, error) {
	d, err := listDir(dir)
	if err != nil {
		return beads.Place{}, err
	}
	s, found, err := d.find()
	if err == nil && !found {
		err = &fault.Error{Code: fault.Store, Path: dir, Reason: "contains no .jsonl file", Hint: d.hint()}
	}
	return s, err
}

// walkUp visits each directory from dir to the root, by its real path, since a symlink's
// parents are not those of the repository.
func walkUp(dir string) (beads.Place, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return beads.Place{}, beads.Unreadable(dir, err)
	}
	search := search{hint: "create one with stig init, or name it with --store FILE"}
	at := real
	for {
		if s, found, err := search.look(at); found || err != nil {
			return s, err
		}
		git, err := git.DotGit(at)
		if err != nil {
			return beads.Place{}, err
		}
		if git != "" {
			return search.mainCheckout(real, at, git)
		}
		if filepath.Dir(at) == at {
			return beads.Place{}, search.nothing(real, at)
		}
		at = filepath.Dir(at)
	}
}

// search collects what to say if nothing is found.
type search struct {
	hint string
	held bool // another program has a store here, but without a file of issues
}

func (q *search) nothing(from, root string) error {
	reason := fmt.Sprintf("no %s store found", beads.DirName)
	if from != root {
		reason += " here or above, up to " + root
	}
	e := &fault.Error{Code: fault.Store, Path: from, Reason: reason, Hint: q.hint}
	if !q.held {
		e.Err = beads.ErrAbsent
	}
	return e
}

// look tries the .beads of one directory.
func (q *search) look(dir string) (beads.Place, bool, error) {
	path := filepath.Join(dir, beads.DirName)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return beads.Place{}, false, nil
	}
	if err != nil {
		return beads.Place{}, false, beads.Unreadable(path, err)
	}
	d, err := listDir(path)
	if err != nil {
		return beads.Place{}, false, err
	}
	s, found, err := d.find()
	if !found && err == nil && d.tracked() {
		q.hint, q.held = path+" contains no .jsonl file: "+d.hint(), true
	}
	return s, found, err
}

func (q *search) mainCheckout(from, root, gitDir string) (beads.Place, error) {
	checkout, err := git.MainCheckout(gitDir)
	if err != nil {
		return beads.Place{}, err
	}
	if checkout == "" || checkout == root {
		return beads.Place{}, q.nothing(from, root)
	}
	s, found, err := q.look(checkout)
	if !found && err == nil {
		err = q.nothing(from, root+" and in "+checkout)
	}
	return s, err
}

// find returns the store of a .beads, or of the one it redirects to.
func (d listing) find() (beads.Place, bool, error) {
	if !d.has("redirect") {
		return d.here()
	}
	target, err := d.redirect()
	if err != nil || target == "" {
		return beads.Place{}, false, err
	}
	there, err := listDir(target)
	if err != nil {
		return beads.Place{}, false, err
	}
	s, found, err := there.here()
	if err == nil && !found {
		err = &fault.Error{Code: fault.Store,
			Path: filepath.Join(d.dir, "redirect"), Reason: fmt.Sprintf("leads to %q, which contains no .jsonl file", target),
			Hint: "write the path of a .beads directory into it; only one redirect is followed"}
	}
	return s, found, err
}

func (d listing) here() (beads.Place, bool, error) {
	if d.has(SettingsFile) {
		s, err := d.server()
		return s, err == nil, err
	}
	name, err := d.jsonl()
	if err == nil && name == "" { // bd 1.0 writes no file unless told to
		if _, dolt, wrong := d.dolt(); wrong != nil || dolt {
			name, err = "issues.jsonl", wrong
		}
	}
	if err != nil || name == "" {
		return beads.Place{}, false, err
	}
	s, err := d.store(name)
	return s, err == nil, err
}

// redirect reads where the file "redirect" leads. A relative path is relative to the project,
// the parent of .beads; one that exists only relative to .beads itself, as some programs write
// it, is accepted too.
func (d listing) redirect() (string, error) {
	path := filepath.Join(d.dir, "redirect")
	text, err := file.Read(path)
	if err != nil {
		return "", beads.Unreadable(path, err)
	}
	target := ""
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			target = line
			break
		}
	}
	if target == "" {
		return "", &fault.Error{Code: fault.Store, Path: path, Reason: "names no directory", Hint: "write the path of a .beads directory into it, or remove it"}
	}
	for _, base := range []string{filepath.Dir(d.dir), d.dir} {
		there := file.Under(base, target)
		if info, err := os.Stat(there); err == nil && info.IsDir() {
			return there, nil
		}
	}
	return "", &fault.Error{Code: fault.Store,
		Path: path, Reason: fmt.Sprintf("leads to %q, which is not a directory", target),
		Hint: "write the path of a .beads directory into it, or remove it"}
}
