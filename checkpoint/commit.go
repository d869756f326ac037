package checkpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
)

// committer commits only the store.
type committer struct {
	git  git.Client
	path string // of the store, with symbolic links resolved
}

// PrepareCommit checks that the store can be committed, so that no checkpoint is written and
// then left uncommitted. If it cannot, the error is a fault.Usage. env is git's environment.
//
// The returned function commits the store in its current state, including other writers'
// changes, as "chore(beads): checkpoint ID". Staged changes stay staged. It returns the
// abbreviated hash, or "" if there was nothing to commit.
func PrepareCommit(ctx context.Context, p beads.Place, env []string) (commit func(ctx context.Context, id string) (string, error), err error) {
	if p.File() == "" {
		return nil, usage(p.Name()+": cannot commit: the store is on a server, and git has no copy of it", "leave --commit out")
	}
	path, err := filepath.Abs(p.File())
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		path = real
	case p.Mode != beads.Server: // the first edit creates its copy
		return nil, err
	}
	c := &committer{path: path, git: git.Client{Env: env}.Around(path)}
	for _, check := range []struct {
		argv         []string
		passes       bool // whether exit code 0 is required, or else not allowed
		reason, hint string
	}{
		{[]string{"rev-parse", "--show-toplevel"}, true, "the store is not in a git repository", "leave --commit out, or type git init"},
		{[]string{"var", "GIT_COMMITTER_IDENT"}, true, "git has no user name and email", "type git config user.name NAME and git config user.email ADDRESS"},
		{[]string{"rev-parse", "--quiet", "--verify", "MERGE_HEAD"}, false, "a merge is in progress", "finish the merge, or leave --commit out"},
	} {
		result, err := c.git.Run(ctx, check.argv...)
		if err != nil {
			return nil, err
		}
		if err := git.Foreign(result); err != nil {
			return nil, err
		}
		if (result.Exit == 0) != check.passes {
			return nil, usage(fmt.Sprintf("%s: cannot commit: %s", p.Path, check.reason), check.hint)
		}
	}
	ignored, err := c.git.Ignores(ctx, path)
	if ignored {
		err = usage(p.Path+": cannot commit: git ignores the store", "take it out of .gitignore, or leave --commit out")
	}
	return c.commit, err
}

// committing is the environment variable that stig sets for the hooks of its own commits.
const committing = "STIG_COMMITTING"

func (c *committer) commit(ctx context.Context, id string) (string, error) {
	// Commits are serialised: of two concurrent commits git refuses one, or finds its change
	// committed. A hook of our own commit must not wait, because the commit waits for the hook.
	if place, err := clone.At(c.path); err == nil && !slices.Contains(c.git.Env, committing+"=1") {
		if unlock, err := place.Lock(ctx, "commit"); err == nil {
			defer func() { _ = unlock() }()
		}
	}
	if known, err := c.git.Run(ctx, "ls-files", "--error-unmatch", "--", c.path); err != nil {
		return "", err
	} else if known.Exit != 0 {
		if _, err := c.git.Must(ctx, "add", "--intent-to-add", "--", c.path); err != nil {
			return "", err
		}
	}
	clean, err := c.clean(ctx)
	if err != nil || clean {
		return "", err
	}
	commits := c.git
	commits.Env = append(slices.Clone(c.git.Env), committing+"=1")
	if _, err := commits.Must(ctx, "commit", "--quiet", "--only", "--message", "chore(beads): checkpoint "+id, "--", c.path); err != nil {
		if clean, _ := c.clean(ctx); clean {
			return "", nil // another worker's commit included ours
		}
		return "", &fault.Error{Code: fault.Store, Err: err, Reason: fmt.Sprintf("the checkpoint of %s is written but not committed: %v", id, err),
			Hint: "once git can commit, retry the same command"}
	}
	if err := c.follow(ctx); err != nil {
		return "", err
	}
	return c.git.Must(ctx, "rev-parse", "--short", "HEAD")
}

// clean reports whether the store equals HEAD.
func (c *committer) clean(ctx context.Context) (bool, error) {
	changed, err := c.git.Run(ctx, "diff", "--quiet", "HEAD", "--", c.path)
	switch {
	case err != nil:
		return false, err
	case changed.Exit != 0: // also if there is no HEAD yet
		return false, nil
	}
	return true, c.follow(ctx)
}

// follow updates the index to HEAD if they differ. `git commit --only` reads the file twice,
// for the index and for the commit. A write between the two reads is committed but staged in
// its old state, and a person's next commit would revert it.
func (c *committer) follow(ctx context.Context) error {
	staged, err := c.git.Run(ctx, "diff", "--quiet", "--cached", "HEAD", "--", c.path)
	if err == nil && staged.Exit != 0 {
		_, err = c.git.Must(ctx, "reset", "--quiet", "--", c.path)
	}
	return err
}
