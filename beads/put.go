package beads

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// put gives the finished file the store's name. A program that knows no lock
// may have put its own there since the store was compared: so the two trade
// names, what stood there is compared once more where nobody looks for it, and
// a stranger's is given its name back. Where the system cannot exchange names
// at once, a plain rename leaves that moment open.
func (w *writer) put(name string, f *File) error {
	mine, err := os.Stat(name)
	if err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	err = w.disk.exchange(name, w.target)
	if errors.Is(err, errors.ErrUnsupported) {
		err = w.disk.rename(name, w.target)
		if err == nil {
			return nil
		}
	}
	if err != nil {
		return w.discard(name, w.failed("cannot be replaced", err))
	}
	if err := w.compare(name, f); err != nil {
		return w.putBack(name, mine, err)
	}
	_ = w.disk.remove(name) // what cannot be removed now, the next writer removes
	return nil
}

// putBack undoes an exchange, for the given reason. When a second stranger has
// put its own in the place of ours meanwhile, that stays, being the last, and
// what the first one wrote is kept beside it.
func (w *writer) putBack(name string, mine os.FileInfo, reason error) error {
	if err := w.disk.exchange(name, w.target); err != nil {
		return join(reason, w.failed("was replaced; what stood there is in "+name, err))
	}
	if now, err := os.Stat(name); err == nil && os.SameFile(mine, now) {
		return w.discard(name, reason)
	}
	if err := w.disk.exchange(name, w.target); err != nil {
		return join(reason, w.failed("was replaced; what stood there is in "+name, err))
	}
	kept := filepath.Join(filepath.Dir(name), strings.Trim(filepath.Base(name), ".")+".kept")
	if err := w.disk.rename(name, kept); err != nil {
		return join(reason, w.failed("was replaced; what stood there is in "+name, err))
	}
	return &ConflictError{
		Path: w.store.Path, Reason: fmt.Sprintf("several programs replaced it at once; what one of them wrote is in %q", kept),
		Hint: "compare the two, remove that file, and run the command again"}
}
