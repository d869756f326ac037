package git

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stig/internal/file"
)

// TryWorktree creates a work tree as PrepareWorktree does, lets prepare do in it what comes
// before work, and checks whether the pre-commit hook passes there without changes, and whether
// git accepts a commit on the branch. A *RejectedError says what does not, or that the hook
// takes longer than limit. It leaves nothing behind.
func TryWorktree(ctx context.Context, o WorktreeOptions, name string, limit time.Duration, prepare func(dir string) error) (err error) {
	t, err := PrepareWorktree(ctx, o, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.drop(context.WithoutCancel(ctx))) }()
	if err := prepare(t.Dir); err != nil {
		return err
	}
	if err := t.hookPasses(ctx, limit); err != nil {
		return err
	}
	commit, err := t.commitTree(ctx, "HEAD^{tree}", "nothing, to see whether git takes a commit", []string{t.Head})
	if err == nil {
		err = t.forward(ctx, commit)
	}
	return err
}

// hookPasses runs the pre-commit hook with nothing to commit.
func (t *Worktree) hookPasses(ctx context.Context, limit time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	hook, err := t.git().Perform(limited, nil, nil, "hook", "run", "--ignore-missing", preCommit)
	switch {
	case ctx.Err() == nil && limited.Err() != nil:
		return &RejectedError{Reason: fmt.Sprintf("git hook run %s: timed out after %s; a hook of the repository may hang", preCommit, limit)}
	case err == nil && hook.Exit != 0 && ctx.Err() == nil:
		return rejected("git hook run "+preCommit, hook)
	}
	return err
}

// preCommit is the hook that git runs before each commit.
const preCommit = "pre-commit"

// NeedsTrial reports whether the repository has a pre-commit hook, or git accepts only signed
// commits.
func NeedsTrial(ctx context.Context, o WorktreeOptions) (bool, error) {
	r, err := open(ctx, o)
	if err != nil {
		return false, err
	}
	told, err := r.git.Run(ctx, "config", "--type=bool", "merge.verifySignatures")
	if err != nil || string(told.Stdout) == "true\n" {
		return err == nil, err
	}
	said, err := r.git.Must(ctx, "rev-parse", "--git-path", "hooks/"+preCommit)
	if err != nil {
		return false, err
	}
	return isThere(file.Under(o.Root, said)), nil
}

// drop removes a work tree and its branch with all content.
func (t *Worktree) drop(ctx context.Context) error {
	release, err := t.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	head, err := t.repo.branch(ctx, t.Branch)
	if err == nil {
		err = t.remove(ctx, head, head)
	}
	if err != nil {
		return fmt.Errorf("%s: cannot be removed: %w", t.Dir, err)
	}
	return nil
}
