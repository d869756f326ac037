package live

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"stig/jsonl"
)

// Lock keeps others in the clone from doing at once what a name stands for, which is that
// of a file. It waits until ctx ends, behind those that came before. The lock ends with
// the process that holds it.
func (p Place) Lock(ctx context.Context, name string) (unlock func() error, err error) {
	var waited error
	err = p.inDir(func(dir string) error {
		f, failed := jsonl.LockUntil(ctx, filepath.Join(dir, name+".lock"))
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

// soon is how long a loop, a dream or a watcher waits for one of its name to end: one that was
// stopped just now may take a moment.
const soon = 200 * time.Millisecond

// lockSoon is Lock for the life of a process, which does not wait for that of another.
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
