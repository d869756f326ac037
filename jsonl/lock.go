package jsonl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"stig/beads"
	"stig/fault"
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
func lockPaths(s beads.Place, target string) ([]string, error) {
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

// Touched lists the files that an edit touches, absolute and without symbolic
// links: the store itself, and those that are locked for it. An edit of a store on a
// server touches the copy of it, where there is one.
func Touched(s beads.Place) ([]string, error) {
	if s.File() == "" {
		return nil, nil
	}
	target, err := filepath.EvalSymlinks(s.File())
	if (s.Mode == beads.BD || s.Mode == beads.Server) && errors.Is(err, fs.ErrNotExist) { // bd has exported nothing yet, or no edit was copied
		target, err = s.File(), nil
	}
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return nil, beads.Unreadable(s.Path, err)
	}
	locks, err := lockPaths(s, target)
	return append([]string{target}, locks...), err
}

// realDir names a directory in one way only: one lock file under two names
// would be waited for until the time is up.
func realDir(dir string) (string, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return "", beads.Unreadable(dir, err)
	}
	return resolved, nil
}

// lockAll takes the locks one after the other and gives the way to release
// them, which tells what went wrong. Their mode and group become those of target.
func lockAll(ctx context.Context, d disk, paths []string, target string, wait time.Duration) (unlock func() error, err error) {
	wait = cmp.Or(wait, defaultWait)
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var held []io.Closer
	unlock = func() (err error) {
		for _, f := range slices.Backward(held) {
			err = join(err, f.Close())
		}
		return err
	}
	for _, path := range paths {
		f, err := d.lock(limit, path, target)
		if err == nil {
			held = append(held, f)
			continue
		}
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = &fault.Error{Code: fault.Changed,
				Path: path, Reason: fmt.Sprintf("another program has held this lock for %v", wait),
				Hint: "let it finish and run the command again; fuser -v " + path + " shows which it is"}
		}
		return nil, join(err, unlock())
	}
	return unlock, nil
}

// Pause keeps stig, and programs that lock as bd does, from writing the store until
// resume is called. It waits for them at most so long. It makes no lock file: where
// there is none, nobody has locked the store yet.
func Pause(ctx context.Context, s beads.Place, wait time.Duration) (resume func() error, err error) {
	touched, err := Touched(s)
	if err != nil {
		return nil, err
	}
	locks := slices.DeleteFunc(touched[1:], func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
	return lockAll(ctx, osDisk{}, locks, touched[0], wait)
}

// Lock keeps stig, and programs that lock as bd 0.49 does, from writing a store that is
// not in the file, until unlock is called. It waits for them at most so long; 0 means
// 30 s.
func Lock(ctx context.Context, s beads.Place, wait time.Duration) (unlock func() error, err error) {
	dir, err := realDir(s.Dir)
	if err != nil {
		return nil, err
	}
	target := filepath.Join(dir, "metadata.json") // what the lock's mode and group are taken from
	if _, err := os.Stat(target); err != nil {
		target = dir
	}
	return lockAll(ctx, osDisk{}, []string{filepath.Join(dir, jsonlLock)}, target, wait)
}

// lock opens and locks one file, waiting until ctx ends. Closing the file
// releases it.
//
// The system keeps those that wait in order, and hands the lock on to the one
// that came first. Polling would serve whoever happens to ask in the right
// millisecond. Nothing ends such a wait from outside, so it goes on behind a
// caller that gave up, and lets go of what it gets.
func lock(ctx context.Context, path, target string) (*os.File, error) {
	type outcome struct {
		file *os.File
		err  error
	}
	got := make(chan outcome)
	go func() {
		f, err := await(ctx, path, target)
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

// await locks path, however long others hold it. A file that was removed while
// it was being locked does not count: others lock the one that is there now. None is made
// for a caller that gave up.
func await(ctx context.Context, path, target string) (*os.File, error) {
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
			return nil, unlockable(path, target, err)
		}
		shareLike(f, target)
		err = flock(f)
		there := false
		if err == nil {
			there, err = isAt(f, path)
		}
		if err != nil {
			return nil, join(&fault.Error{Code: fault.Store, Path: path, Reason: "cannot be locked", Cause: err, Hint: "see that the file system has locks"}, f.Close())
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
	_ = keepOwner(f, store)
	if info, err := f.Stat(); err == nil && store.Mode().Perm()&^info.Mode().Perm() != 0 {
		_ = f.Chmod(info.Mode().Perm() | store.Mode().Perm())
	}
}

// unlockable is the error for a lock that cannot be opened.
func unlockable(path, target string, err error) error {
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

// isAt reports whether f is still the file at path.
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

// LockFile locks a file that it makes where there is none, waiting at most so
// long, and gives the way to release it. Whoever dies releases it too.
func LockFile(path string, wait time.Duration) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	f, err := lock(ctx, path, path)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// LockUntil is LockFile that waits until ctx ends. Those that wait are served in the
// order in which they came. Closing the file releases it, when the programs have ended
// too that got it from us.
func LockUntil(ctx context.Context, path string) (*os.File, error) { return lock(ctx, path, path) }
