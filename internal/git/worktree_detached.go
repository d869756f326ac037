package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
)

// DetachedTree gives a directory that holds a commit, without the store, for checks that
// must not see what else a worker left. what names its purpose: the next tree for the same
// purpose replaces one that a killed process left. remove deletes it.
func DetachedTree(ctx context.Context, o WorktreeOptions, what, commit string) (dir string, remove func(context.Context) error, err error) {
	r, err := open(ctx, o)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256([]byte(r.common + "\x00" + what + "\x00" + commit))
	dir = filepath.Join(o.Dir, "detached", hex.EncodeToString(sum[:8]))
	remove = func(ctx context.Context) error {
		err := os.RemoveAll(dir)
		_, pruned := r.git.Run(ctx, "worktree", "prune")
		return errors.Join(err, pruned)
	}
	if err := remove(ctx); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", nil, err
	}
	t := &Worktree{Dir: dir, repo: r}
	if err := r.alone(ctx, "worktree", "add", "--quiet", "--no-checkout", "--detach", dir, commit); err != nil {
		return "", nil, errors.Join(t.noRoom(err), remove(context.WithoutCancel(ctx)))
	}
	at, err := CheckoutOf(dir)
	t.own = at.Own
	if err == nil {
		err = t.files(ctx, toHead)
	}
	if err != nil {
		return "", nil, errors.Join(t.noRoom(err), remove(context.WithoutCancel(ctx)))
	}
	return dir, remove, nil
}
