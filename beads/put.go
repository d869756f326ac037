package beads

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// put gives the finished file the store's name. A program that knows no lock
// may have put its own there since the store was seen and compared: so the two
// trade names, what stood there is compared once more where nobody looks for
// it, and a stranger's is given its name back. Where the system cannot exchange
// names at once, a plain rename leaves a moment open: that is done only under
// the guard, and what was written is read back.
func (w *writer) put(ctx context.Context, name string, seen os.FileInfo, tx *Tx) error {
	mine, err := os.Stat(name)
	if err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	if !unmoved(w.target, seen) {
		return w.discard(name, errChanged)
	}
	fresh := name
	name = w.oldName(fresh, mine, tx.file)
	if err := w.disk.rename(fresh, name); err != nil {
		return w.discard(fresh, w.failed("cannot be replaced", err))
	}
	err = w.disk.exchange(name, w.target)
	if errors.Is(err, errors.ErrUnsupported) {
		return w.putPlainly(ctx, name, tx)
	}
	if err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	if err := w.displaced(name, seen, tx.file); err != nil {
		return w.putBack(name, mine, err)
	}
	_ = w.disk.remove(name) // what cannot be removed now, the next writer removes
	return nil
}

// putPlainly renames the finished file. The first time it takes the guard instead
// and has the edit start over, for the store was read without it.
func (w *writer) putPlainly(ctx context.Context, name string, tx *Tx) error {
	if !w.guarded {
		if w.options.Weak != nil {
			w.options.Weak(w.store)
		}
		err := w.takeGuard(ctx)
		if err == nil {
			err = errChanged
		}
		return w.discard(name, err)
	}
	if err := w.disk.rename(name, w.target); err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	return w.readBack(tx.changes())
}

// displaced gives an error unless the file that the store was is what was seen,
// and stays so: a program that writes in place may have opened it when it still
// had the name, and would write to it unseen.
func (w *writer) displaced(name string, seen os.FileInfo, f *File) error {
	unheld, release := hold(name)
	defer release()
	if !unmoved(name, seen) {
		return errChanged
	}
	if err := w.compare(name, f); err != nil {
		return err
	}
	if !unheld() {
		return errChanged
	}
	return nil
}

// unmoved tells at a glance, to lose no time, whether at a path stands the very
// file that was seen. That it does proves nothing of its content.
func unmoved(path string, seen os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && sameAtAGlance(seen, now)
}

func sameAtAGlance(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// putBack undoes an exchange, for the given reason. When a second stranger has
// put its own in the place of ours meanwhile, that stays, being the last, and
// what the first one wrote is kept beside it.
func (w *writer) putBack(name string, mine os.FileInfo, reason error) error {
	if err := w.disk.exchange(name, w.target); err != nil {
		return join(reason, w.failed("was replaced; what stood there is in "+name, err))
	}
	if unmoved(name, mine) {
		return w.discard(name, reason)
	}
	if err := w.disk.exchange(name, w.target); err != nil {
		return join(reason, w.failed("was replaced; what stood there is in "+name, err))
	}
	kept, err := w.keep(name)
	if err != nil {
		return join(reason, w.failed("was replaced; what stood there is in "+name, err))
	}
	return &ConflictError{
		Path: w.store.Path, Reason: fmt.Sprintf("several programs replaced it at once; what one of them wrote is in %q", kept),
		Hint: "compare the two, remove that file, and run the command again"}
}
