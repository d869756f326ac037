package clone

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/git"
)

// readJSON reads a small file into v; a missing file leaves v unchanged. An unreadable file is
// set aside, and the error names it.
func readJSON(path string, v any) error {
	_, err := checkJSON(path, v)
	return err
}

// checkJSON is readJSON and also returns the text; nil if there is none.
func checkJSON(path string, v any) ([]byte, error) {
	text, err := file.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case errors.Is(err, fs.ErrPermission): // another user's file, which may be valid
		return nil, err
	}
	if err == nil {
		if string(bytes.TrimSpace(text)) == "null" {
			return nil, nil // null would replace a map in v by nil
		}
		if err = json.Unmarshal(text, v); err != nil {
			err = fmt.Errorf("%s cannot be read, and was set aside: %w", path, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.Rename(path, path+unreadable))
	}
	return text, nil
}

const unreadable = ".unreadable" // suffix of files that were set aside

// Unreadable lists the files of live state, of all stores of the clone, that were set aside.
func (p Place) Unreadable() (paths []string) {
	for _, dir := range p.dirs() {
		found, _ := filepath.Glob(filepath.Join(dir, "*"+unreadable)) // the pattern is valid
		paths = append(paths, found...)
	}
	return paths
}

// remove removes files of these names from all directories.
func (p Place) remove(names ...string) (err error) {
	for _, dir := range p.dirs() {
		for _, name := range names {
			if e := os.Remove(filepath.Join(dir, name)); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

func replaceJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return file.Replace(path, append(text, '\n'))
}

const lockWait = 10 * time.Second // locks are held for a few milliseconds

func lockIn(dir, name string) (unlock func() error, err error) {
	return file.LockFile(filepath.Join(dir, name), lockWait)
}

// Lock takes a named lock of the clone, which is a file. It waits in order of arrival until ctx
// ends. The lock ends with the process.
func (p Place) Lock(ctx context.Context, name string) (unlock func() error, err error) {
	var waited error
	err = p.inDir(func(dir string) error {
		f, failed := file.LockUntil(ctx, filepath.Join(dir, name+".lock"))
		if waited = failed; failed == nil {
			unlock = f.Close
		} else if ctx.Err() == nil {
			return failed // this directory cannot be used for locks
		}
		return nil
	})
	if err == nil {
		err = waited
	}
	return unlock, err
}

// soon is how long a loop, a dream or a watcher waits for a previous one of the same name,
// which may just have been stopped.
const soon = 200 * time.Millisecond

// lockSoon is Lock for locks held by long-lived processes; it waits for at most soon.
func (p Place) lockSoon(name string) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	return p.Lock(ctx, name)
}

// locked calls do with the directory to write in, under a lock in that directory.
func (p Place) locked(name string, do func(dir string) error) error {
	return p.inDir(func(dir string) (err error) {
		unlock, err := lockIn(dir, name+".lock")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
		return do(dir)
	})
}

// LockOnto ensures that no other process in the clone lands on the branch at the same time. It
// waits in order of arrival for at most wait, or until ctx ends. The lock ends with the
// process. A timeout is a fault.Conflict.
func LockOnto(ctx context.Context, place Place, onto string, wait time.Duration) (unlock func() error, err error) {
	limit, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	unlock, err = place.Lock(limit, "onto-"+git.Escaped(onto))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("branch %s: another loop has been landing on it for %v", onto, wait), Err: err,
			Hint: "let it finish and try again"}
	}
	return unlock, err
}
