package beads

import (
	"context"
	"time"
)

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

// SyncDir makes the names in a directory last through a crash.
func SyncDir(path string) error { return syncDir(path) }
