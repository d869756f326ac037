package git_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/git"
	"stig/internal/testkit/sample"
)

// worker is the variable that makes TestWorker work in the named clone.
const worker = "STIG_TEST_WORKER"

const killedIssues = 6

// TestWorker takes all issues through their work trees, when another test starts it: rerun
// after a kill it continues.
func TestWorker(t *testing.T) {
	root := os.Getenv(worker)
	if root == "" {
		return
	}
	o := git.WorktreeOptions{Git: git.Client{Env: os.Environ()}, Root: root, Dir: filepath.Join(filepath.Dir(root), "trees"), Store: ".beads"}
	g := git.Client{Dir: root, Env: os.Environ()}
	for i := range killedIssues {
		name := fmt.Sprintf("g%d", i)
		if _, err := g.Must(t.Context(), "cat-file", "-e", "stig/work:"+name); err == nil {
			continue // done before
		}
		tree, err := git.PrepareWorktree(t.Context(), o, fmt.Sprint("killed-", i))
		if err == nil {
			err = os.WriteFile(filepath.Join(tree.Dir, name), []byte("work\n"), 0o600)
		}
		if err == nil {
			_, err = tree.Commit(t.Context(), name, "mole")
		}
		if err == nil {
			_, err = tree.Merge(t.Context())
		}
		if err == nil {
			err = tree.Land(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	trees, err := git.Worktrees(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range trees {
		if err := tree.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A loop killed at any moment continues where it was: nothing is lost, duplicated or left over.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	var out strings.Builder
	run := func(limit time.Duration) error {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWorker$")
		out.Reset()
		cmd.Env, cmd.Stdout, cmd.Stderr = append(c.Git.Env, worker+"="+c.Root), &out, &out
		cmd.WaitDelay = time.Second // an orphaned git holds the output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		killer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
		defer killer.Stop()
		return cmd.Wait()
	}
	for range sample.Rounds(5) {
		if run(20*time.Millisecond+rand.N(600*time.Millisecond)) != nil && strings.Contains(out.String(), "--- FAIL") {
			t.Errorf("goes not on: %s", out.String())
		}
	}
	if err := run(time.Minute); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	want := ".beads\n.gitignore\nf"
	for i := range killedIssues {
		want += fmt.Sprintf("\ng%d", i)
	}
	if got := c.git(c.Root, "ls-tree", "--name-only", "stig/work"); got != want {
		t.Errorf("the branch has\n%s", got)
	}
	if got := c.git(c.Root, "log", "--format=%s", "--no-merges", "stig/work"); strings.Count(got, "\n") != killedIssues {
		t.Errorf("committed twice, or not:\n%s", got)
	}
	if got := c.git(c.Root, "for-each-ref", "--format=%(refname)") + c.git(c.Root, "worktree", "list"); strings.Contains(got, "killed-") {
		t.Errorf("left %s", got)
	}
}
