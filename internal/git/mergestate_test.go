package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// diverged creates a repository in which main, other and third each changed a line of one file,
// with a merge program that does not exist. It returns git at its top, on main.
func diverged(t *testing.T) (g Client, must func(argv ...string)) {
	t.Helper()
	text := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	g = repositoryAt(t,
		version{"d/s.jsonl", text("a", "b", "c", "d", "e", "f", "g")},
		version{"d/s.jsonl", text("theirs", "b", "c", "d", "e", "f", "g")})
	must = func(argv ...string) {
		t.Helper()
		if _, err := g.Must(t.Context(), argv...); err != nil {
			t.Fatal(err)
		}
	}
	must("branch", "other")
	must("reset", "-q", "--hard", "HEAD~1")
	must("checkout", "-q", "-b", "third")
	write(t, filepath.Join(g.Dir, "d", "s.jsonl"), text("a", "b", "c", "third", "e", "f", "g"))
	must("commit", "-q", "-a", "-m", "third")
	must("checkout", "-q", "main")
	write(t, filepath.Join(g.Dir, "d", "s.jsonl"), text("a", "b", "c", "d", "e", "f", "ours"))
	must("commit", "-q", "-a", "-m", "ours")
	must("config", "merge.gone.driver", "no-such-program %O %A %B")
	write(t, filepath.Join(g.Dir, ".git", "info", "attributes"), "s.jsonl merge=gone\n")
	return g, must
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mergeStateIn is the file's merge state without texts, and the number of sides.
func mergeStateIn(t *testing.T, g Client, thorough bool) (MergeState, int) {
	t.Helper()
	s, err := g.MergeState(t.Context(), filepath.Join(g.Dir, "d", "s.jsonl"), thorough)
	if err != nil {
		t.Fatal(err)
	}
	sides := len(s.Sides)
	s.Sides = nil
	return s, sides
}

func TestMergeState(t *testing.T) {
	for name, test := range map[string]struct {
		command []string // may fail
		doing   string
	}{
		"merge":       {[]string{"merge", "-q", "--no-edit", "other"}, "merge"},
		"octopus":     {[]string{"merge", "-q", "-s", "ours", "--no-commit", "other", "third"}, "merge"},
		"cherry-pick": {[]string{"cherry-pick", "other"}, "cherry-pick"},
		"rebase":      {[]string{"rebase", "-q", "other"}, "rebase"},
	} {
		t.Run(name, func(t *testing.T) {
			g, must := diverged(t)
			if s, n := mergeStateIn(t, g, true); s.Doing != "" || s.Unmerged || n != 0 {
				t.Fatalf("before: %+v", s)
			}
			if _, err := g.Run(t.Context(), test.command...); err != nil {
				t.Fatal(err)
			}
			if name != "octopus" {
				want := MergeState{Doing: test.doing, Unmerged: true, Alone: true, Redo: true}
				if s, n := mergeStateIn(t, g, false); n != 0 || !same(s, want) {
					t.Errorf("in conflict: got %+v, want %+v", s, want)
				}
				must("add", "-A")
			}
			want, sides := MergeState{Doing: test.doing, Alone: true, Redo: name != "octopus"}, 1
			if name == "octopus" {
				sides = 2
			}
			if s, n := mergeStateIn(t, g, false); n != sides || !same(s, want) {
				t.Errorf("after git add: got %+v, %d sides, want %+v", s, n, want)
			}
			write(t, filepath.Join(g.Dir, "d", "s.jsonl"), "something else\n")
			must("add", "-A")
			if s, n := mergeStateIn(t, g, true); n != 0 || !same(s, MergeState{}) {
				t.Errorf("with another text: got %+v", s)
			}
		})
	}
}

func same(a, b MergeState) bool {
	return a.Doing == b.Doing && a.Unmerged == b.Unmerged && a.Alone == b.Alone && a.Redo == b.Redo
}

// TestMergeStateSides: a side has the texts needed to merge it.
func TestMergeStateSides(t *testing.T) {
	g, must := diverged(t)
	must("merge", "-q", "-s", "ours", "--no-commit", "other")
	s, err := g.MergeState(t.Context(), filepath.Join(g.Dir, "d", "s.jsonl"), false)
	if err != nil || len(s.Sides) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	side := s.Sides[0]
	if !strings.HasPrefix(side.Base, "a\n") || !strings.HasSuffix(side.Base, "\ng\n") ||
		!strings.HasSuffix(side.Ours, "\nours\n") || !strings.HasPrefix(side.Theirs, "theirs\n") {
		t.Errorf("%+v", side)
	}
}

// TestMergeStateInWorktree: in a linked work tree .git is a file, and git sets GIT_DIR for its
// hooks.
func TestMergeStateInWorktree(t *testing.T) {
	g, must := diverged(t)
	far := filepath.Join(g.Dir, "far")
	must("worktree", "add", "-q", "-b", "far", far, "main")
	linked := Client{Dir: far, Env: append(g.Env, "GIT_DIR="+filepath.Join(g.Dir, ".git", "worktrees", "far"))}
	if _, err := (Client{Dir: far, Env: g.Env}).Must(t.Context(), "merge", "-q", "-s", "ours", "--no-commit", "other"); err != nil {
		t.Fatal(err)
	}
	if s, n := mergeStateIn(t, linked, false); n != 1 || s.Doing != "merge" {
		t.Errorf("got %+v, %d sides", s, n)
	}
	if s, n := mergeStateIn(t, g, true); n != 0 || s.Doing != "" {
		t.Errorf("in the main work tree: got %+v", s)
	}
}

// TestMergeStateStartsNoGit: without an unfinished operation a survey must not start git, which
// may be missing.
func TestMergeStateStartsNoGit(t *testing.T) {
	g, must := diverged(t)
	programs := t.TempDir()
	started := filepath.Join(programs, "started")
	write(t, filepath.Join(programs, "git"), "#!/bin/sh\n: >'"+started+"'\nexit 1\n")
	if err := os.Chmod(filepath.Join(programs, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	asks := func(name string, thorough, want bool) {
		t.Helper()
		_, err := g.MergeState(t.Context(), filepath.Join(g.Dir, "d", "s.jsonl"), thorough)
		if _, e := os.Stat(started); (e == nil) != want {
			t.Errorf("%s: git was started: %v, want %v (%v)", name, e == nil, want, err)
		}
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", programs)
	asks("nothing unfinished", false, false)
	t.Setenv("PATH", t.TempDir())
	asks("no git, thorough", true, false)
	t.Setenv("PATH", path)
	must("merge", "-q", "-s", "ours", "--no-commit", "other")
	t.Setenv("PATH", programs)
	asks("a merge", false, true)

	if s, err := (Client{}).MergeState(t.Context(), filepath.Join(programs, "git"), true); err != nil || s.Doing != "" {
		t.Errorf("in no repository: %+v, %v", s, err)
	}
}

// TestBusy: files of a command that git can continue name that command; those of others, such
// as git stash pop with conflicts, name none.
func TestBusy(t *testing.T) {
	for _, test := range []struct{ files, want string }{
		{"", ""}, {"MERGE_HEAD", "merge"}, {"rebase-merge/head-name", "rebase"},
		{"rebase-apply/rebasing", "rebase"}, {"rebase-apply/applying", "am"},
		{"CHERRY_PICK_HEAD", "cherry-pick"}, {"rebase-merge/done CHERRY_PICK_HEAD", "rebase"},
		{"REVERT_HEAD", "revert"}, {"BISECT_LOG", "bisect"}, {"AUTO_MERGE", ""}, {"SQUASH_MSG BISECT_LOG", "bisect"},
	} {
		own := t.TempDir()
		for _, file := range strings.Fields(test.files) {
			write(t, filepath.Join(own, filepath.FromSlash(file)), "")
		}
		if got := Busy(own); got != test.want {
			t.Errorf("%q: %q, want %q", test.files, got, test.want)
		}
	}
	if got := Busy("") + Underway(""); got != "" {
		t.Errorf("outside of a work tree: %q", got)
	}
	own := t.TempDir()
	for _, step := range [][2]string{{"HEAD", ""}, {"index.lock", "switch"}, {"MERGE_HEAD", "merge"}} {
		write(t, filepath.Join(own, step[0]), "")
		if got := Underway(own); got != step[1] {
			t.Errorf("with %s: %q, want %q", step[0], got, step[1])
		}
	}
}

// TestIgnores asks about an existing path, a missing one, and one that git tracks although it
// is ignored.
func TestIgnores(t *testing.T) {
	g := repositoryAt(t, version{"kept.jsonl", "a\n"})
	write(t, filepath.Join(g.Dir, ".gitignore"), "*.jsonl\n")
	write(t, filepath.Join(g.Dir, "[1].jsonl"), "a\n")
	for path, want := range map[string]bool{"kept.jsonl": false, "[1].jsonl": true, "none.jsonl": true, "none": false, filepath.Join(g.Dir, "none.jsonl"): true} {
		if got, err := g.Ignores(t.Context(), path); err != nil || got != want {
			t.Errorf("%s: %v %v", path, got, err)
		}
	}
}
