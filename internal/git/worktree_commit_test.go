package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/fault"
	"stig/internal/git"
)

// hook installs a hook in the repository.
func (c cloned) hook(name, script string) {
	c.Helper()
	c.put(c.Root, ".git/hooks/"+name, "#!/bin/sh\n"+script)
	if err := os.Chmod(filepath.Join(c.Root, ".git", "hooks", name), 0o755); err != nil {
		c.Fatal(err)
	}
}

// without removes variables from git's environment.
func (c *cloned) without(prefixes ...string) {
	c.Git.Env = slices.DeleteFunc(slices.Clone(c.Git.Env), func(variable string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
}

// What a worker may leave, and whether it can be committed.
func TestCommit(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(c cloned, dir string)
		err  string // "" for none: then the worker's work is on the branch, in files g
		tail string
	}{
		{name: "nothing special", do: func(c cloned, dir string) { c.put(dir, "g", "work\n") }},
		{name: "committed by itself", do: func(c cloned, dir string) { c.put(dir, "g", "work\n"); c.commit(dir, "mine") }},
		{name: "a part is staged", do: func(c cloned, dir string) {
			c.put(dir, "f", "staged\n")
			c.git(dir, "add", "f")
			c.put(dir, "g", "work\n")
		}},
		{name: "new and gone", do: func(c cloned, dir string) {
			c.put(dir, "g", "work\n")
			c.commit(dir, "mine")
			c.put(dir, "h", "gone\n")
			c.git(dir, "add", "h")
			if err := os.Remove(filepath.Join(dir, "h")); err != nil {
				c.Error(err)
			}
		}},
		{name: "out of the index alone", do: func(c cloned, dir string) {
			c.put(dir, "g", "work\n")
			c.commit(dir, "mine")
			c.git(dir, "rm", "-q", "--cached", "g")
		}},
		{name: "the store is staged, nothing else", do: func(c cloned, dir string) {
			c.put(dir, "g", "work\n")
			c.commit(dir, "mine")
			c.put(dir, ".beads/more", "mine")
			c.git(dir, "add", "--force", "--sparse", ".beads/more")
		}},
		{name: "on another branch", do: func(c cloned, dir string) {
			c.git(dir, "switch", "-q", "-c", "mine")
			c.put(dir, "g", "work\n")
			c.commit(dir, "mine")
		}},
		{name: "on no branch", do: func(c cloned, dir string) {
			c.git(dir, "switch", "-q", "--detach")
			c.put(dir, "x", "")
			c.commit(dir, "mine")
			c.put(dir, "g", "work\n")
		}},
		{name: "on an older commit", do: func(c cloned, dir string) {
			c.put(dir, "g", "work\n")
			c.commit(dir, "mine")
			c.git(dir, "switch", "-q", "--detach", "HEAD~1")
		}, err: "is on no branch, which does not descend from stig/a-1"},
		{name: "in the middle of a merge", do: func(c cloned, dir string) {
			c.put(dir, "f", "mine\n")
			c.commit(dir, "mine")
			c.commitFile("f", "theirs\n")
			_, _ = git.Client{Dir: dir, Env: c.Git.Env}.Run(c.Context(), "merge", "main")
		}, err: "is in the middle of a merge"},
		{name: "with conflicts of a stash", do: func(c cloned, dir string) {
			c.put(dir, "f", "mine\n")
			c.git(dir, "stash")
			c.put(dir, "f", "other\n")
			c.commit(dir, "other")
			_, _ = git.Client{Dir: dir, Env: c.Git.Env}.Run(c.Context(), "stash", "pop")
		}, err: "has unresolved conflicts"},
		{name: "a hook refuses", do: func(c cloned, dir string) {
			c.hook("pre-commit", "echo checking; echo 'g:1: no good' >&2; exit 3")
			c.put(dir, "g", "work\n")
		}, err: "git commit: exit 1: g:1: no good", tail: "checking\ng:1: no good"},
		{name: "a hook formats", do: func(c cloned, dir string) {
			c.hook("pre-commit", "grep -q done f || { echo done >f; exit 1; }")
			c.put(dir, "g", "work\n")
		}},
		{name: "a hook uses patterns", do: func(c cloned, dir string) {
			c.hook("pre-commit", "git diff --cached --name-only -- '*g' | grep -q g && test -z \"$LC_ALL$GIT_LITERAL_PATHSPECS\"")
			c.put(dir, "g", "work\n")
		}},
		{name: "a hook commits the store", do: func(c cloned, dir string) {
			c.hook("pre-commit", "mkdir -p .beads; echo exported >.beads/issues.jsonl; git add --sparse .beads")
			c.put(dir, "g", "work\n")
		}},
		{name: "signatures without a key", do: func(c cloned, dir string) {
			c.put(c.Root, ".git/gpg", "#!/bin/sh\nexec 2>&1\nif (: </dev/tty) 2>/dev/null || [ -n \"$GPG_TTY\" ]; then sleep 300; fi\necho no passphrase\nexit 2\n")
			if err := os.Chmod(filepath.Join(c.Root, ".git", "gpg"), 0o755); err != nil {
				c.Error(err)
			}
			c.git(c.Root, "config", "commit.gpgSign", "true")
			c.git(c.Root, "config", "gpg.program", filepath.Join(c.Root, ".git", "gpg"))
			c.put(dir, "g", "work\n")
		}, err: "git commit: exit 128: fatal: failed to write commit object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.without("LC_ALL=")
			tree := c.prepare("a-1")
			test.do(c, tree.Dir)
			c.Git.Env = append(c.Git.Env, "GPG_TTY=/dev/tty")
			tree = c.prepare("a-1")
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			commit, err := tree.Commit(ctx, "do it", "mole")
			if test.err != "" {
				e, ok := errors.AsType[*git.RejectedError](err)
				if !ok || !strings.Contains(err.Error(), test.err) || !strings.Contains(e.Tail, test.tail) {
					t.Errorf("%v, %+v", err, e)
				}
				return
			}
			if err != nil || commit != c.git(c.Root, "rev-parse", "stig/a-1") {
				t.Fatalf("%s, %v", commit, err)
			}
			if c.git(c.Root, "show", "stig/a-1:g") != "work" || c.git(tree.Dir, "symbolic-ref", "--short", "HEAD") != "stig/a-1" {
				t.Error("the work is not on the branch")
			}
			if said := c.git(tree.Dir, "diff-index", "--cached", "--name-only", "HEAD"); said != "" {
				t.Errorf("still staged: %s", said)
			}
			store := c.git(c.Root, "rev-parse", "main:.beads")
			tip, err := tree.Merge(ctx)
			if err != nil || c.git(c.Root, "rev-parse", tip+":.beads") != store {
				t.Errorf("the store changed, or %v", err)
			}
		})
	}
}

// Without an identity in git, commits are in the worker's name.
func TestCommitWithoutIdentity(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	one, two := c.prepare("a-1"), c.prepare("a-2")
	c.put(one.Dir, "g", "work\n")
	landed := c
	c.without("GIT_AUTHOR_", "GIT_COMMITTER_", "EMAIL=")
	c.git(c.Root, "config", "user.useConfigOnly", "true")
	two = c.prepare(two.Issue)
	landed.land(one)
	c.put(two.Dir, "h", "work\n")
	if _, err := two.Commit(t.Context(), "h", "Môle <x>, the 2nd."); err != nil {
		t.Fatal(err)
	}
	tip, err := two.Merge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const want = "Môle x, the 2nd <Môle x, the 2nd@stig.invalid>"
	if got := c.git(c.Root, "log", "-1", "--format=%an <%ae>, %cn <%ce>", tip+"^2"); got != want+", "+want {
		t.Errorf("author and committer are %s", got)
	}
	if got := c.git(c.Root, "log", "-1", "--format=%cn <%ce>", tip); got != "stig <stig@stig.invalid>" {
		t.Errorf("merged by %s", got)
	}
}

// With an identity in git, commits say whose worker it was.
func TestCommitAuthor(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.without("GIT_AUTHOR_", "GIT_COMMITTER_", "EMAIL=")
	for _, set := range [][]string{{"user.useConfigOnly", "true"}, {"user.name", "Mara"}, {"user.email", "mara@pier"}, {"author.email", "post@pier"}} {
		c.git(c.Root, "config", set[0], set[1])
	}
	tree := c.prepare("a-1")
	c.put(tree.Dir, "g", "work\n")
	commit, err := tree.Commit(t.Context(), "g", "mole")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.git(c.Root, "log", "-1", "--format=%an <%ae>, %cn <%ce>", commit); got != "mole <post@pier>, Mara <mara@pier>" {
		t.Errorf("author and committer are %s", got)
	}
}

// Files that a repository leaves to setup are not fetched, and block nothing.
func TestSubmodules(t *testing.T) {
	t.Parallel()
	c, lib := newClone(t), newClone(t)
	c.git(c.Root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	c.commit(c.Root, "lib")
	tree := c.prepare("a-1")
	if list, err := os.ReadDir(filepath.Join(tree.Dir, "lib")); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
	c.changed(tree, false)
	c.git(tree.Dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	c.changed(tree, false)
	c.put(filepath.Join(tree.Dir, "lib"), "f", "mine\n")
	c.changed(tree, true)
	var refused *git.RejectedError
	if _, err := tree.Merge(t.Context()); !errors.As(err, &refused) || !strings.HasSuffix(refused.Reason, `uncommitted changes, such as in "lib"`) {
		t.Errorf("merged without what is in a submodule: %v", err)
	}
	if err := tree.Remove(t.Context()); !fault.Is(err, fault.Refused) {
		t.Errorf("lost what is in a submodule: %v", err)
	}
	c.commit(filepath.Join(tree.Dir, "lib"), "mine")
	c.land(tree)
	if err := tree.Remove(t.Context()); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "submodules") {
		t.Errorf("lost the commit of a submodule: %v", err)
	}
	c.git(filepath.Join(tree.Dir, "lib"), "push", "-q", "origin", "HEAD:refs/heads/mine")
	c.git(filepath.Join(tree.Dir, "lib"), "fetch", "-q")
	if err := tree.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	c.absent(tree.Dir)
}
