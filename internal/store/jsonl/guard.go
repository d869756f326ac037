package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
)

// A file system that cannot exchange two files usually does not share locks either: a directory
// mounted twice has two sets. There the writer also creates a file that must not exist, which
// every file system allows only once, and reads back what it wrote.

// guardName is the file that only one writer at a time can create.
func (w *writer) guardName() string {
	return filepath.Join(filepath.Dir(w.target), w.prefix()+"guard"+tempSuffix)
}

// takeGuard waits until no other writer guards the store.
func (w *writer) takeGuard(ctx context.Context) error {
	wait := cmp.Or(w.options.Wait, defaultWait)
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		err := w.disk.create(w.guardName(), thisProcess().String())
		if err == nil {
			w.guarded = true
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return w.failed("cannot make a file beside it", err)
		}
		if w.isGuardLeft() {
			_ = w.disk.remove(w.guardName()) // if it cannot, it waits until the timeout and says so
			continue
		}
		select {
		case <-limit.Done():
			if err := ctx.Err(); err != nil {
				return err
			}
			return &fault.Error{Code: fault.Changed, Path: w.store.Path, Reason: fmt.Sprintf("another program has guarded it for %v", wait),
				Hint: "let it finish, then retry; if none runs, remove " + w.guardName()}
		case <-time.After(settlePoll):
		}
	}
}

// isGuardLeft reports whether the writer that guards the store is dead.
func (w *writer) isGuardLeft() bool {
	text, err := os.ReadFile(w.guardName())
	parts := strings.Split(string(bytes.TrimSpace(text)), "-")
	if err != nil || len(parts) != 3 {
		return err == nil && w.isForgotten(w.guardName())
	}
	pid, err := strconv.Atoi(parts[1])
	by := process{parts[0], pid, parts[2]}
	return err == nil && by != thisProcess() && !by.mayLive() || w.isForgotten(w.guardName())
}

func (w *writer) dropGuard() {
	if w.guarded {
		_ = w.disk.remove(w.guardName()) // a later writer sees that this process ended
	}
}

// readBack returns beads.ErrStale unless the store holds the changes, line for line.
func (w *writer) readBack(changes []beads.Change) error {
	f, err := w.disk.read(w.store)
	if err != nil {
		return err
	}
	for _, c := range changes {
		at, ok := f.Index(c.ID)
		var line []byte
		if ok {
			line, _ = f.At(at).AppendLine(nil) // an unreadable line counts as missing
		}
		if !bytes.Equal(line, c.After) {
			return fault.Join(beads.ErrStale, f.Close())
		}
	}
	return f.Close()
}

// CanExchange reports whether the store's file system can swap two files atomically, by trying
// it on two empty files beside the store. If it cannot, a write by a program that takes no lock
// may be lost, and locks may not reach writers on other mounts or machines.
func CanExchange(s beads.Place) (bool, error) {
	target, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return false, beads.Unreadable(s.Path, err)
	}
	w := &writer{disk: osDisk{}, store: s, target: target}
	err = w.probe(func(a *os.File) error {
		return w.probe(func(b *os.File) error { return exchange(a.Name(), b.Name()) })
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return false, nil
	}
	return err == nil, err
}

// UnkeptAttributes lists the extended attributes of the store's file that a write by this user
// cannot keep, by trying it on an empty file beside the store.
func UnkeptAttributes(s beads.Place) (unkept []string, err error) {
	target, err := filepath.EvalSymlinks(s.Path)
	if err != nil {
		return nil, beads.Unreadable(s.Path, err)
	}
	from, err := os.Open(target)
	if err != nil {
		return nil, beads.Unreadable(s.Path, err)
	}
	w := &writer{disk: osDisk{}, store: s, target: target}
	err = w.probe(func(f *os.File) error {
		unkept = keepAttributes(f, from)
		return nil
	})
	return unkept, fault.Join(err, from.Close())
}

// probe creates an empty file beside the store, and removes it after fn.
func (w *writer) probe(fn func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(w.target), w.pattern())
	if err != nil {
		return w.failed("cannot make a file beside it", err)
	}
	err = fault.Join(fn(f), f.Close())
	return fault.Join(err, os.Remove(f.Name()))
}
