package beads

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	jsonlLock = ".jsonl.lock" // what bd locks
	writeLock = ".write.lock" // what beads_rust locks
)

// defaultWait is how long Edit waits for the lock.
const defaultWait = 30 * time.Second

// lockPaths are the files to lock for a store whose data file is really at
// target, in the order in which everybody takes them. When a symlink leads out
// of the store's directory, both directories are locked: another store may
// link to the same file.
func lockPaths(s Store, target string) ([]string, error) {
	own, err := realDir(s.Dir)
	if err != nil {
		return nil, err
	}
	dataDir, err := realDir(filepath.Dir(target))
	if err != nil {
		return nil, err
	}
	paths := []string{filepath.Join(own, jsonlLock), filepath.Join(dataDir, jsonlLock)}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if s.BR {
		paths = append(paths, filepath.Join(own, writeLock))
	}
	return paths, nil
}

// realDir names a directory in one way only: one lock file under two names
// would be waited for until the time is up.
func realDir(dir string) (string, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return "", unreadable(dir, err)
	}
	return resolved, nil
}

// lockAll takes the locks one after the other and gives the way to release
// them, which tells what went wrong.
func lockAll(ctx context.Context, paths []string, wait time.Duration) (unlock func() error, err error) {
	if wait == 0 {
		wait = defaultWait
	}
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var held []*os.File
	unlock = func() (err error) {
		for _, f := range slices.Backward(held) {
			err = join(err, f.Close())
		}
		return err
	}
	for _, path := range paths {
		f, err := lock(limit, path)
		if err == nil {
			held = append(held, f)
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = &ConflictError{
				Path: path, Reason: fmt.Sprintf("another program has held this lock for %v", wait),
				Hint: "let it finish and run the command again; fuser -v " + path + " shows which it is"}
		}
		return nil, join(err, unlock())
	}
	return unlock, nil
}

// lock opens and locks one file, polling until ctx ends. Closing the file
// releases it.
func lock(ctx context.Context, path string) (*os.File, error) {
	const poll = 10 * time.Millisecond
	for {
		f, held, err := tryLock(path)
		if held || err != nil {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: waiting for the lock: %w", path, ctx.Err())
		case <-time.After(poll):
		}
	}
}

// tryLock locks path if nobody else does. A file that was removed while it was
// being locked does not count: others lock the one that is there now.
func tryLock(path string) (f *os.File, held bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrPermission) {
		f, err = os.Open(path) // somebody else's lock file
	}
	if err != nil {
		return nil, false, &StoreError{
			Path: path, Reason: "cannot be locked", Err: err, Hint: "give yourself the right to write in " + filepath.Dir(path)}
	}
	held, err = flock(f)
	if err == nil && held {
		held, err = isAt(f, path)
	}
	if err != nil {
		err = &StoreError{Path: path, Reason: "cannot be locked", Err: err, Hint: "see that the file system has locks"}
	}
	if !held || err != nil {
		return nil, false, join(err, f.Close())
	}
	return f, true, nil
}

// isAt tells whether f is still the file at path.
func isAt(f *os.File, path string) (bool, error) {
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
