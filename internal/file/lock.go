package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"stig/internal/fault"
)

// Lock opens and locks one file, waiting until ctx ends. Closing the file
// releases it.
//
// The system keeps those that wait in order, and hands the lock on to the one
// that came first. Polling would serve whoever happens to ask in the right
// millisecond. Nothing ends such a wait from outside, so it goes on behind a
// caller that gave up, and lets go of what it gets.
func Lock(ctx context.Context, path, target string) (*os.File, error) {
	type outcome struct {
		file *os.File
		err  error
	}
	got := make(chan outcome)
	go func() {
		f, err := Await(ctx, path, target)
		select {
		case got <- outcome{f, err}:
		case <-ctx.Done():
			if f != nil {
				_ = f.Close() // nobody is left to tell
			}
		}
	}()
	select {
	case o := <-got:
		return o.file, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: waiting for the lock: %w", path, ctx.Err())
	}
}

// Await locks path, however long others hold it. A file that was removed while
// it was being locked does not count: others lock the one that is there now. None is made
// for a caller that gave up.
func Await(ctx context.Context, path, target string) (*os.File, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: waiting for the lock: %w", path, err)
		}
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			// opening it would make a file wherever it leads
			return nil, &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked: is a link", Hint: "remove it; no program needs it to stay"}
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			if there, e := os.Open(path); e == nil { // somebody else's lock file
				f, err = there, nil
			}
		}
		if err != nil {
			return nil, Unlockable(path, target, err)
		}
		shareLike(f, target)
		err = flock(f)
		there := false
		if err == nil {
			there, err = IsAt(f, path)
		}
		if err != nil {
			return nil, fault.Join(&fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: err, Hint: "see that the file system has locks"}, f.Close())
		}
		if there {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: err, Hint: "see that the file system has locks"}
		}
	}
}

// shareLike lets those use the lock who may use the store: its mode and group
// are what the store has, whatever the umask. Of a lock of somebody else neither
// can be changed, and it stays as it is.
func shareLike(f *os.File, target string) {
	store, err := os.Stat(target)
	if err != nil {
		return // the edit says so
	}
	_ = KeepOwner(f, store)
	if info, err := f.Stat(); err == nil && store.Mode().Perm()&^info.Mode().Perm() != 0 {
		_ = f.Chmod(info.Mode().Perm() | store.Mode().Perm())
	}
}

// Unlockable is the error for a lock that cannot be opened.
func Unlockable(path, target string, err error) error {
	e := &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: err, Hint: "give yourself the right to write in " + filepath.Dir(path)}
	if _, there := os.Lstat(path); there == nil && errors.Is(err, fs.ErrPermission) {
		mode := fs.FileMode(0o664)
		if store, err := os.Stat(target); err == nil {
			mode = store.Mode().Perm()
		}
		e.Hint = fmt.Sprintf("have its owner type chmod %04o %s", mode, path)
	}
	if errors.Is(err, syscall.EROFS) {
		e.Hint = "see how the file system is mounted"
	}
	return e
}

// IsAt reports whether f is still the file at path.
func IsAt(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

// LockFile locks a file that it makes where there is none, waiting at most so
// long, and gives the way to release it. Whoever dies releases it too.
func LockFile(path string, wait time.Duration) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	f, err := Lock(ctx, path, path)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// LockUntil is LockFile that waits until ctx ends. Those that wait are served in the
// order in which they came. Closing the file releases it, when the programs have ended
// too that got it from us.
func LockUntil(ctx context.Context, path string) (*os.File, error) { return Lock(ctx, path, path) }
