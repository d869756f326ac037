package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stig/internal/fault"
	"stig/internal/git"
)

// What PrepareWorktree finds, and its result.
func TestPrepare(t *testing.T) {
	for _, test := range []struct {
		name  string
		do    func(c cloned)
		err   string
		hint  string
		check func(c cloned, tree *git.Worktree) // the cases without an error; nil: nothing was done in the tree
	}{
		{name: "again", do: func(c cloned) {
			c.put(c.prepare("a-1").Dir, "f", "half done\n")
		}, check: func(c cloned, tree *git.Worktree) { c.changed(tree, true) }},
		{name: "the link to git is gone", do: func(c cloned) {
			tree := c.prepare("a-1")
			c.put(tree.Dir, "f", "half done\n")
			if err := os.Remove(filepath.Join(tree.Dir, ".git")); err != nil {
				c.Error(err)
			}
		}, check: func(c cloned, tree *git.Worktree) { c.changed(tree, true) }},
		{name: "the index cannot be read", do: func(c cloned) {
			tree := c.prepare("a-1")
			c.put(tree.Dir, "f", "half done\n")
			c.put(c.Root, ".git/worktrees/a-1/index", "torn")
		}, check: func(c cloned, tree *git.Worktree) {
			c.changed(tree, true)
			if said := c.git(tree.Dir, "status", "--porcelain"); said != "M f" { // without the first space
				c.Errorf("differs in %q", said)
			}
		}},
		{name: "the branch is behind", do: func(c cloned) {
			c.prepare("a-1")
			other := c.prepare("a-2")
			c.put(other.Dir, "g", "work\n")
			c.land(other)
		}, check: func(c cloned, tree *git.Worktree) {
			if tree.Base != c.git(c.Root, "rev-parse", "stig/work") || c.git(tree.Dir, "status", "--porcelain") != "" {
				c.Error("did not go on from --onto")
			}
		}},
		{name: "a detached HEAD", do: func(c cloned) { c.git(c.Root, "switch", "-q", "--detach") }},
		{name: "the store's directory is a link", do: func(c cloned) {
			c.git(c.Root, "mv", ".beads", "elsewhere")
			if err := os.Symlink("elsewhere", filepath.Join(c.Root, ".beads")); err != nil {
				c.Error(err)
			}
			c.commit(c.Root, "link")
		}},
		{name: "from a directory below", do: func(c cloned) { c.put(c.Root, "sub/x", "") }},
		{name: "a branch of an earlier pass", do: func(c cloned) {
			c.git(c.Root, "branch", "stig/work")
			c.git(c.Root, "switch", "-q", "-c", "stig/a-1")
			c.commitFile("g", "work\n")
			c.git(c.Root, "switch", "-q", "main")
		}, check: func(c cloned, tree *git.Worktree) {
			if text, err := os.ReadFile(filepath.Join(tree.Dir, "g")); err != nil || string(text) != "work\n" || tree.Head == tree.Base {
				c.Errorf("the earlier pass is lost: %v", err)
			}
		}},
		{name: "a branch that is merged", do: func(c cloned) {
			c.git(c.Root, "branch", "stig/a-1")
			c.commitFile("g", "work\n")
		}, check: func(c cloned, tree *git.Worktree) {
			if tree.Head != c.git(c.Root, "rev-parse", "main") {
				c.Error("the branch did not go on")
			}
		}},
		{name: "a branch of somebody else's", do: func(c cloned) {
			tree := c.git(c.Root, "rev-parse", "HEAD^{tree}")
			c.git(c.Root, "branch", "stig/a-1", c.git(c.Root, "commit-tree", "-m", "other", tree))
		}, err: "branch stig/a-1: exists and has no commit in common with stig/work", hint: "type git branch -m stig/a-1 NAME"},
		{name: "the branch is checked out", do: func(c cloned) { c.git(c.Root, "switch", "-q", "-c", "stig/a-1") },
			err: "branch stig/a-1: is checked out in ROOT", hint: "type git -C ROOT switch --detach"},
		{name: "the branch is being rebased", do: func(c cloned) {
			c.git(c.Root, "switch", "-q", "-c", "stig/a-1")
			c.commitFile("f", "two\n")
			c.git(c.Root, "switch", "-q", "main")
			c.commitFile("f", "three\n")
			_, _ = git.Client{Dir: c.Root, Env: c.Git.Env}.Run(c.Context(), "rebase", "main", "stig/a-1")
		}, err: "branch stig/a-1: is checked out in ROOT", hint: "finish the rebase there; git -C ROOT status says how"},
		{name: "--onto is being rebased", do: func(c cloned) {
			c.git(c.Root, "branch", "stig/work")
			c.commitFile("f", "three\n")
			c.git(c.Root, "switch", "-q", "stig/work")
			c.commitFile("f", "two\n")
			_, _ = git.Client{Dir: c.Root, Env: c.Git.Env}.Run(c.Context(), "rebase", "main")
		}, err: "branch stig/work: is checked out in ROOT", hint: "finish the rebase there, or name another branch with --onto; git -C ROOT status says how"},
		{name: "--onto is checked out without a commit", do: func(c cloned) { c.git(c.Root, "switch", "-q", "--orphan", "stig/work") },
			err: "branch stig/work: is checked out in ROOT", hint: "type git -C ROOT switch --detach, or name another branch with --onto"},
		{name: "--onto is what a bare repository has", do: func(c cloned) {
			c.git(c.Root, "branch", "stig/work")
			c.git(c.Root, "config", "core.bare", "true")
			c.git(c.Root, "symbolic-ref", "HEAD", "refs/heads/stig/work")
		}},
		{name: "removed by hand", do: func(c cloned) {
			tree := c.prepare("a-1")
			c.put(tree.Dir, "g", "work\n")
			if _, err := tree.Commit(c.Context(), "g", "mole"); err != nil {
				c.Error(err)
			}
			if err := os.RemoveAll(tree.Dir); err != nil {
				c.Error(err)
			}
			c.git(c.Root, "worktree", "prune")
		}, check: func(c cloned, tree *git.Worktree) {
			if text, err := os.ReadFile(filepath.Join(tree.Dir, "g")); err != nil || string(text) != "work\n" {
				c.Errorf("what was committed is lost: %v", err)
			}
		}},
		{name: "moved by a person", do: func(c cloned) {
			tree := c.prepare("a-1")
			c.git(c.Root, "worktree", "move", "-f", "-f", tree.Dir, tree.Dir+"-moved")
		}, check: func(c cloned, tree *git.Worktree) {
			if !strings.HasSuffix(tree.Dir, "-moved") {
				c.Errorf("another work tree was made: %s", tree.Dir)
			}
		}},
		{name: "not made to the end", do: func(c cloned) {
			dir := c.prepare("a-1").Dir
			own := c.git(dir, "rev-parse", "--absolute-git-dir")
			for _, path := range []string{filepath.Join(own, "stig-tree.json"), filepath.Join(own, "index"), filepath.Join(dir, "f")} {
				if err := os.Remove(path); err != nil {
					c.Error(err)
				}
			}
		}},
		{name: "locks of a git that was killed", do: func(c cloned) {
			own := c.git(c.prepare("a-1").Dir, "rev-parse", "--absolute-git-dir")
			c.put(own, "index.lock", "")
		}},
		{name: "a directory of somebody else's", do: func(c cloned) {
			dir := c.prepare("a-1").Dir
			c.git(c.Root, "worktree", "remove", "-f", "-f", dir)
			c.put(dir, "precious", "")
		}, err: "/a-1: exists and is not a work tree of this repository", hint: "move it away"},
		{name: "an empty directory", do: func(c cloned) {
			dir := c.prepare("a-1").Dir
			c.git(c.Root, "worktree", "remove", "-f", "-f", dir)
			c.git(c.Root, "branch", "-D", "stig/a-1")
			if err := os.Mkdir(dir, 0o700); err != nil {
				c.Error(err)
			}
		}},
		{name: "no commit", do: func(c cloned) { c.git(c.Root, "switch", "-q", "--orphan", "none") },
			err: "ROOT: has no commit yet", hint: "type git commit --allow-empty -m begin"},
		{name: "a branch stig", do: func(c cloned) { c.git(c.Root, "branch", "stig") },
			err: "branch stig: leaves no room for branches stig/ISSUE", hint: "type git branch -m stig NAME"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			test.do(c)
			if test.name == "from a directory below" {
				c.Root = filepath.Join(c.Root, "sub")
			}
			tree, err := git.PrepareWorktree(t.Context(), c.WorktreeOptions, "a-1")
			if test.err != "" {
				e, ok := errors.AsType[*fault.Error](err)
				if !ok || !strings.Contains(e.Error(), strings.ReplaceAll(test.err, "ROOT", c.Root)) || e.Hint != strings.ReplaceAll(test.hint, "ROOT", c.Root) {
					t.Errorf("%v, %+v", err, e)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.check != nil {
				test.check(c, tree)
			} else if c.changed(tree, false); c.git(tree.Dir, "status", "--porcelain") != "" {
				t.Error("the work tree is not clean")
			}
			if got := c.git(tree.Dir, "symbolic-ref", "--short", "HEAD"); got != "stig/a-1" {
				t.Errorf("is on %s", got)
			}
			if !strings.Contains(c.git(c.Root, "worktree", "list", "--porcelain"), "locked stig: work on a-1") {
				t.Error("is not locked")
			}
			c.absent(tree.Dir, ".beads")
		})
	}
}

func (c cloned) commitFile(name, text string) {
	c.Helper()
	c.put(c.Root, name, text)
	c.commit(c.Root, name)
}

// A loop starts from a person's current work, and does not move a branch that has work the
// person has not merged, or that the person named.
func TestBegin(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	begin := func(tip string, behind int) {
		t.Helper()
		got, err := git.BeginWork(t.Context(), c.WorktreeOptions)
		if err != nil || got != behind || c.git(c.Root, "rev-parse", tip) != c.git(c.Root, "rev-parse", "stig/work") {
			t.Errorf("%d behind, %v; want %s and %d behind", got, err, tip, behind)
		}
	}
	begin("main", 0)
	c.commitFile("g", "later\n")
	begin("main", 0)
	tree := c.prepare("a-1")
	c.put(tree.Dir, "h", "work\n")
	tip := c.land(tree)
	begin(tip, 0)
	c.commitFile(".beads/issues.jsonl", "the store alone\n")
	begin(tip, 0)
	c.commitFile("i", "later still\n")
	begin(tip, 1)
	c.git(c.Root, "merge", "-q", "-m", "merge", "stig/work")
	begin("main", 0)
	c.git(c.Root, "branch", "next", "HEAD~1")
	c.Onto = "next"
	if got, err := git.BeginWork(t.Context(), c.WorktreeOptions); err != nil || c.git(c.Root, "rev-parse", "next") != c.git(c.Root, "rev-parse", "HEAD~1") || got == 0 {
		t.Errorf("a branch that was named: %d behind, %v", got, err)
	}
}

func TestNoRepository(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Root = filepath.Dir(c.Root)
	_, err := git.PrepareWorktree(t.Context(), c.WorktreeOptions, "a-1")
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Error() != c.Root+": is not in a git repository" || e.Hint != "type git init" {
		t.Errorf("%v", err)
	}
}

func TestOntoIsNoBranch(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	for _, onto := range []string{"-x", "a b", "@{-1}", "stig", "HEAD", "a..b"} {
		c.Onto = onto
		if err := git.CheckWorktrees(t.Context(), c.WorktreeOptions); !fault.Is(err, fault.Usage) {
			t.Errorf("%s: %v", onto, err)
		}
	}
}

// Ten loops start at once in a clone without work trees.
func TestPrepareAtOnce(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	var wait sync.WaitGroup
	for _, issue := range strings.Split("a b c d e f g h i j", " ") {
		wait.Go(func() {
			tree, err := git.PrepareWorktree(t.Context(), c.WorktreeOptions, issue)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Lstat(filepath.Join(tree.Dir, ".beads")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the store is there: %v", issue, err)
			}
		})
	}
	wait.Wait()
}

// Two clones have separate work trees.
func TestTwoClones(t *testing.T) {
	t.Parallel()
	c, d := newClone(t), newClone(t)
	d.Dir = c.Dir
	if one, two := c.prepare("a-1"), d.prepare("a-1"); one.Dir == two.Dir {
		t.Error("two clones share a work tree")
	}
}

func TestBranchOf(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	g := git.Client{Dir: t.TempDir(), Env: os.Environ()}
	for _, test := range [][2]string{
		{"harbor-9fd.3", "stig/harbor-9fd.3"},
		{"a", "stig/a"},
		{"work", "stig/%77ork"},
		{"%77ork", "stig/%2577ork"},
		{".a", "stig/%2Ea"},
		{"a.", "stig/a%2E"},
		{"a..b", "stig/a.%2Eb"},
		{"a.lock", "stig/a%2Elock"},
		{"a/b", "stig/a%2Fb"},
		{"@", "stig/%40"},
		{"a b~^:?*[\\{\x7f\n", "stig/a%20b%7E%5E%3A%3F%2A%5B%5C%7B%7F%0A"},
		{"-a", "stig/%2Da"},
		{"größe", "stig/größe"},
		{strings.Repeat("ö", 200), ""},
		{strings.Repeat("ö", 201), ""},
	} {
		got := git.BranchOf(test[0], git.WorkBranch)
		if test[1] != "" && got != test[1] {
			t.Errorf("%q: got %s, want %s", test[0], got, test[1])
		}
		if seen[got] != "" {
			t.Errorf("%q has the branch of %q", test[0], seen[got])
		}
		seen[got] = test[0]
		if _, err := g.Must(t.Context(), "check-ref-format", "refs/heads/"+got); err != nil || len(got) > 200 {
			t.Errorf("%q: %v", test[0], err)
		}
	}
}
