package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/testkit/sample"
)

// cloned is a repository with a store and one commit on main, which is checked out.
type cloned struct {
	*testing.T
	git.WorktreeOptions
}

func newClone(t *testing.T) cloned {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+dir,
		"GIT_AUTHOR_NAME=m", "GIT_AUTHOR_EMAIL=m@example.org", "GIT_COMMITTER_NAME=m", "GIT_COMMITTER_EMAIL=m@example.org", "EMAIL=")
	c := cloned{t, git.WorktreeOptions{Git: git.Client{Env: env}, Root: filepath.Join(dir, "main"), Dir: filepath.Join(dir, "trees"), Store: ".beads"}}
	if err := os.CopyFS(c.Root, os.DirFS(begun())); err != nil {
		t.Fatal(err)
	}
	return c
}

// begun is the repository that all clones of this test copy.
var begun = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "stig-begun-")
	files := map[string]string{".beads/issues.jsonl": `{"id":"a-1"}`, ".gitignore": "*.o\n", "f": "one\n"}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	g := git.Client{Dir: dir, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")}
	for _, argv := range [][]string{{"init", "-q", "-b", "main", "--template="}, {"add", "-A"}, {"-c", "user.name=m", "-c", "user.email=m@example.org", "commit", "-q", "-m", "begin"}} {
		_, e := g.Must(context.Background(), argv...)
		err = errors.Join(err, e)
	}
	if err != nil {
		panic(err)
	}
	return dir
})

func TestMain(m *testing.M) { sample.Main(tidy{m}) }

// tidy removes that repository after the tests.
type tidy struct{ *testing.M }

func (m tidy) Run() int {
	defer func() { _ = os.RemoveAll(begun()) }()
	return m.M.Run()
}

func (c cloned) put(dir, name, text string) {
	c.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		c.Fatal(err)
	}
}

// git runs git in a directory, and returns its output.
func (c cloned) git(dir string, argv ...string) string {
	c.Helper()
	said, err := git.Client{Dir: dir, Env: c.Git.Env, Trusted: true}.Must(context.Background(), argv...)
	if err != nil {
		c.Fatal(err)
	}
	return said
}

func (c cloned) commit(dir, message string) string {
	c.Helper()
	c.git(dir, "add", "-A")
	c.git(dir, "commit", "-q", "-m", message)
	return c.git(dir, "rev-parse", "HEAD")
}

func (c cloned) prepare(issue string) *git.Worktree {
	c.Helper()
	tree, err := git.PrepareWorktree(c.Context(), c.WorktreeOptions, issue)
	if err != nil {
		c.Fatal(err)
	}
	return tree
}

// land commits, merges and lands the content of a work tree.
func (c cloned) land(tree *git.Worktree) string {
	c.Helper()
	if _, err := tree.Commit(c.Context(), "work on "+tree.Issue, "mole"); err != nil {
		c.Fatal(err)
	}
	tip, err := tree.Merge(c.Context())
	if err == nil {
		err = tree.Land(c.Context())
	}
	if err != nil {
		c.Fatal(err)
	}
	return tip
}

func (c cloned) changed(tree *git.Worktree, want bool) {
	c.Helper()
	there := c.Git
	there.Dir, there.Trusted = tree.Dir, true
	if _, paths, err := there.Content(c.Context(), tree.Base, nil, filepath.Join(tree.Dir, c.Store)); err != nil || len(paths) > 0 != want {
		c.Errorf("changed: %v, %v; want %v", paths, err, want)
	}
}

func (c cloned) absent(path ...string) {
	c.Helper()
	if _, err := os.Lstat(filepath.Join(path...)); !errors.Is(err, os.ErrNotExist) {
		c.Errorf("%s is there: %v", filepath.Join(path...), err)
	}
}

// An issue goes from its own branch to the branch for results, and a dependent has its
// blockers' work.
func TestTree(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	if err := git.CheckWorktrees(t.Context(), c.WorktreeOptions); err != nil {
		t.Fatal(err)
	}
	tree := c.prepare("a-1")
	begin := c.git(c.Root, "rev-parse", "main")
	if tree.Branch != "stig/a-1" || tree.Base != begin || tree.Head != begin || !strings.HasPrefix(tree.Dir, c.Dir) {
		t.Errorf("%+v", tree)
	}
	c.absent(tree.Dir, ".beads")
	if said := c.git(tree.Dir, "status", "--porcelain"); said != "" {
		t.Errorf("a new work tree is not clean: %s", said)
	}
	if said := c.git(c.Root, "worktree", "list", "--porcelain"); !strings.Contains(said, "locked stig: work on a-1") {
		t.Errorf("is not locked: %s", said)
	}
	c.changed(tree, false)
	c.put(tree.Dir, "new/file", "work\n")
	c.put(tree.Dir, "new/file.o", "ignored")
	c.changed(tree, true)
	commit, err := tree.Commit(t.Context(), "do a-1\n\n# no comment", "mole")
	if err != nil || commit == begin || c.git(tree.Dir, "show", "-s", "--format=%an <%ae>, %cn: %B") != "mole <m@example.org>, m: do a-1\n\n# no comment" {
		t.Errorf("%v: %s", err, c.git(tree.Dir, "show", "-s", "--format=%an <%ae>, %cn: %B"))
	}
	c.changed(tree, true)
	if again, err := tree.Commit(t.Context(), "nothing", "mole"); err != nil || again != commit {
		t.Errorf("nothing to commit: %s, %v", again, err)
	}
	if err := tree.Land(t.Context()); err == nil {
		t.Error("landed what was not merged")
	}
	if err := tree.Remove(t.Context()); !fault.Is(err, fault.Refused) {
		t.Errorf("removed what is not merged: %v", err)
	}
	if tip := c.land(tree); c.git(c.Root, "rev-parse", "stig/work", "stig/work^2") != tip+"\n"+commit || !strings.HasSuffix(c.git(c.Root, "show", "-s", "--format=%B", tip), "\n\n"+git.IssueTrailer+": a-1") {
		t.Errorf("landed %s, which is not one step that names the issue", tip)
	}

	next := c.prepare("a-2")
	if text, err := os.ReadFile(filepath.Join(next.Dir, "new", "file")); err != nil || string(text) != "work\n" {
		t.Errorf("a dependent lacks the work: %q, %v", text, err)
	}
	trees, err := git.Worktrees(t.Context(), c.WorktreeOptions)
	if err != nil || len(trees) != 2 || trees[0].Issue != "a-1" || trees[0].Dir != tree.Dir || trees[1].Issue != "a-2" {
		t.Errorf("%v %v", trees, err)
	}
	for _, tree := range trees {
		if err := tree.Remove(t.Context()); err != nil {
			t.Error(err)
		}
		c.absent(tree.Dir)
	}
	if said := c.git(c.Root, "for-each-ref", "--format=%(refname)", "refs/heads"); said != "refs/heads/main\nrefs/heads/stig/work" {
		t.Errorf("left %q", said)
	}
}

func TestMergeConflict(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	one, two := c.prepare("a-1"), c.prepare("a-2")
	c.put(one.Dir, "f", "of one\n")
	c.put(one.Dir, "a", "of one\n")
	c.land(one)
	c.put(two.Dir, "f", "of two\n")
	if _, err := two.Merge(t.Context()); err == nil || !strings.Contains(err.Error(), "uncommitted") {
		t.Errorf("merged what is not committed: %v", err)
	}
	head, err := two.Commit(t.Context(), "two", "mole")
	if err != nil {
		t.Fatal(err)
	}
	_, err = two.Merge(t.Context())
	conflict, ok := errors.AsType[*git.RejectedError](err)
	if !ok || !slices.Equal(conflict.Files, []string{"f"}) {
		t.Fatalf("%v", err)
	}
	if c.git(two.Dir, "rev-parse", "HEAD") != head || c.git(two.Dir, "status", "--porcelain") != "" {
		t.Error("the tree is not as before")
	}
	c.put(two.Dir, "f", "one\n") // unchanged
	c.put(two.Dir, "g", "of two\n")
	tip := c.land(two)
	if got := c.git(c.Root, "show", "stig/work:f"); got != "of one" {
		t.Errorf("f is %q", got)
	}
	if log := c.git(c.Root, "log", "--first-parent", "--format=%s", tip); log != "Merge branch 'stig/a-2' into stig/work\nMerge branch 'stig/a-1' into stig/work\nbegin" {
		t.Errorf("history:\n%s", log)
	}
}

// The store on the branch for results stays whatever a worker does with its copy.
func TestStoreIsLeftAlone(t *testing.T) {
	for name, change := range map[string]func(c cloned, dir string){
		"untouched":            func(cloned, string) {},
		"untouched, but moved": func(cloned, string) {},
		"committed, not moved": func(c cloned, dir string) { // only the store prevents a fast-forward
			c.put(dir, ".beads/issues.jsonl", "mine")
			c.git(dir, "add", "--sparse", "-A", ".")
			c.git(dir, "commit", "-q", "-m", "mine")
		},
		"written":    func(c cloned, dir string) { c.put(dir, ".beads/issues.jsonl", "mine") },
		"new beside": func(c cloned, dir string) { c.put(dir, ".beads/more", "mine") },
		"committed": func(c cloned, dir string) {
			c.put(dir, ".beads/issues.jsonl", "mine")
			c.put(dir, ".beads/more", "mine")
			c.git(dir, "add", "--sparse", "-A", ".")
			c.git(dir, "commit", "-q", "-m", "mine")
		},
		"staged": func(c cloned, dir string) {
			c.put(dir, ".beads/issues.jsonl", "mine")
			c.git(dir, "add", "--sparse", ".beads/issues.jsonl")
		},
		"removed": func(c cloned, dir string) {
			c.git(dir, "rm", "-r", "-q", "--sparse", ".beads")
			c.git(dir, "commit", "-q", "-m", "mine")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			tree := c.prepare("a-1")
			if name != "untouched" && name != "committed, not moved" { // --onto has another version of the store
				c.git(c.Root, "switch", "-q", "stig/work")
				c.commitFile(".beads/issues.jsonl", "theirs")
				c.git(c.Root, "switch", "-q", "main")
			}
			store := c.git(c.Root, "rev-parse", "stig/work:.beads")
			c.put(tree.Dir, "g", "work\n")
			change(c, tree.Dir)
			before := c.git(tree.Dir, "rev-parse", "HEAD")
			commit, err := tree.Commit(t.Context(), "work", "mole")
			if said := c.git(c.Root, "diff", "--name-only", before, commit); err != nil || said != "g" && said != "" { // the worker may have committed it itself
				t.Errorf("committed %q, %v", said, err)
			}
			tip := c.land(tree)
			if got := c.git(c.Root, "rev-parse", tip+":.beads"); got != store {
				t.Errorf("the store changed:\n%s", c.git(c.Root, "diff", store, got))
			}
			if c.git(c.Root, "show", tip+":g") != "work" {
				t.Error("the work is lost")
			}
			if text, err := os.ReadFile(filepath.Join(tree.Dir, "g")); err != nil || string(text) != "work\n" {
				t.Errorf("%q, %v", text, err)
			}
			if strings.HasPrefix(name, "untouched") {
				c.absent(tree.Dir, ".beads")
				if said := c.git(tree.Dir, "status", "--porcelain"); said != "" {
					t.Error(said)
				}
			}
		})
	}
}

func TestOntoIsCheckedOut(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.Onto = "main"
	_, err := git.PrepareWorktree(t.Context(), c.WorktreeOptions, "a-1")
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), c.Root) {
		t.Errorf("%v", err)
	}
	if err := git.CheckWorktrees(t.Context(), c.WorktreeOptions); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
	c.Onto = "next"
	tree := c.prepare("a-1")
	c.put(tree.Dir, "g", "work\n")
	if _, err := tree.Commit(t.Context(), "g", "mole"); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.git(c.Root, "switch", "-q", "next")
	if err := tree.Land(t.Context()); !fault.Is(err, fault.Conflict) {
		t.Errorf("landed on a branch that is checked out: %v", err)
	}
}

// What would prevent every work tree is refused before an issue is claimed.
func TestCheckForeseesRefusals(t *testing.T) {
	for _, b := range []struct{ there, onto string }{
		{"stig/work", "stig/work/deep"}, {"results", "results/by/stig"}, {"results/by/stig", "results"},
	} {
		c := newClone(t)
		c.git(c.Root, "branch", b.there)
		c.Onto = b.onto
		if err := git.CheckWorktrees(t.Context(), c.WorktreeOptions); !fault.Is(err, fault.Usage) || !strings.Contains(err.Error(), "beside the branch "+b.there) {
			t.Errorf("%s beside %s: %v", b.onto, b.there, err)
		}
	}
	c := newClone(t)
	c.git(c.Root, "branch", "stig/works")
	if err := git.CheckWorktrees(t.Context(), c.WorktreeOptions); err != nil {
		t.Error(err)
	}
	c.Common = filepath.Join(c.Root, "gone")
	if err := git.CheckWorktrees(t.Context(), c.WorktreeOptions); !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "is not writable") {
		t.Error(err)
	}
}
