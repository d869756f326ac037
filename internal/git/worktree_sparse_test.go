package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/git"
)

// A work tree without the store leaves no trace in what all work trees share, and looks clean
// to a git without stig's settings.
func TestStoreIsLeftOutWithoutTrace(t *testing.T) {
	for name, before := range map[string]func(c cloned){
		"plain": func(cloned) {},
		"sparse": func(c cloned) {
			c.put(c.Root, "docs/d", "d\n")
			c.put(c.Root, "src/s", "s\n")
			c.commit(c.Root, "two directories")
			c.git(c.Root, "sparse-checkout", "set", "src", ".beads")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			before(c)
			shared := func() string {
				text := ""
				for _, file := range []string{"config", "config.worktree", "info/sparse-checkout"} {
					one, _ := os.ReadFile(filepath.Join(c.Root, ".git", file))
					text += file + "\n" + string(one)
				}
				return text + c.git(c.Root, "ls-files", "-t") + c.git(c.Root, "status", "--porcelain")
			}
			was := shared()
			tree := c.prepare("a-1")
			c.absent(tree.Dir, ".beads")
			if said := c.git(tree.Dir, "status", "--porcelain"); said != "" {
				t.Errorf("a git without the settings sees %q", said)
			}
			c.put(tree.Dir, "docs/new", "work\n")
			c.land(tree)
			if got := c.git(c.Root, "show", "stig/work:docs/new"); got != "work" {
				t.Error(got)
			}
			if err := tree.Remove(t.Context()); err != nil {
				t.Error(err)
			}
			if now := shared(); now != was {
				t.Errorf("was\n%s\nis\n%s", was, now)
			}
		})
	}
}

// If a git without the settings restores the store it is omitted again, but files that a worker
// wrote there stay.
func TestStoreIsLeftOutAgain(t *testing.T) {
	c := newClone(t)
	tree := c.prepare("a-1")
	c.git(tree.Dir, "sparse-checkout", "disable") // as older versions left a tree to people
	c.git(c.Root, "config", "--unset", "extensions.worktreeConfig")
	c.git(tree.Dir, "update-index", "--no-skip-worktree", ".beads/issues.jsonl")
	c.git(tree.Dir, "checkout", ".beads")
	c.prepare("a-1")
	c.absent(tree.Dir, ".beads")
	c.put(tree.Dir, ".beads/issues.jsonl", "mine")
	c.put(tree.Dir, "g", "work\n")
	again := c.prepare("a-1")
	if text, err := os.ReadFile(filepath.Join(tree.Dir, ".beads/issues.jsonl")); string(text) != "mine" {
		t.Error("the worker's file is gone", err)
	}
	c.land(again)
	if got := c.git(c.Root, "show", "stig/work:.beads/issues.jsonl"); got != `{"id":"a-1"}` {
		t.Error(got)
	}
}

// What older versions wrote into the configuration is removed, unless somebody else uses it.
func TestTreesOfOlderVersions(t *testing.T) {
	for name, test := range map[string]struct {
		do    func(c cloned, tree *git.Worktree)
		stays bool
	}{
		"a tree":    {do: func(cloned, *git.Worktree) {}},
		"none left": {do: func(c cloned, tree *git.Worktree) { c.git(c.Root, "worktree", "remove", "-f", "-f", tree.Dir) }},
		"a bare one": {do: func(c cloned, _ *git.Worktree) {
			c.git(c.Root, "config", "--file", ".git/config.worktree", "core.bare", "false")
		}},
		"not of stig": {stays: true, do: func(c cloned, _ *git.Worktree) { remove(c, ".git/stig/trees.lock") }},
		"her own":     {stays: true, do: func(c cloned, _ *git.Worktree) { c.git(c.Root, "config", "--worktree", "user.name", "ann") }},
		"another tree's": {stays: true, do: func(c cloned, _ *git.Worktree) {
			c.git(c.Root, "worktree", "add", "-q", "../hers")
			c.git(c.Root+"/../hers", "config", "--worktree", "user.name", "ann")
		}},
		"set in the tree": {stays: true, do: func(c cloned, tree *git.Worktree) { c.git(tree.Dir, "config", "--worktree", "user.name", "ann") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			tree := c.prepare("a-1")
			c.git(tree.Dir, "sparse-checkout", "set", "--no-cone", "/*", "!/.beads")
			c.put(c.Root, ".git/stig/trees.lock", "")
			test.do(c, tree)
			if _, err := git.BeginWork(t.Context(), c.WorktreeOptions); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(c.Root, ".git", "config"))
			if has := strings.Contains(string(text), "worktreeConfig"); has != test.stays || err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			if name == "a bare one" && !strings.Contains(string(text), "bare = false") {
				t.Errorf("core.bare is not back:\n%s", text)
			}
			tree = c.prepare("a-1")
			c.absent(tree.Dir, ".beads")
			c.put(tree.Dir, "g", "work\n")
			c.land(tree)
		})
	}
}

func remove(c cloned, name string) {
	if err := os.Remove(filepath.Join(c.Root, name)); err != nil {
		c.Error(err)
	}
}
