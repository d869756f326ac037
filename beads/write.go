package beads

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errChanged says that the store is no longer what was read.
var errChanged = errors.New("changed while it was being written")

// writer replaces one store.
type writer struct {
	disk    disk
	store   Store
	target  string // the data file itself, symlinks resolved
	options Options
	guarded bool // see takeGuard
}

// run tries until the store holds still.
func (w *writer) run(ctx context.Context, fn func(*Tx) error) ([]Change, error) {
	for range attempts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		changes, err := w.try(ctx, fn)
		if !errors.Is(err, errChanged) {
			return changes, err
		}
	}
	return nil, &ConflictError{
		Path: w.store.Path, Reason: fmt.Sprintf("changed %d times while it was being written", attempts),
		Hint: "another program writes the store without its lock: let it finish and run the command again"}
}

// try reads the store, runs fn and writes the outcome. The error is errChanged
// when the store changed meanwhile.
func (w *writer) try(ctx context.Context, fn func(*Tx) error) (changes []Change, err error) {
	f, err := w.disk.read(w.store)
	if err != nil {
		return nil, err
	}
	// Closed here on every way out; before a rename already, which some
	// systems refuse for an open file.
	defer func() {
		if e := f.Close(); e != nil && !errors.Is(e, fs.ErrClosed) {
			err = join(err, e)
		}
	}()
	if !w.options.rewrites {
		if err := refuseProblems(f); err != nil {
			return nil, err
		}
	}
	tx := &Tx{file: f, now: w.options.Now, records: map[*Issue]*Record{}}
	if err := fn(tx); err != nil {
		if tx.stale {
			return nil, errChanged
		}
		return nil, err
	}
	changes = tx.changes()
	if err := w.judgeNotes(tx); err != nil {
		return nil, err
	}
	if len(changes)+len(tx.spliced) == 0 || w.options.DryRun {
		return changes, nil
	}
	if err := w.replace(ctx, tx); err != nil {
		return nil, err
	}
	return changes, nil
}

// judgeNotes is the last to see the lines before they are written.
func (w *writer) judgeNotes(tx *Tx) error {
	for _, is := range tx.changed() {
		r := tx.records[is]
		before, after := r.origin.Text(Notes), r.Text(Notes)
		if before == after || before == "" && w.options.Notes == nil {
			continue
		}
		err := errors.New("the edit would change the notes and does not say what in them must stay")
		if w.options.Notes != nil {
			err = w.options.Notes(before, after)
		}
		if err != nil {
			return &RefusedError{
				Path: w.store.Path, Line: is.Line, Reason: fmt.Sprintf("%s: %v", is.ID, err),
				Hint: "nothing was written; please report how this came about"}
		}
	}
	return nil
}

// replace puts a file with the changes in the store's place.
func (w *writer) replace(ctx context.Context, tx *Tx) error {
	temp, err := w.disk.temp(filepath.Dir(w.target), w.pattern())
	if err != nil {
		return w.failed("cannot make a file beside it", err)
	}
	seen, err := w.prepare(ctx, temp, tx)
	if err != nil {
		return w.discard(temp.Name(), err)
	}
	if err := w.journalled(tx, func() error { return w.put(ctx, temp.Name(), seen, tx) }); err != nil {
		return err
	}
	if err := w.disk.syncDir(filepath.Dir(w.target)); err != nil {
		return w.failed("was replaced, but may not outlast a crash", err)
	}
	return nil
}

// journalled tells the journal what put is about to do, and what became of it.
func (w *writer) journalled(tx *Tx, put func() error) error {
	if w.options.Journal == nil {
		return put()
	}
	done := w.options.Journal(w.store, tx.changes())
	err := put()
	done(err)
	return err
}

// prepare fills the replacement, and then sees whether the store is still what
// was read: that is the file to be replaced.
func (w *writer) prepare(ctx context.Context, temp tempFile, tx *Tx) (seen os.FileInfo, err error) {
	err = w.fill(temp, tx)
	if e := temp.Close(); err == nil && e != nil {
		err = w.failed("cannot write its replacement", e)
	}
	if err != nil {
		return nil, err
	}
	if seen, err = os.Stat(w.target); err != nil {
		return nil, errChanged
	}
	if err := w.compare(w.target, tx.file); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return seen, tx.file.Close()
}

// discard removes a replacement that err keeps from its place.
func (w *writer) discard(name string, err error) error {
	if e := w.disk.remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = join(err, e)
	}
	return err
}

// failed says what could not be done and what to do about it.
func (w *writer) failed(reason string, err error) error {
	e := &StoreError{Path: w.store.Path, Reason: reason, Err: err, Hint: "see that the disk works and may be written"}
	dir := filepath.Dir(w.target)
	switch {
	case isFull(err):
		e.Hint = "make room on the disk of " + dir + " and run the command again"
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "see that " + dir + " is still there"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "give yourself the right to write in " + dir
	}
	return e
}

// fill writes the whole new content: what did not change is copied from the
// open snapshot.
func (w *writer) fill(temp tempFile, tx *Tx) error {
	f := tx.file
	info, err := f.disk.Stat()
	if err != nil {
		return w.failed("cannot be read", err)
	}
	if err := temp.become(info, f.disk); err != nil {
		return w.failed("cannot give its mode to the replacement", err)
	}
	var done int64
	for _, p := range tx.patches() {
		if err := w.copyRange(temp, f, done, p.off); err != nil {
			return err
		}
		if err := writeAll(temp, p.with); err != nil {
			return w.failed("cannot write its replacement", err)
		}
		done = p.off + int64(p.size)
	}
	if err := w.copyRange(temp, f, done, f.hash.size); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return w.failed("cannot write its replacement", err)
	}
	return nil
}

func (w *writer) copyRange(temp tempFile, f *File, from, to int64) error {
	if from == to {
		return nil
	}
	err := temp.copyFrom(f.disk, from, to-from)
	if isEnd(err) {
		return errChanged // it was made shorter in place
	}
	if err != nil {
		return w.failed("cannot write its replacement", err)
	}
	return nil
}

func writeAll(temp tempFile, b []byte) error {
	n, err := temp.Write(b)
	if err == nil && n < len(b) {
		err = fmt.Errorf("wrote %d of %d bytes", n, len(b))
	}
	return err
}

// compare holds what stands at a path now against what was read, by content:
// time stamps and updated_at tell nothing.
func (w *writer) compare(path string, f *File) error {
	now, err := w.disk.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errChanged
	}
	if err != nil {
		return unreadable(w.target, err)
	}
	h, err := hashNow(now)
	if err = join(err, now.Close()); err != nil {
		return unreadable(w.target, err)
	}
	if !h.equal(f.hash) {
		return errChanged
	}
	return nil
}

func hashNow(now source) (*contentHash, error) {
	info, err := now.Stat()
	if err != nil {
		return nil, err
	}
	return hashAll(now, info.Size())
}
