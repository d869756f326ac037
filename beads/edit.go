package beads

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// attempts is how often Edit starts over when the store changes meanwhile.
const attempts = 5

// Options of Edit.
type Options struct {
	Now    time.Time     // the time of updated_at
	DryRun bool          // do all but lock and write
	Wait   time.Duration // for the lock; 0 means 30 s

	// Notes judges the notes of each changed line, before and after; its error
	// ends the edit. Without it, no edit may change notes that say something:
	// the store cannot tell what in them must stay.
	Notes func(before, after string) error

	// Journal is given the changes under the lock, right before they are
	// written, and gives what is called with the outcome: nil when the store
	// holds them. A dry run does not call it.
	Journal func(Store, []Change) (done func(error))

	// Weak is told when the file system of the store cannot exchange two files:
	// see CanExchange.
	Weak func(Store)

	// Before and After are for another program that keeps the issues in a
	// database of its own. Before is called ahead of the lock; its error ends
	// the edit. After is called with what was written when the lock is free
	// again; when it gives a *LostError, Edit makes the whole edit once more,
	// for the program may have put its own content in the place of ours.
	// A dry run calls neither, an edit that changes nothing only Before.
	Before func(context.Context, Store) error
	After  func(context.Context, Store, []Change) error

	rewrites bool // what is wrong inside the store is no hindrance
}

// Change is one changed line, without its end. Of a new issue Line is 0 and
// Before is nil.
type Change struct {
	ID            string
	Line          int // 1-based
	Before, After []byte
}

// Tx is one edit, under the lock. It is of use only inside the function given
// to Edit.
type Tx struct {
	file    *File
	now     time.Time
	records map[*Issue]*Record // those that were set
	added   []addition
	spliced []patch // of Rewrite
	stale   bool    // a line was no longer what was read
}

// File is the store as read under the lock; changes of this edit do not show
// in it.
func (tx *Tx) File() *File { return tx.file }

// Record gives the issue's record as the edit has it so far. It refuses an
// issue that must not be written: a *RefusedError for an id that repeats, for a
// tombstone and for a line with flaws, a *NotFoundError for an unknown id.
func (tx *Tx) Record(id string) (*Record, error) {
	is, err := tx.issue(id)
	if err != nil {
		return nil, err
	}
	return tx.recordOf(is)
}

func (tx *Tx) recordOf(is *Issue) (*Record, error) {
	if r, ok := tx.records[is]; ok {
		return r, nil
	}
	r, err := is.Record()
	if err != nil {
		return nil, tx.moved(err)
	}
	return r, tx.refuseFlaws(is, r)
}

// moved notes of an error whether the store is no longer what was read.
func (tx *Tx) moved(err error) error {
	if _, ok := errors.AsType[*ConflictError](err); ok {
		tx.stale = true
	}
	return err
}

// Set changes keys of one issue; it refuses what Record refuses, what
// Record.With does not accept, and to close the issue (see MarkClosed).
func (tx *Tx) Set(id string, set ...Set) error {
	return tx.edit(id, func(r *Record) (*Record, error) {
		next, err := r.With(tx.now, set...)
		if err != nil {
			return nil, err
		}
		return next, refuseClosing(r, next)
	})
}

// AddRow adds a dependency row to an issue as Record.WithRow does; it refuses
// what Record refuses.
func (tx *Tx) AddRow(id string, row Row) error {
	return tx.edit(id, func(r *Record) (*Record, error) { return r.WithRow(tx.now, row) })
}

// DropRow takes a dependency row from an issue as Record.WithoutRow does; it
// refuses what Record refuses.
func (tx *Tx) DropRow(id string, d Dep) error {
	return tx.edit(id, func(r *Record) (*Record, error) { return r.WithoutRow(tx.now, d) })
}

// AddComment adds a comment to an issue as Record.WithComment does; it refuses
// what Record refuses.
func (tx *Tx) AddComment(id string, c Comment) error {
	return tx.edit(id, func(r *Record) (*Record, error) { return r.WithComment(tx.now, c) })
}

// PutBack replaces an issue's record by what change makes of it, such as with
// Record.PutRaw, and bumps updated_at. It is for values that the store held
// before: unlike Set it closes an issue too, and changes one that was deleted. Else
// it refuses what Record refuses. change may be called more than once.
func (tx *Tx) PutBack(id string, change func(*Record) (*Record, error)) error {
	is, err := tx.counting(id)
	if err != nil {
		return err
	}
	return tx.editIssue(is, func(r *Record) (*Record, error) {
		if _, err := change(r); err != nil {
			return nil, err
		}
		return r.changed(tx.now, nil, []listEdit{{do: func(r *Record, _ style) *Record {
			if next, err := change(r); err == nil {
				return next
			}
			return r
		}}})
	})
}

// Redate sets updated_at to now even where that is earlier, and takes back what
// else the edit changed in the issue; it refuses what Record refuses.
func (tx *Tx) Redate(id string) error {
	return tx.edit(id, func(r *Record) (*Record, error) { return r.redated(tx.now), nil })
}

func (tx *Tx) edit(id string, change func(*Record) (*Record, error)) error {
	is, err := tx.issue(id)
	if err != nil {
		return err
	}
	return tx.editIssue(is, change)
}

func (tx *Tx) editIssue(is *Issue, change func(*Record) (*Record, error)) error {
	r, err := tx.recordOf(is)
	if err != nil {
		return err
	}
	next, err := change(r)
	if err != nil {
		return err
	}
	tx.records[is] = next
	return nil
}

// issue finds an issue that may be written.
func (tx *Tx) issue(id string) (*Issue, error) {
	is, err := tx.counting(id)
	if err == nil && is.Status == statusTombstone {
		return nil, &RefusedError{
			Path: tx.file.store.Path, Line: is.Line, Reason: is.ID + " was deleted (status tombstone)",
			Hint: "write to another issue"}
	}
	return is, err
}

// counting finds an issue whose id does not repeat.
func (tx *Tx) counting(id string) (*Issue, error) {
	is, err := tx.file.Find(id)
	if err != nil {
		return nil, err
	}
	if lines := tx.file.repeats[is.ID]; lines != nil {
		return nil, &RefusedError{
			Path: tx.file.store.Path, Line: lines[1], Reason: fmt.Sprintf("id %q stands on line %d already", is.ID, lines[0]),
			Hint: "keep one of the lines; stig check lists them all"}
	}
	return is, nil
}

// changes lists what the edit changes, in file order.
func (tx *Tx) changes() (list []Change) {
	for _, is := range tx.changed() {
		r := tx.records[is]
		list = append(list, Change{ID: is.ID, Line: is.Line, Before: r.origin.line, After: r.line})
	}
	for _, a := range tx.added {
		list = append(list, Change{ID: a.id, After: a.line})
	}
	for _, p := range tx.spliced {
		list = append(list, p.lines()...)
	}
	return list
}

// lines are the issues that a patch puts into the store, none where it leaves
// conflict markers.
func (p patch) lines() (list []Change) {
	for line := range bytes.Lines(p.with) {
		line = bytes.TrimRight(line, "\r\n")
		if isConflictMarker(line) {
			return nil
		}
		if r, bad := parseRecord(line); bad == nil && r.Text(ID) != "" {
			list = append(list, Change{ID: r.Text(ID), After: line})
		}
	}
	return list
}

// patch exchanges size bytes of the file from off.
type patch struct {
	off  int64
	size int
	with []byte
}

// patches are what the edit does to the file, in file order.
func (tx *Tx) patches() (list []patch) {
	list = slices.Clone(tx.spliced)
	for _, a := range tx.added {
		list = append(list, patch{off: a.off, with: a.text})
	}
	for _, is := range tx.changed() {
		list = append(list, patch{is.off, is.size, tx.records[is].line})
	}
	slices.SortStableFunc(list, func(a, b patch) int { return cmp.Compare(a.off, b.off) })
	return list
}

func (tx *Tx) changed() []*Issue {
	list := slices.SortedFunc(maps.Keys(tx.records), func(a, b *Issue) int { return a.Line - b.Line })
	return slices.DeleteFunc(list, func(is *Issue) bool { return tx.records[is].origin == nil })
}

// Edit locks the store, reads it, calls fn, and when fn changed something
// checks that the disk still holds what was read and replaces the file. When
// it does not, Edit starts over, so fn may run up to five times and must
// depend on nothing but its Tx. An error of fn ends the edit and is given as
// it is. Whatever the error, the file is whole: as it was, or changed.
//
// Errors are *RefusedError (the store must not be written), *ConflictError
// (somebody else holds it or keeps changing it), *StoreError (it cannot be
// read or written) and those of Tx and of Options. After an error of
// Options.After the file is written, and the changes are given too.
func Edit(ctx context.Context, s Store, o Options, fn func(*Tx) error) ([]Change, error) {
	if o.DryRun {
		return edit(ctx, osDisk{}, s, o, fn)
	}
	changes, err := editAndTell(ctx, s, o, nil, fn)
	if _, lost := errors.AsType[*LostError](err); lost {
		return editAndTell(ctx, s, o, changes, fn)
	}
	return changes, err
}

// editAndTell makes one edit between the calls of Before and After. After is
// also told of the changes of the edit before that this one found still there.
func editAndTell(ctx context.Context, s Store, o Options, earlier []Change, fn func(*Tx) error) ([]Change, error) {
	if o.Before != nil && s.Mode != Dolt {
		if err := o.Before(ctx, s); err != nil {
			return nil, err
		}
	}
	changes, err := edit(ctx, osDisk{}, s, o, fn)
	if err == nil {
		changes = slices.Concat(changes, slices.DeleteFunc(earlier, func(c Change) bool {
			return slices.ContainsFunc(changes, func(again Change) bool { return again.ID == c.ID })
		}))
	}
	if o.After == nil || len(changes) == 0 {
		return changes, err
	}
	return changes, join(err, o.After(ctx, s, changes))
}

func edit(ctx context.Context, d disk, s Store, o Options, fn func(*Tx) error) (changes []Change, err error) {
	if s.Mode == Dolt {
		return nil, &RefusedError{
			Path: s.Path, Reason: "the issues live in a Dolt database; this file is an export, and what is written here is lost",
			Hint: "write with bd update ID, or with bd import"}
	}
	w := &writer{disk: d, store: s, options: o}
	if w.target, err = filepath.EvalSymlinks(s.Path); err != nil {
		return nil, unreadable(s.Path, err)
	}
	if o.DryRun {
		return w.run(ctx, fn)
	}
	if err := w.refuseReadOnly(); err != nil {
		return nil, err
	}
	paths, err := lockPaths(s, w.target)
	if err != nil {
		return nil, err
	}
	unlock, err := lockAll(ctx, d, paths, w.target, o.Wait)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, unlock()) }()
	w.removeLeftovers()
	defer w.dropGuard()
	return w.run(ctx, fn)
}

// refuseReadOnly respects mode bits that root could overstep, and that the
// replacement of a file by rename would overstep for anybody.
func (w *writer) refuseReadOnly() error {
	for _, path := range []string{w.target, filepath.Dir(w.target)} {
		info, err := os.Stat(path)
		if err != nil {
			return unreadable(path, err)
		}
		if err := readOnly(path, info.Mode(), mayWrite(path)); err != nil {
			return err
		}
	}
	return nil
}

// readOnly is why a path of this mode must not be written, where trying to open it
// for that gave err; nil where it may.
func readOnly(path string, mode fs.FileMode, err error) error {
	reason, hint := "", ""
	switch {
	case mode.Perm()&0o222 == 0 || errors.Is(err, fs.ErrPermission) && mode.Perm()&0o200 == 0:
		reason, hint = "is read-only", "chmod u+w "+path
	case errors.Is(err, fs.ErrPermission): // it is another's, or marked otherwise
		reason, hint = "may not be written by this user", "see whose it is: ls -ld "+path
	case err != nil:
		return &RefusedError{Path: path, Reason: "cannot be written: " + err.Error(), Hint: "see how the file system is mounted"}
	default:
		return nil
	}
	return &RefusedError{Path: path, Reason: fmt.Sprintf("%s (mode %04o)", reason, mode.Perm()), Hint: hint}
}

// refuseProblems respects lines that another program may still want fixed:
// written over, they would be lost to it.
func refuseProblems(f *File) error {
	bad := slices.DeleteFunc(slices.Clone(f.problems), func(p Problem) bool { return p.Rule == DuplicateID })
	if len(bad) == 0 {
		return nil
	}
	reason := fmt.Sprintf("%s: %s", bad[0].Rule, bad[0].Message)
	if more := len(bad) - 1; more > 0 {
		reason += fmt.Sprintf(" (and %d more)", more)
	}
	hint := "fix the line; stig check lists every such place"
	if bad[0].Rule == ConflictMarker {
		hint = "type stig merge --resolve to see what is to be decided"
	}
	return &RefusedError{Path: f.store.Path, Line: bad[0].Line, Reason: reason, Hint: hint}
}
