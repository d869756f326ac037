package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stig/internal/beads"
	"stig/internal/fault"
)

// Store is a store in one file. It implements beads.Store.
type Store struct {
	place beads.Place

	// Weak, if set, is called before a write if the file system cannot exchange two files: see
	// CanExchange.
	Weak func(beads.Place)

	// Cache, if set, keeps the last reading.
	Cache *Cache
}

// Open returns the store at a place, such as Discover finds. It reads nothing yet.
func Open(p beads.Place) *Store { return &Store{place: p} }

// Place implements beads.Store.
func (s *Store) Place() beads.Place { return s.place }

// Snapshot implements beads.Store. A file that another program seems to be writing in place is
// read again for up to a second. The snapshot keeps the file open, so its lines stay valid when
// the file is replaced by rename.
func (s *Store) Snapshot() (*beads.Snapshot, error) {
	if s.Cache == nil {
		return Read(s.place)
	}
	f, err := s.Cache.read(s.place)
	if err != nil {
		return nil, err
	}
	return f.Snapshot, nil
}

// Read is Open(p).Snapshot().
func Read(p beads.Place) (*beads.Snapshot, error) {
	f, err := read(p, beads.Source{})
	if err != nil {
		return nil, err
	}
	return f.Snapshot, nil
}

// Edit implements beads.Store. It locks the store, reads it, calls fn, and if fn changed
// something checks that the disk still holds what was read and replaces the file. fn may run up
// to five times. Whatever the error, the file is whole: old or new. A dry run also refuses a
// store that may not be written.
func (s *Store) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	return s.edit(ctx, osDisk{}, o, trying(o, fn))
}

// attempt computes what to make of a store as read.
type attempt func(*opened) (*edited, error)

func trying(o beads.Options, fn func(*beads.Tx) error) attempt {
	return func(f *opened) (*edited, error) {
		tx, err := beads.Try(f.Snapshot, o, fn)
		if err != nil {
			return nil, err
		}
		return &edited{changes: tx.Changes(), patches: tx.Patches(), after: tx.After}, nil
	}
}

func (s *Store) edit(ctx context.Context, d disk, o beads.Options, do attempt) (changes []beads.Change, err error) {
	w := &writer{disk: d, store: s.place, options: o, weak: s.Weak, cache: s.Cache}
	if w.target, err = filepath.EvalSymlinks(s.place.Path); err != nil {
		return nil, beads.Unreadable(s.place.Path, err)
	}
	if err := refuseReadOnly(w.target); err != nil {
		return nil, err
	}
	if o.DryRun {
		return w.run(ctx, do)
	}
	paths, err := lockPaths(s.place, w.target)
	if err != nil {
		return nil, err
	}
	own := madeHere(paths)
	unlock, err := lockAll(ctx, d, paths, w.target, o.Wait)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, path := range own {
			_ = d.remove(path) // while it is held, later ones wait for the next one
		}
		err = fault.Join(err, unlock())
	}()
	w.removeLeftovers()
	defer w.dropGuard()
	return w.run(ctx, do)
}

// madeHere are missing lock files in a directory that is not bd's: a store that --store names
// may be among the files of a work tree, where no lock should remain.
func madeHere(paths []string) (own []string) {
	for _, path := range paths {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && filepath.Base(filepath.Dir(path)) != ".beads" {
			own = append(own, path)
		}
	}
	return own
}

// Splice replaces the bytes from Start to End of a store by Text.
type Splice struct {
	Start, End int
	Text       string
}

// Rewrite locks the store, reads it, calls fn with its text, and replaces the file as Edit
// does. It is for what no edit of an issue can do, such as removing conflict markers: problems
// in the store do not prevent it, notes are not judged and no times are set. All bytes outside
// the splices, which must be in order, stay. fn may run up to five times.
//
// Errors are those of Edit and of fn.
func (s *Store) Rewrite(ctx context.Context, o beads.Options, fn func(text string) ([]Splice, error)) error {
	_, err := s.edit(ctx, osDisk{}, o, func(f *opened) (*edited, error) {
		text, err := f.text()
		if err != nil {
			return nil, err
		}
		splices, err := fn(text)
		var patches []beads.Patch
		for _, p := range splices {
			if text[p.Start:p.End] != p.Text {
				patches = append(patches, beads.Patch{Start: int64(p.Start), End: int64(p.End), With: []byte(p.Text)})
			}
		}
		return &edited{changes: ChangesOf(text, splices), patches: patches}, err
	})
	return err
}

// Rewrite is Store.Rewrite for a file that copies a store kept elsewhere. The store itself is
// written through Store, which is opened in one place.
func Rewrite(ctx context.Context, p beads.Place, o beads.Options, fn func(text string) ([]Splice, error)) error {
	return Open(p).Rewrite(ctx, o, fn)
}

// ChangesOf lists the issues that splices add to a text; none for a splice that leaves conflict
// markers.
func ChangesOf(text string, splices []Splice) (list []beads.Change) {
	for _, p := range splices {
		if text[p.Start:p.End] != p.Text {
			list = append(list, beads.ChangesOf([]byte(p.Text))...)
		}
	}
	return list
}

// ReadOnly returns why an edit of the store in a file would be refused by the permissions of
// the file or its directory; nil if they allow it or there is no such file.
func ReadOnly(p beads.Place) *fault.Error {
	target, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return nil
	}
	refused, _ := fault.As(refuseReadOnly(target), fault.Refused)
	return refused
}

// refuseReadOnly enforces read-only permissions, which root could bypass and which replacing
// the file by rename would bypass for any user.
func refuseReadOnly(target string) error {
	for _, path := range []string{target, filepath.Dir(target)} {
		info, err := os.Stat(path)
		if err != nil {
			return beads.Unreadable(path, err)
		}
		if err := readOnly(path, info.Mode(), mayWrite(path)); err != nil {
			return err
		}
	}
	return nil
}

// readOnly returns why a path with this mode must not be written, given the error of opening it
// for writing; nil if it may.
func readOnly(path string, mode fs.FileMode, err error) error {
	reason, hint := "", ""
	switch {
	case mode.Perm()&0o222 == 0 || errors.Is(err, fs.ErrPermission) && mode.Perm()&0o200 == 0:
		reason, hint = "is read-only", "chmod u+w "+path
	case errors.Is(err, fs.ErrPermission): // it belongs to another user, or is marked otherwise
		reason, hint = "may not be written by this user", "check who owns it: ls -ld "+path
	case err != nil:
		return &fault.Error{Code: fault.Refused, Path: path, Reason: "cannot be written: " + err.Error(), Hint: "check how the file system is mounted"}
	default:
		return nil
	}
	return &fault.Error{Code: fault.Refused, Path: path, Reason: fmt.Sprintf("%s (mode %04o)", reason, mode.Perm()), Hint: hint}
}

// HardLinks is the number of names of the store's file; all but the one that a write replaces
// keep the old content. It is 1 if the system does not say.
func HardLinks(p beads.Place) (int, error) {
	info, err := os.Stat(p.Path)
	if err != nil {
		return 0, beads.Unreadable(p.Path, err)
	}
	return linksOf(info), nil
}
