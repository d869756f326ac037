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

// Lock opens and locks a file, waiting until ctx ends. Closing the file releases the lock.
//
// The system queues the waiting processes and serves them in order; polling would favour
// whoever asks in the right millisecond. Such a wait cannot be interrupted, so it continues
// after its caller has given up, and releases what it gets.
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
				_ = f.Close() // nobody is waiting for the result
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

// Await locks path, however long others hold it. If the file was removed meanwhile it starts
// over, since others lock the new one. It creates no file for a caller that gave up.
func Await(ctx context.Context, path, target string) (*os.File, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%s: waiting for the lock: %w", path, err)
		}
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			// opening it would create a file wherever it leads
			return nil, &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked: it is a link", Hint: "remove it; no program needs it"}
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
			return nil, fault.Join(&fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: err, Hint: "check that the file system supports locks"}, f.Close())
		}
		if there {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: err, Hint: "check that the file system supports locks"}
		}
	}
}

// shareLike lets everyone use the lock who may use the store: it gets the store's mode and
// group, whatever the umask. Somebody else's lock cannot be changed and stays as it is.
func shareLike(f *os.File, target string) {
	store, err := os.Stat(target)
	if err != nil {
		return // the edit reports it
	}
	_ = KeepOwner(f, store)
	if info, err := f.Stat(); err == nil && store.Mode().Perm()&^info.Mode().Perm() != 0 {
		_ = f.Chmod(info.Mode().Perm() | store.Mode().Perm())
	}
}

// Unlockable is the error for a lock that cannot be opened.
func Unlockable(path, target string, err error) error {
	e := &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: err, Hint: "make the directory writable: " + filepath.Dir(path)}
	if _, there := os.Lstat(path); there == nil && errors.Is(err, fs.ErrPermission) {
		mode := fs.FileMode(0o664)
		if store, err := os.Stat(target); err == nil {
			mode = store.Mode().Perm()
		}
		e.Hint = fmt.Sprintf("ask its owner to type chmod %04o %s", mode, path)
	}
	if errors.Is(err, syscall.EROFS) {
		e.Hint = "check how the file system is mounted"
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

// LockFile locks a file, creating it if necessary, waits at most that long, and returns the
// function that unlocks it. A process that dies releases its locks.
func LockFile(path string, wait time.Duration) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	f, err := Lock(ctx, path, path)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// LockUntil is LockFile that waits until ctx ends. Waiting processes are served in order.
// Closing the file releases the lock once child processes that inherited it have ended too.
func LockUntil(ctx context.Context, path string) (*os.File, error) { return Lock(ctx, path, path) }
