package live

import (
	"context"
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
