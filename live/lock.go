package live

import (
	"context"
	"errors"
	"path/filepath"

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
