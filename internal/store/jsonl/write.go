package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"stig/internal/beads"
	"stig/internal/fault"
)

// writer replaces one store.
type writer struct {
	disk    disk
	store   beads.Place
	target  string // the data file itself, with symlinks resolved
	options beads.Options
	weak    func(beads.Place) // see Store.Weak
	cache   *Cache            // nil for none
	guarded bool              // see takeGuard
}

// run tries until the store stops changing.
func (w *writer) run(ctx context.Context, do attempt) ([]beads.Change, error) {
	return beads.Retry(ctx, w.store, func() ([]beads.Change, error) { return w.try(ctx, do) })
}

// edited is the result of an edit of a store as read.
type edited struct {
	*opened
	changes []beads.Change
	patches []beads.Patch
	after   func(beads.Source) (*beads.Snapshot, error) // see beads.Tx.After; nil for none
	next    *successor                                  // nil without a cache
}

// read reads the store; a cached reading will do, since the edit compares it.
func (w *writer) read() (*opened, error) {
	if w.cache != nil {
		return w.cache.read(w.store)
	}
	return w.disk.read(w.store)
}

// try reads the store, makes an attempt and writes the result. The error is beads.ErrStale if
// the store changed meanwhile.
func (w *writer) try(ctx context.Context, do attempt) (changes []beads.Change, err error) {
	f, err := w.read()
	if err != nil {
		return nil, err
	}
	defer func() {
		if errors.Is(err, beads.ErrStale) {
			w.cache.Drop()
		}
	}()
	// Closed on every path, and before a rename, since some systems refuse to rename over an
	// open file.
	defer func() {
		if e := f.Close(); e != nil && !errors.Is(e, fs.ErrClosed) {
			err = fault.Join(err, e)
		}
	}()
	e, err := do(f)
	if err != nil {
		return nil, err
	}
	if len(e.patches) == 0 || w.options.DryRun {
		return e.changes, nil
	}
	e.opened = f
	written, err := w.replace(ctx, e)
	if !written {
		return nil, err
	}
	if w.options.Written != nil {
		w.options.Written(e.changes)
	}
	return e.changes, err
}

// replace puts the changed file in the store's place, and reports whether it did so, with or
// without an error.
func (w *writer) replace(ctx context.Context, e *edited) (written bool, err error) {
	temp, err := w.disk.temp(filepath.Dir(w.target), w.pattern())
	if err != nil {
		return false, w.failed("cannot create a file beside it", err)
	}
	seen, err := w.prepare(ctx, temp, e)
	if err != nil {
		e.next.discard()
		return false, w.discard(temp.Name(), err)
	}
	if err := w.put(ctx, temp.Name(), seen, e); err != nil {
		e.next.discard()
		return false, err
	}
	w.cache.keep(e.next)
	if err := w.disk.syncDir(filepath.Dir(w.target)); err != nil {
		return true, w.failed("was replaced, but may not outlast a crash", err)
	}
	return true, nil
}

// prepare fills the replacement, and then checks that the store is still what was read: that is
// the file to replace.
func (w *writer) prepare(ctx context.Context, temp tempFile, e *edited) (seen os.FileInfo, err error) {
	err = w.fill(temp, e)
	if err == nil {
		err = w.sync(temp, e)
	}
	if bad := temp.Close(); err == nil && bad != nil {
		err = w.failed("cannot write its replacement", bad)
	}
	if err != nil {
		return nil, err
	}
	if seen, err = os.Stat(w.target); err != nil {
		return nil, beads.ErrStale
	}
	if err := w.unchanged(e.opened); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return seen, e.Close()
}

// discard removes a replacement that err kept from being used.
func (w *writer) discard(name string, err error) error {
	if e := w.disk.remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = fault.Join(err, e)
	}
	return err
}

// failed says what could not be done, with a hint.
func (w *writer) failed(reason string, err error) error {
	e := &fault.Error{Code: fault.Store, Path: w.store.Path, Reason: reason, Cause: err, Hint: "check that the disk works and is writable"}
	dir := filepath.Dir(w.target)
	switch {
	case isFull(err):
		e.Hint = "make room on the disk of " + dir + " and retry"
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "see that " + dir + " is still there"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "make the directory writable: " + dir
	}
	return e
}

// fill writes the whole new content: unchanged parts are copied from the open snapshot.
func (w *writer) fill(temp tempFile, e *edited) error {
	info, err := e.file.Stat()
	if err != nil {
		return w.failed("cannot be read", err)
	}
	if err := temp.become(info, e.file); err != nil {
		return w.failed("cannot set the mode of the replacement", err)
	}
	var done int64
	for _, p := range e.patches {
		if err := w.copyRange(temp, e.file, done, p.Start); err != nil {
			return err
		}
		if err := writeAll(temp, p.With); err != nil {
			return w.failed("cannot write its replacement", err)
		}
		done = p.End
	}
	return w.copyRange(temp, e.file, done, e.Size())
}

// sync waits until the replacement is on disk, and meanwhile indexes it for the cache.
func (w *writer) sync(temp tempFile, e *edited) error {
	synced := make(chan error, 1)
	go func() { synced <- temp.Sync() }()
	if w.cache != nil && e.after != nil {
		e.next = w.cache.succeed(w.store, temp.Name(), e.after)
	}
	if err := <-synced; err != nil {
		return w.failed("cannot write its replacement", err)
	}
	return nil
}

func (w *writer) copyRange(temp tempFile, file *os.File, from, to int64) error {
	if from == to {
		return nil
	}
	err := temp.copyFrom(file, from, to-from)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return beads.ErrStale // it was truncated in place
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

// unchanged checks before the exchange whether the store is still what was read. The content
// decides after the exchange; where every change shows in the file's stamp, the stamp is enough
// here, and the store is not read again.
func (w *writer) unchanged(f *opened) error {
	if f.stamp != (stamp{}) {
		if file, err := openPlain(w.target); err == nil {
			same := stampOf(file) == f.stamp
			_ = file.Close() // it was only looked at
			if same {
				return nil
			}
		}
	}
	return w.compare(w.target, f)
}

// compare compares the current content at a path with what was read; time stamps and updated_at
// prove nothing.
func (w *writer) compare(path string, f *opened) error {
	now, err := w.disk.open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return beads.ErrStale
	}
	if err != nil {
		return beads.Unreadable(w.target, err)
	}
	h, err := hashNow(now)
	if err = fault.Join(err, now.Close()); err != nil {
		return beads.Unreadable(w.target, err)
	}
	if h != f.Sum() {
		return beads.ErrStale
	}
	return nil
}

func hashNow(now source) (beads.Sum, error) {
	info, err := now.Stat()
	if err != nil {
		return beads.Sum{}, err
	}
	return beads.SumOf(now, info.Size())
}

// put gives the finished file the store's name. A program without locks may have put its own
// there since the comparison; so the two swap names, the former file is compared once more
// where nobody looks for it, and another program's version gets its name back. If the system
// cannot swap names, a plain rename leaves a gap: that is done only under the guard, and the
// result is read back.
func (w *writer) put(ctx context.Context, name string, seen os.FileInfo, e *edited) error {
	mine, err := os.Stat(name)
	if err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	if !unmoved(w.target, seen) {
		return w.discard(name, beads.ErrStale)
	}
	fresh := name
	name = w.oldName(fresh, mine, e.opened)
	if err := w.disk.rename(fresh, name); err != nil {
		return w.discard(fresh, w.failed("cannot be replaced", err))
	}
	if e.next != nil {
		e.next.put = w.cache.now()
	}
	err = w.disk.exchange(name, w.target)
	if errors.Is(err, errors.ErrUnsupported) {
		return w.putPlainly(ctx, name, e)
	}
	if err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	if err := w.displaced(name, seen, e.opened); err != nil {
		return w.putBack(name, mine, err)
	}
	_ = w.disk.remove(name) // the next writer removes what remains
	return nil
}

// putPlainly renames the finished file. The first time it takes the guard instead and makes the
// edit start over, since the store was read without it.
func (w *writer) putPlainly(ctx context.Context, name string, e *edited) error {
	if !w.guarded {
		if w.weak != nil {
			w.weak(w.store)
		}
		err := w.takeGuard(ctx)
		if err == nil {
			err = beads.ErrStale
		}
		return w.discard(name, err)
	}
	if e.stamp != (stamp{}) { // otherwise the content was compared already
		if err := w.compare(w.target, e.opened); err != nil {
			return w.discard(name, err)
		}
	}
	if err := w.disk.rename(name, w.target); err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	return w.readBack(e.changes)
}

// displaced returns an error unless the former file is what was seen and stays so: a program
// that writes in place may have opened it while it had the name, and would write to it unseen.
func (w *writer) displaced(name string, seen os.FileInfo, f *opened) error {
	unheld, release := hold(name)
	defer release()
	if !unmoved(name, seen) {
		return beads.ErrStale
	}
	if err := w.compare(name, f); err != nil {
		return err
	}
	if !unheld() {
		return beads.ErrStale
	}
	return nil
}

// unmoved is a quick check that the path still has the very file that was seen. It proves
// nothing about its content.
func unmoved(path string, seen os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && sameAtAGlance(seen, now)
}

func sameAtAGlance(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// putBack undoes an exchange, for the given reason. If a second program has replaced our file
// meanwhile, its version stays, being the last, and the first one's is kept beside it.
func (w *writer) putBack(name string, mine os.FileInfo, reason error) error {
	if err := w.disk.exchange(name, w.target); err != nil {
		return fault.Join(reason, w.failed("was replaced; its former content is in "+name, err))
	}
	if unmoved(name, mine) {
		return w.discard(name, reason)
	}
	if err := w.disk.exchange(name, w.target); err != nil {
		return fault.Join(reason, w.failed("was replaced; its former content is in "+name, err))
	}
	kept, err := w.keep(name)
	if err != nil {
		return fault.Join(reason, w.failed("was replaced; its former content is in "+name, err))
	}
	return &fault.Error{Code: fault.Changed,
		Path: w.store.Path, Reason: fmt.Sprintf("several programs replaced it at once; one version is in %q", kept),
		Hint: "compare the two, remove that file, then retry"}
}
