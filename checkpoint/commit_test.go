package checkpoint_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/jsonl"
)

// TestCommitTogether: of several who commit the store at once none fails, whoever's commit has
// the changes of the others too.
func TestCommitTogether(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"id":"demo-1","title":"the pier","status":"open","priority":1,"issue_type":"task"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git := func(argv ...string) string {
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
