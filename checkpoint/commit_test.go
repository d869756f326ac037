package checkpoint_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
)

// TestCommitTogether: several concurrent commits of the store all succeed, whichever commit
// contains the changes.
func TestCommitTogether(t *testing.T) {
	_, path, git := repository(t)
	store := jsonl.Open(beads.Place{Path: path, Dir: filepath.Dir(path)})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			commit, err := checkpoint.PrepareCommit(t.Context(), store.Place(), os.Environ())
			for round := range 3 {
				if err == nil {
					_, err = store.Edit(t.Context(), beads.Options{Now: time.Now()}, func(tx *beads.Tx) error {
						return tx.AddComment("demo-1", beads.Comment{Author: "mara", Text: fmt.Sprint("part ", i, round)})
					})
				}
				if err == nil {
					_, err = commit(t.Context(), "demo-1")
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if left := git("status", "--porcelain", "--", path); left != "" {
		t.Errorf("not committed: %s", left)
	}
}

// TestCommitLeavesNothingStaged: git reads the file for the index and again for the commit. A
// write between the two, here by a git filter, is staged as in HEAD.
func TestCommitLeavesNothingStaged(t *testing.T) {
	dir, path, git := repository(t)
	git("config", "filter.between.clean", `cat; if test -e .git/index.lock && mv .git/once .git/done 2>/dev/null; then cat .git/line >> .beads/issues.jsonl; fi`)
	for name, text := range map[string]string{
		"info/attributes": "issues.jsonl filter=between\n",
		"line":            `{"id":"demo-2","title":"the rail","status":"open","priority":1,"issue_type":"task"}` + "\n",
		"once":            "",
	} {
		if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store := jsonl.Open(beads.Place{Path: path, Dir: filepath.Dir(path)})
	if _, err := store.Edit(t.Context(), beads.Options{Now: time.Now()}, func(tx *beads.Tx) error {
		return tx.AddComment("demo-1", beads.Comment{Author: "mara", Text: "half"})
	}); err != nil {
		t.Fatal(err)
	}
	commit, err := checkpoint.PrepareCommit(t.Context(), store.Place(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := commit(t.Context(), "demo-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "done")); err != nil {
		t.Fatal("nothing was written between the two readings: ", err)
	}
	if staged := git("diff", "--cached", "--", path); staged != "" {
		t.Errorf("staged after the commit: %s", staged)
	}
}

// repository creates a git repository with a committed store of one issue.
func repository(t *testing.T) (dir, path string, git func(argv ...string) string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"id":"demo-1","title":"the pier","status":"open","priority":1,"issue_type":"task"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git = func(argv ...string) string {
		cmd := exec.Command("git", argv...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	for _, argv := range [][]string{{"init", "-q"}, {"config", "user.name", "m"}, {"config", "user.email", "m@pier"}, {"add", ".beads/issues.jsonl"}, {"commit", "-q", "-m", "begin"}} {
		git(argv...)
	}
	return dir, path, git
}
