package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
)

// A branch that moved between merge and land is merged again, and nobody's work is lost.
func TestLandMoved(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	one, two := c.prepare("a-1"), c.prepare("a-2")
	for name, tree := range map[string]*git.Worktree{"g": one, "h": two} {
		c.put(tree.Dir, name, "work\n")
		if _, err := tree.Commit(t.Context(), name, "mole"); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Merge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Land(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := two.Land(t.Context()); !errors.Is(err, git.ErrMoved) || !strings.HasSuffix(err.Error(), ": has moved to "+c.git(c.Root, "rev-parse", "--short=12", "stig/work")) {
		t.Errorf("%v", err)
	}
	tip := c.land(two)
	if files := c.git(c.Root, "ls-tree", "--name-only", tip); files != ".beads\n.gitignore\nf\ng\nh" {
		t.Errorf("the branch has %s", files)
	}
	if err := two.Land(t.Context()); err != nil {
		t.Errorf("landed twice: %v", err)
	}
	c.git(c.Root, "branch", "-D", "stig/work")
	if err := two.Land(t.Context()); !errors.Is(err, git.ErrMoved) || !strings.Contains(err.Error(), "was deleted meanwhile") {
		t.Errorf("%v", err)
	}
	if _, err := two.Merge(t.Context()); !errors.Is(err, git.ErrMoved) {
		t.Errorf("%v", err)
	}
}

// Many loops land at once, one after the other, and the branch has all their work.
func TestLandAtOnce(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	place, err := clone.At(filepath.Join(c.Root, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var loops sync.WaitGroup
	for _, issue := range []string{"a", "b", "c", "d", "e", "f"} {
		tree := c.prepare("i-" + issue)
		c.put(tree.Dir, issue+".txt", "work\n")
		if _, err := tree.Commit(t.Context(), issue, "mole"); err != nil {
			t.Fatal(err)
		}
		loops.Go(func() {
			unlock, err := clone.LockOnto(t.Context(), place, "stig/work", 30*time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			_, merging := tree.Merge(t.Context())
			if err := errors.Join(merging, tree.Land(t.Context()), unlock()); err != nil {
				t.Error(err)
			}
		})
	}
	loops.Wait()
	if files := c.git(c.Root, "ls-tree", "--name-only", "stig/work"); files != ".beads\n.gitignore\na.txt\nb.txt\nc.txt\nd.txt\ne.txt\nf\nf.txt" {
		t.Errorf("the branch has %s", files)
	}
}

// holder is the variable that makes TestHolder lock a branch of the named store.
const holder = "STIG_TEST_HOLDER"

// TestHolder holds the lock of a branch, when another test starts it.
func TestHolder(t *testing.T) {
	store := os.Getenv(holder)
	if store == "" {
		return
	}
	place, err := clone.At(store)
	if err == nil {
		_, err = clone.LockOnto(t.Context(), place, "stig/work", time.Minute)
	}
	if err == nil {
		err = os.WriteFile(store+".held", nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
}

// The lock of a branch is held by one process, and ends with it.
func TestLockOnto(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	store := filepath.Join(c.Root, ".beads", "issues.jsonl")
	place, err := clone.At(store)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHolder$")
	cmd.Env = append(os.Environ(), holder+"="+store)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	for range 1000 {
		if _, err := os.Stat(store + ".held"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if _, err := clone.LockOnto(t.Context(), place, "stig/work", 50*time.Millisecond); !fault.Is(err, fault.Conflict) {
		t.Errorf("locked twice: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := clone.LockOnto(ctx, place, "stig/work", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("who was stopped waits on: %v", err)
	}
	if unlock, err := clone.LockOnto(t.Context(), place, "other", time.Minute); err != nil || unlock() != nil {
		t.Errorf("another branch is locked too: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { _ = cmd.Process.Kill() })
	if unlock, err := clone.LockOnto(t.Context(), place, "stig/work", time.Minute); err != nil || unlock() != nil {
		t.Errorf("held by the dead: %v", err)
	}
}

// A work tree with anything that is nowhere else is kept.
func TestRemove(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(c cloned, tree *git.Worktree)
		why  string // "" if it is removed
	}{
		{"nothing was done", func(cloned, *git.Worktree) {}, ""},
		{"files that git ignores", func(c cloned, tree *git.Worktree) { c.put(tree.Dir, "x.o", "") }, ""},
		{"all landed", func(c cloned, tree *git.Worktree) { c.put(tree.Dir, "g", "work\n"); c.land(tree) }, ""},
		{"removed by hand", func(c cloned, tree *git.Worktree) {
			if err := os.RemoveAll(tree.Dir); err != nil {
				c.Error(err)
			}
		}, ""},
		{"a file that git does not know", func(c cloned, tree *git.Worktree) { c.put(tree.Dir, "g", "work\n") }, "it has uncommitted changes"},
		{"a store of its own", func(c cloned, tree *git.Worktree) { c.put(tree.Dir, ".beads/notes", "mine\n") }, "it has uncommitted changes"},
		{"a commit", func(c cloned, tree *git.Worktree) { c.put(tree.Dir, "g", "work\n"); c.commit(tree.Dir, "g") }, "it has commits that are not on stig/work"},
		{"a commit on another branch", func(c cloned, tree *git.Worktree) {
			c.git(tree.Dir, "switch", "-q", "-c", "mine")
			c.put(tree.Dir, "g", "work\n")
			c.commit(tree.Dir, "g")
		}, "it has commits that are not on stig/work"},
		{"a rebase", func(c cloned, tree *git.Worktree) {
			c.put(tree.Dir, "f", "mine\n")
			c.commit(tree.Dir, "mine")
			c.commitFile("f", "theirs\n")
			_, _ = git.Client{Dir: tree.Dir, Env: c.Git.Env}.Run(c.Context(), "rebase", "main")
		}, "it is in the middle of a rebase"},
		{"no branch to land on", func(c cloned, tree *git.Worktree) { c.git(c.Root, "branch", "-D", "stig/work") }, "it has commits that are not on stig/work"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			tree := c.prepare("a-1")
			test.do(c, tree)
			before := c.git(c.Root, "for-each-ref")
			err := tree.Remove(t.Context())
			if test.why == "" {
				c.absent(tree.Dir)
				if err != nil || strings.Contains(c.git(c.Root, "for-each-ref"), "stig/a-1") || strings.Contains(c.git(c.Root, "worktree", "list"), "a-1") {
					t.Errorf("%v: left %s", err, c.git(c.Root, "for-each-ref"))
				}
				return
			}
			if !fault.Is(err, fault.Refused) || err.Error() != tree.Dir+": was kept: "+test.why {
				t.Errorf("%v", err)
			}
			if now := c.git(c.Root, "for-each-ref"); now != before {
				t.Errorf("branches changed: %s", now)
			}
		})
	}
}

// Merges by a driver of the repository are its own, and no hook runs for ours.
func TestMergeDriver(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.put(c.Root, ".gitattributes", "list merge=union\n")
	c.commitFile("list", "a\n")
	one, two := c.prepare("a-1"), c.prepare("a-2")
	for name, tree := range map[string]*git.Worktree{"b\n": one, "c\n": two} {
		c.put(tree.Dir, "list", "a\n"+name)
		if _, err := tree.Commit(t.Context(), name, "mole"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pre-commit", "pre-merge-commit", "commit-msg", "post-merge", "post-checkout"} {
		c.hook(name, "exit 1")
	}
	c.land(one)
	lines := strings.Fields(c.git(c.Root, "show", c.land(two)+":list"))
	if slices.Sort(lines); !slices.Equal(lines, []string{"a", "b", "c"}) {
		t.Errorf("merged to %q", lines)
	}
}

// A restarted branch is not merged: a worker deleted its reference, and its next commit has no
// parent.
func TestMergeBegunAnew(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	tree := c.prepare("a-1")
	c.git(c.Root, "branch", "-f", "stig/work", c.git(c.Root, "commit-tree", "-p", "HEAD", "-m", "others", "HEAD^{tree}"))
	c.git(tree.Dir, "update-ref", "-d", "refs/heads/stig/a-1")
	c.put(tree.Dir, "f", "two\n")
	if _, err := tree.Commit(t.Context(), "anew", "mole"); err != nil {
		t.Fatal(err)
	}
	var refused *git.RejectedError
	if _, err := tree.Merge(t.Context()); !errors.As(err, &refused) || refused.Reason != "branch stig/a-1: has no commit in common with stig/work" {
		t.Errorf("%v", err)
	}
}

// The lock of a git killed while it moved Onto blocks nobody.
func TestLandPastALock(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	tree := c.prepare("a-1")
	c.put(tree.Dir, "g", "work\n")
	c.put(c.Root, ".git/refs/heads/stig/work.lock", "")
	if tip := c.land(tree); tip != c.git(c.Root, "rev-parse", "stig/work") {
		t.Errorf("%s is not on stig/work", tip)
	}
}

// The commits of loops are eventually packed, unless the user disables packing.
func TestUpkeep(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	o := c.WorktreeOptions
	o.Git.Env = append(slices.Clone(o.Git.Env), "GIT_CONFIG_COUNT=0") // these tests disable packing
	for _, config := range [][2]string{{"maintenance.gc.enabled", "false"}, {"maintenance.loose-objects.enabled", "true"}, {"maintenance.loose-objects.auto", "1"}, {"maintenance.autoDetach", "false"}} {
		c.git(c.Root, "config", config[0], config[1])
	}
	packed := func(want string) {
		t.Helper()
		if err := git.Upkeep(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if said := c.git(c.Root, "count-objects", "-v"); !strings.Contains(said, "\npacks: "+want+"\n") {
			t.Errorf("want %s packs: %s", want, said)
		}
	}
	tree := c.prepare("a-1")
	c.put(tree.Dir, "g", "work\n")
	c.land(tree)
	c.git(c.Root, "config", "maintenance.auto", "off")
	packed("0")
	c.git(c.Root, "config", "--unset", "maintenance.auto")
	packed("1")
}

// Work that is stacked upon a request is merged without that request, if it landed in another
// form or was reverted.
func TestMergeStacked(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]struct{ file, text, lands, f string }{
		"squashed":            {"f", "one\nTWO\n", "git merge -q --squash stig/a-1 && git commit -qm squash", "one\nTWO\n"},
		"merged":              {"f", "one\nTWO\n", "git merge -q --no-ff -m merge stig/a-1", "one\nTWO\n"},
		"squashed, reverted":  {"g", "own\n", "git merge -q --squash stig/a-1 && git commit -qm squash && git revert --no-edit HEAD", "one\n"},
		"merged and reverted": {"g", "own\n", "git merge -q --no-ff -m merge stig/a-1 && git revert --no-edit -m 1 HEAD", "one\n"},
	} {
		c := newClone(t)
		lower := c.prepare("a-1")
		c.put(lower.Dir, "f", "one\ntwo\n")
		if _, err := lower.Commit(t.Context(), "a-1: lower", "mole"); err != nil {
			t.Fatal(err)
		}
		c.git(c.Root, "branch", git.RequestBranch("stig/a-1"), "stig/a-1")
		upper := c
		upper.Onto = git.RequestBranch("stig/a-1")
		tree := upper.prepare("a-2")
		c.put(tree.Dir, step.file, step.text)
		if _, err := tree.Commit(t.Context(), "a-2: upper", "mole"); err != nil {
			t.Fatal(err)
		}
		land := exec.Command("sh", "-ec", step.lands+" && echo x >other && git add other && git commit -qm other && git branch -f stig/work")
		land.Dir, land.Env = c.Root, c.Git.Env
		if out, err := land.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		tree = c.prepare("a-2")
		tip, err := tree.Merge(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f := c.git(c.Root, "show", tip+":f"); f+"\n" != step.f {
			t.Errorf("%s: f is %q", name, f)
		}
		if own := c.git(c.Root, "show", tip+":"+step.file); own+"\n" != step.text {
			t.Errorf("%s: the work is %q", name, own)
		}
		c.git(c.Root, "merge-base", "--is-ancestor", "main", tip)
	}
}
