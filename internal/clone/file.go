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

// readJSON reads a small file into v; a file that is not there leaves v as it
// is. One that cannot be read is moved aside, and named in the error.
func readJSON(path string, v any) error {
	_, err := checkJSON(path, v)
	return err
}

// checkJSON is readJSON, and gives the text; nil where there is none.
func checkJSON(path string, v any) ([]byte, error) {
	text, err := file.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case errors.Is(err, fs.ErrPermission): // it is another user's, and may be right
		return nil, err
	}
	if err == nil {
		if string(bytes.TrimSpace(text)) == "null" {
			return nil, nil // it would take the map away that v was made with
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

const unreadable = ".unreadable" // what cannot be read is moved to its name with this behind

// Unreadable lists the files of live state, of all stores of the clone, that could not
// be read and were moved aside.
func (p Place) Unreadable() (paths []string) {
	for _, dir := range p.dirs() {
		found, _ := filepath.Glob(filepath.Join(dir, "*"+unreadable)) // the pattern is sound
		paths = append(paths, found...)
	}
	return paths
}

// remove removes files of these names, wherever they are.
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

// Lock takes the lock of a name, which is that of a file, in the clone. It waits until ctx
// ends, behind those that came before. The lock ends with the process that holds it.
func (p Place) Lock(ctx context.Context, name string) (unlock func() error, err error) {
	var waited error
	err = p.inDir(func(dir string) error {
		f, failed := file.LockUntil(ctx, filepath.Join(dir, name+".lock"))
		if waited = failed; failed == nil {
			unlock = f.Close
		} else if ctx.Err() == nil {
			return failed // it cannot be locked here
		}
		return nil
	})
	if err == nil {
		err = waited
	}
	return unlock, err
}

// soon is how long a loop, a dream or a watcher waits for another of the same name to end:
// one that was just stopped may take a moment.
const soon = 200 * time.Millisecond

// lockSoon is Lock for the life of a process; it waits for another for soon at most.
func (p Place) lockSoon(name string) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	return p.Lock(ctx, name)
}

// locked calls do with the directory to write in, under a lock of that name there.
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

// LockOnto makes this process the only one in the clone that lands on a branch. It waits
// for others that came before, at most for wait and until ctx ends. The lock ends with the
// process. If it times out, the error is a fault.Conflict.
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
