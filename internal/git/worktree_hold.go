package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/visible"
)

// holdWait is how long a git is waited for that a killed loop had started: it may run
// hooks.
const holdWait = 2 * time.Minute

// hold keeps others from the work tree until release is called. A git that we start holds
// it too, so that whoever comes after we were killed waits for it.
func (t *Worktree) hold(ctx context.Context) (release func(), err error) {
	dir := filepath.Join(t.repo.common, "stig")
	if err := file.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, holdWait)
	defer cancel()
	lock, err := file.LockUntil(limit, t.lockPath())
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("%s: another program has been at work there for %v", t.Dir, holdWait), Err: err,
			Hint: "let it finish and try again; fuser -v " + visible.Quoted(t.lockPath()) + " shows which it is"}
	}
	if err != nil {
		return nil, err
	}
	t.repo.git.Lock = lock
	return func() {
		t.repo.git.Lock = nil
		_ = lock.Close() // nothing was written to it
	}, nil
}

func (t *Worktree) lockPath() string {
	return filepath.Join(t.repo.common, "stig", "tree-"+filepath.Base(t.repo.dirOf(t.Branch))+".lock")
}
