package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// put writes a file, and creates missing directories.
func put(t *testing.T, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, g Client, argv ...string) string {
	t.Helper()
	said, err := g.Must(context.Background(), argv...)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func tree(t *testing.T, g Client, without ...string) Tree {
	t.Helper()
	got, err := g.Tree(context.Background(), without...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// known is the result of Tracked.
func known(t *testing.T, g Client) string {
	t.Helper()
	state, err := g.Tracked(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestTree: each step makes a tree that no earlier step had.
func TestTree(t *testing.T) {
	g := repositoryAt(t, version{"a b.txt", "1\n"}, version{"a b.txt", "2\n"})
	put(t, "ignored\n", g.Dir, ".gitignore")
	must(t, g, "add", "-A")
	must(t, g, "commit", "-q", "-m", "more")
	head := must(t, g, "rev-parse", "HEAD")
	clean := tree(t, g)
	if clean.Head != head || clean.Dirty || len(clean.State) != 64 {
		t.Errorf("clean: %+v", clean)
	}
	seen := map[string]string{clean.State: "clean"}
	if err := os.Mkdir(filepath.Join(g.Dir, "new"), 0o755); err != nil {
		t.Fatal(err)
	}
	inner := Client{Dir: filepath.Join(g.Dir, "inner"), Env: g.Env}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"changed", func() { put(t, "3\n", g.Dir, "a b.txt") }},
		{"changed otherwise", func() { put(t, "4\n", g.Dir, "a b.txt") }},
		{"staged", func() { must(t, g, "add", "-A") }},
		{"changed after it was staged", func() { put(t, "5\n", g.Dir, "a b.txt") }},
		{"untracked", func() { put(t, "1\n", g.Dir, "new", "ü x") }},
		{"untracked otherwise", func() { put(t, "2\n", g.Dir, "new", "ü x") }},
		{"untracked under another name", func() { _ = os.Rename(filepath.Join(g.Dir, "new", "ü x"), filepath.Join(g.Dir, "new", "y")) }},
		{"executable", func() { _ = os.Chmod(filepath.Join(g.Dir, "new", "y"), 0o755) }},
		{"link", func() { _ = os.Symlink("one", filepath.Join(g.Dir, "link")) }},
		{"link elsewhere", func() {
			_ = os.Remove(filepath.Join(g.Dir, "link"))
			_ = os.Symlink("two", filepath.Join(g.Dir, "link"))
		}},
		{"removed", func() { _ = os.Remove(filepath.Join(g.Dir, "a b.txt")) }},
		{"moved", func() { must(t, g, "mv", ".gitignore", "moved") }},
		{"moved back", func() { must(t, g, "mv", "moved", ".gitignore"); put(t, "# sand\nignored\n", g.Dir, ".gitignore") }},
		{"repository within", func() {
			put(t, "1\n", inner.Dir, "x")
			must(t, inner, "init", "-q")
			must(t, inner, "add", "-A")
			must(t, inner, "commit", "-q", "-m", "one")
		}},
		{"changed within", func() { put(t, "2\n", inner.Dir, "x") }},
		{"changed otherwise within", func() { put(t, "3\n", inner.Dir, "x") }},
	} {
		step.do()
		got := tree(t, g)
		if !got.Dirty || got.Head != head {
			t.Errorf("%s: %+v", step.name, got)
		}
		if whole, tracked, err := g.TreeAndTracked(t.Context()); err != nil || whole != got || tracked != known(t, g) {
			t.Errorf("%s: one look gives %+v, %s, %v; want %+v, %s", step.name, whole, tracked, err, got, known(t, g))
		}
		if before, again := seen[got.State]; again {
			t.Errorf("%s: cannot be told from %s", step.name, before)
		}
		if again := tree(t, Client{Dir: filepath.Join(g.Dir, "new"), Env: g.Env}); again != got {
			t.Errorf("%s: from a directory below: %+v, not %+v", step.name, again, got)
		}
		seen[got.State] = step.name
	}
	must(t, g, "reset", "-q", "--hard")
	must(t, g, "clean", "-qffdx")
	put(t, "1\n", g.Dir, "ignored")
	if got := tree(t, g); got != clean {
		t.Errorf("all taken back: %+v, not %+v", got, clean)
	}
	must(t, g, "commit", "-q", "--allow-empty", "-m", "more")
	if got := tree(t, g); got.Dirty || got.Head == head || got.State == clean.State {
		t.Errorf("another commit: %+v", got)
	}
}

func TestTreeWithout(t *testing.T) {
	g := repositoryAt(t, version{".beads/issues.jsonl", "1\n"})
	clean := tree(t, g)
	store := filepath.Join(g.Dir, ".beads", "issues.jsonl")
	put(t, "2\n", store)
	put(t, "2\n", store+".old")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(g.Dir, link); err != nil {
		t.Fatal(err)
	}
	for _, without := range [][]string{
		{store, store + ".old"}, {".beads"}, {".beads/issues.jsonl", ".beads/./issues.jsonl.old"},
		{filepath.Join(link, ".beads", "issues.jsonl"), filepath.Join(link, ".beads", "issues.jsonl.old")},
	} {
		if got := tree(t, g, without...); got != clean {
			t.Errorf("without %q: %+v, not %+v", without, got, clean)
		}
	}
	one, other := tree(t, g, store), tree(t, g, store+".old")
	if !one.Dirty || !other.Dirty || one.State == other.State {
		t.Errorf("got %+v and %+v", one, other)
	}
	if got := tree(t, g, ".bead", filepath.Dir(t.TempDir())+"/elsewhere"); !got.Dirty {
		t.Errorf("another name hid a change: %+v", got)
	}
	below := Client{Dir: filepath.Join(g.Dir, ".beads"), Env: g.Env}
	if got := tree(t, below, "issues.jsonl", "issues.jsonl.old"); got != clean {
		t.Errorf("relative to a directory below: %+v", got)
	}
}

func TestTreeOfNoRepository(t *testing.T) {
	outside := repositoryAt(t)
	if got := tree(t, outside); got != (Tree{}) {
		t.Errorf("outside: %+v", got)
	}
	must(t, outside, "init", "-q")
	unborn := tree(t, outside)
	if unborn.Head != "" || unborn.Dirty || unborn.State == "" {
		t.Errorf("before the first commit: %+v", unborn)
	}
	put(t, "1\n", outside.Dir, "x")
	if got := tree(t, outside); !got.Dirty || got.State == unborn.State {
		t.Errorf("a file before the first commit: %+v", got)
	}
	t.Setenv("PATH", t.TempDir())
	if got := tree(t, outside); got != (Tree{}) {
		t.Errorf("without git: %+v", got)
	}
}

// In a git hook, whose environment names the repository, a nested one is still examined by
// itself.
func TestTreeUnderHook(t *testing.T) {
	g := repositoryAt(t, version{"a", "1\n"})
	inner := Client{Dir: filepath.Join(g.Dir, "inner"), Env: g.Env}
	put(t, "1\n", inner.Dir, "x")
	must(t, inner, "init", "-q")
	want := tree(t, g)
	hook := Client{Dir: g.Dir, Env: append(append([]string(nil), g.Env...), "GIT_DIR="+filepath.Join(g.Dir, ".git"), "GIT_WORK_TREE="+g.Dir)}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if got, err := hook.Tree(ctx); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestTreeFails(t *testing.T) {
	g := repositoryAt(t, version{"a", "1\n"})
	put(t, "broken", g.Dir, ".git", "index")
	if got, err := g.Tree(context.Background()); err == nil {
		t.Errorf("a broken index gives %+v", got)
	}
}

func TestPlace(t *testing.T) {
	ctx := context.Background()
	g := repositoryAt(t, version{"sub/a", "1\n"})
	other := filepath.Join(filepath.Dir(g.Dir), "other")
	must(t, g, "worktree", "add", "-q", other)
	for dir, want := range map[string]Place{
		g.Dir:                        {g.Dir, g.Dir, filepath.Join(g.Dir, ".git", "stig")},
		filepath.Join(g.Dir, "sub"):  {g.Dir, g.Dir, filepath.Join(g.Dir, ".git", "stig")},
		filepath.Join(other, "sub"):  {other, g.Dir, filepath.Join(g.Dir, ".git", "worktrees", "other", "stig")},
		filepath.Dir(g.Dir):          {},
		filepath.Join(g.Dir, ".git"): {},
	} {
		if got, err := (Client{Dir: dir, Env: g.Env}).Place(ctx); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", dir, got, err)
		}
	}
	// a line break in a path does not separate the paths that git prints
	broken := filepath.Join(filepath.Dir(g.Dir), "b\n/c\n")
	must(t, g, "worktree", "add", "-q", "-b", "c", broken)
	if got, err := (Client{Dir: broken, Env: g.Env}).Place(ctx); err != nil || got.Root != broken || got.Home != g.Dir || !strings.HasPrefix(got.Own, g.Dir) {
		t.Errorf("path with line breaks: got %+v, %v", got, err)
	}
	named := append(slices.Clone(g.Env), "GIT_DIR="+filepath.Join(g.Dir, ".git"), "GIT_WORK_TREE="+filepath.Dir(g.Dir))
	want := Place{filepath.Dir(g.Dir), g.Dir, filepath.Join(g.Dir, ".git", "stig")}
	if got, err := (Client{Dir: filepath.Dir(g.Dir), Env: named}).Place(ctx); err != nil || got != want {
		t.Errorf("named in the environment: got %+v, %v; want %+v", got, err, want)
	}
}

func TestCommits(t *testing.T) {
	g := repositoryAt(t, version{"a", "1\n"})
	head, blob := must(t, g, "rev-parse", "HEAD"), must(t, g, "rev-parse", "HEAD:a")
	got, err := g.Commits(context.Background(), []string{head[:7], "0000000", head, blob, "9f8e7d6"})
	if want := []bool{true, false, true, false, false}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestRootCommit(t *testing.T) {
	ctx := context.Background()
	g := repositoryAt(t, version{"a", "1\n"}, version{"a", "2\n"})
	root := must(t, g, "rev-parse", "HEAD~1")
	elsewhere := repositoryAt(t, version{"b", "1\n"})
	foreign := must(t, elsewhere, "rev-parse", "HEAD")
	for _, known := range [][]string{nil, {root}, {foreign}, {foreign, root}, {""}, {"HEAD"}, {"--all"}} {
		if got, err := g.RootCommit(ctx, known...); err != nil || got != root {
			t.Errorf("known %q: got %q, %v; want %s", known, got, err, root)
		}
	}
	must(t, Client{Dir: g.Dir, Env: g.Env, Trusted: true}, "fetch", "-q", elsewhere.Dir, "HEAD")
	if got, err := g.RootCommit(ctx, foreign); err != nil || got != root {
		t.Errorf("a commit that HEAD does not come from: got %q, %v; want %s", got, err, root)
	}
	later := append(append([]string(nil), g.Env...), "GIT_AUTHOR_DATE=2040-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2040-01-01T00:00:00Z")
	must(t, Client{Dir: g.Dir, Env: later}, "checkout", "-q", "--orphan", "second")
	must(t, Client{Dir: g.Dir, Env: later}, "commit", "-q", "-m", "another beginning")
	second := must(t, g, "rev-parse", "HEAD")
	must(t, Client{Dir: g.Dir, Env: later}, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "both", "main")
	if got, err := g.RootCommit(ctx); err != nil || got != root {
		t.Errorf("two beginnings: got %q, %v; want the oldest", got, err)
	}
	if got, err := g.RootCommit(ctx, second); err != nil || got != second {
		t.Errorf("a known beginning: got %q, %v; want %s", got, err, second)
	}
	outside := repositoryAt(t)
	if got, err := outside.RootCommit(ctx); err != nil || got != "" {
		t.Errorf("outside: got %q, %v", got, err)
	}
	must(t, outside, "init", "-q")
	if got, err := outside.RootCommit(ctx); err != nil || got != "" {
		t.Errorf("before the first commit: got %q, %v", got, err)
	}
}

// TestContent: the difference between work tree and commit stays the same when staged and
// committed, and changes when a file changes, appears or disappears.
func TestContent(t *testing.T) {
	g := repositoryAt(t, version{"a.txt", "1\n"}, version{"a.txt", "2\n"})
	base := must(t, g, "rev-parse", "HEAD")
	store := filepath.Join(g.Dir, "store")
	beyond := func(base string) string {
		t.Helper()
		state, _, err := g.Content(t.Context(), base, nil, store)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	before, first := beyond(base), beyond("")
	for _, step := range []struct {
		name    string
		changes bool
		do      func()
	}{
		{"a file is touched", false, func() { put(t, "2\n", g.Dir, "a.txt") }},
		{"the store changes", false, func() { put(t, "2\n", g.Dir, "store") }},
		{"a file changes", true, func() { put(t, "3\n", g.Dir, "a.txt") }},
		{"a file comes", true, func() { put(t, "1\n", g.Dir, "below", "b c.txt") }},
		{"all is staged", false, func() { must(t, g, "add", "-A") }},
		{"all is committed", false, func() { must(t, g, "commit", "-q", "-m", "work") }},
		{"a file changes again", true, func() { put(t, "4\n", g.Dir, "a.txt") }},
		{"it is committed", false, func() { must(t, g, "commit", "-q", "-a", "-m", "more") }},
		{"a file goes", true, func() { must(t, g, "rm", "-q", "a.txt") }},
	} {
		step.do()
		after := beyond(base)
		if changed := after != before; changed != step.changes {
			t.Errorf("%s: changed %t", step.name, changed)
		}
		if now := beyond(""); step.changes && now == first {
			t.Errorf("%s: nothing beyond no commit", step.name)
		} else {
			first = now
		}
		before = after
	}
	if _, _, err := g.Content(t.Context(), "0123456789012345678901234567890123456789", nil); err == nil {
		t.Error("a commit that is not there is no error")
	}
}
