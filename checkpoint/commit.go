package checkpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stig/beads"
	"stig/gate"
)

// CommitError is returned by PrepareCommit, before anything is written, where
// a commit could not succeed.
type CommitError struct{ Reason, Hint string }

func (e *CommitError) Error() string { return e.Reason }

// Committer commits a store and nothing else.
type Committer struct {
	git  git
	path string // of the store, symbolic links resolved
}

// A commit waits for another git process to finish: so often, so long each time.
const (
	tries = 200
	pause = 50 * time.Millisecond
)

// PrepareCommit checks that the store could be committed, so that a checkpoint
// is not written first and then left uncommitted. env is the environment that
// git runs in.
func PrepareCommit(ctx context.Context, s beads.Store, env []string) (*Committer, error) {
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	c := &Committer{path: path, git: git{dir: filepath.Dir(path), env: env}}
	for _, check := range []struct {
		argv    []string
		refuses func(exit int) bool
		reason  string
		hint    string
	}{
		{[]string{"rev-parse", "--show-toplevel"}, failed, "the store is in no git repository", "leave --commit out, or type git init"},
		{[]string{"var", "GIT_COMMITTER_IDENT"}, failed, "git does not know who commits", "type git config user.name NAME and git config user.email ADDRESS"},
		{[]string{"rev-parse", "--quiet", "--verify", "MERGE_HEAD"}, succeeded, "a merge is under way, and git commits nothing else meanwhile", "finish the merge, or leave --commit out"},
		{[]string{"check-ignore", "--quiet", path}, succeeded, "git ignores the store", "take it out of .gitignore, or leave --commit out"},
	} {
		exit, _, err := c.git.run(ctx, check.argv...)
		if err != nil {
			return nil, err
		}
		if check.refuses(exit) {
			return nil, &CommitError{Reason: fmt.Sprintf("%s: cannot commit: %s", s.Path, check.reason), Hint: check.hint}
		}
	}
	return c, nil
}

func failed(exit int) bool    { return exit != 0 }
func succeeded(exit int) bool { return exit == 0 }

// Commit commits the store as it is now, with what others wrote to it
// meanwhile, as "chore(beads): checkpoint ID". What is staged stays staged. It
// returns the abbreviated hash, "" when there was nothing to commit.
func (c *Committer) Commit(ctx context.Context, id string) (string, error) {
	if exit, _, err := c.git.run(ctx, "ls-files", "--error-unmatch", "--", c.path); err != nil {
		return "", err
	} else if exit != 0 {
		if _, err := c.git.must(ctx, "add", "--intent-to-add", "--", c.path); err != nil {
			return "", err
		}
	}
	clean, err := c.clean(ctx)
	if err != nil || clean {
		return "", err
	}
	if _, err := c.git.must(ctx, "commit", "--quiet", "--only", "--message", "chore(beads): checkpoint "+id, "--", c.path); err != nil {
		if clean, _ := c.clean(ctx); clean {
			return "", nil // another worker's commit took ours with it
		}
		return "", fmt.Errorf("the checkpoint of %s is written but not committed: %w", id, err)
	}
	return c.git.must(ctx, "rev-parse", "--short", "HEAD")
}

// clean tells whether the store is as HEAD has it.
func (c *Committer) clean(ctx context.Context) (bool, error) {
	text, err := c.git.must(ctx, "status", "--porcelain", "--", c.path)
	return err == nil && text == "", err
}

// git runs git in a directory.
type git struct {
	dir string
	env []string
}

// run gives git's exit code and what it printed. It waits while another git
// process holds the index.
func (g git) run(ctx context.Context, argv ...string) (exit int, output string, err error) {
	command := gate.Command{
		Argv: append([]string{"git"}, argv...),
		Dir:  g.dir,
		Env:  append(append([]string(nil), g.env...), "LC_ALL=C", "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0"),
	}
	for try := 1; ; try++ {
		result, err := gate.Run(ctx, command)
		if err != nil {
			return 0, "", fmt.Errorf("git %s: %w", argv[0], err)
		}
		held := result.Exit != 0 && strings.Contains(string(result.Stderr), ".lock': File exists")
		if !held || try == tries {
			return result.Exit, strings.TrimSpace(string(result.Stdout) + string(result.Stderr)), nil
		}
		select {
		case <-ctx.Done():
			return 0, "", ctx.Err()
		case <-time.After(pause):
		}
	}
}

// must turns a failure of git into an error with git's own words.
func (g git) must(ctx context.Context, argv ...string) (string, error) {
	exit, output, err := g.run(ctx, argv...)
	if err != nil {
		return "", err
	}
	if exit != 0 {
		return "", fmt.Errorf("git %s: exit %d: %s", argv[0], exit, output)
	}
	return output, nil
}
