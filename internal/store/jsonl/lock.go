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
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/git"
)

const (
	jsonlLock = ".jsonl.lock" // what bd locks
	writeLock = ".write.lock" // what beads_rust locks
)

// defaultWait is how long Edit waits for the lock.
const defaultWait = 30 * time.Second

// lockPaths are the files to lock for a store whose data file is really at target, in the order
// that all writers use. If a symlink leads out of the store's directory, both directories are
// locked, since another store may link to the same file.
func lockPaths(s beads.Place, target string) ([]string, error) {
	own, err := git.RealDir(s.Dir)
	if err != nil {
		return nil, err
	}
	dataDir, err := git.RealDir(filepath.Dir(target))
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

// Touched lists the files that an edit touches, absolute and without symbolic links: the store
// and its lock files. An edit of a store on a server touches its copy, if there is one.
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

// lockAll takes the locks in order and returns the function that releases them and reports
// errors. They get the mode and group of target.
func lockAll(ctx context.Context, d disk, paths []string, target string, wait time.Duration) (unlock func() error, err error) {
	wait = cmp.Or(wait, defaultWait)
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var held []io.Closer
	unlock = func() (err error) {
		for _, f := range slices.Backward(held) {
			err = fault.Join(err, f.Close())
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
				Hint: "let it finish, then retry; fuser -v " + path + " shows which program it is"}
		}
		return nil, fault.Join(err, unlock())
	}
	return unlock, nil
}

// Pause keeps stig, and programs that lock as bd does, from writing the store until resume is
// called. It waits that long for them at most. It creates no lock file: without one, nobody has
// locked the store yet.
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

// Lock keeps stig, and programs that lock as bd 0.49 does, from writing a store that is not in
// the file, until unlock is called. It waits that long for them at most; 0 means 30 s.
func Lock(ctx context.Context, s beads.Place, wait time.Duration) (unlock func() error, err error) {
	dir, err := git.RealDir(s.Dir)
	if err != nil {
		return nil, err
	}
	target := filepath.Join(dir, "metadata.json") // gives the lock its mode and group
	if _, err := os.Stat(target); err != nil {
		target = dir
	}
	return lockAll(ctx, osDisk{}, []string{filepath.Join(dir, jsonlLock)}, target, wait)
}
