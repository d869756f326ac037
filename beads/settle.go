package beads

import (
	"io/fs"
	"slices"
	"time"
)

const (
	// settleTime is how long a program that writes the store in place may need.
	settleTime = time.Second
	// settlePoll is how long a reader waits before it looks again.
	settlePoll = 10 * time.Millisecond
)

// readSettled reads a store until it is whole, for settleTime at most: a program
// that writes it in place first makes it empty. Only a file that was changed
// within that time is read again, so that one that is empty or cut short since
// longer costs nothing.
func readSettled(read func() (*File, fs.FileInfo, error)) (*File, error) {
	limit := time.After(settleTime)
	for wait := time.Duration(0); ; wait = settlePoll {
		f, before, err := read()
		if err != nil {
			return nil, err
		}
		after, err := f.disk.Stat()
		if err != nil {
			return nil, join(unreadable(f.store.Path, err), f.Close())
		}
		moved := !sameAtAGlance(before, after)
		if !moved && !f.mayBeUnfinished(after) {
			return f, nil
		}
		select {
		case <-limit:
			return f, nil
		case now := <-time.After(wait):
			if age := now.Sub(after.ModTime()).Abs(); !moved && age > settleTime {
				return f, nil
			}
		}
		if err := f.Close(); err != nil {
			return nil, unreadable(f.store.Path, err)
		}
	}
}

// mayBeUnfinished reports whether the file looks as one does that a program is
// writing in place: it is empty or cut short and was not made so, or a program
// has it open for writing.
func (f *File) mayBeUnfinished(info fs.FileInfo) bool {
	short := info.Size() == 0 || slices.ContainsFunc(f.problems, func(p Problem) bool { return p.Rule == CutShort })
	return short && !isNew(f.disk, info) || isWritten(f.disk)
}
