//go:build e2e

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/workspace"
)

// TestStressClose takes issues from a question over its answer to their close, several at once,
// and kills one in three on the way. In the end everything acknowledged is in the store, and no
// temporary files are left.
func TestStressClose(t *testing.T) {
	t.Parallel()
	const workers = 4
	each := 4 + 4*int(stressTime.Seconds()) // issues of each worker
	dir := t.TempDir()
	r := &stressRun{dir: dir, store: filepath.Join(dir, ".beads", "issues.jsonl")}
	var lines strings.Builder
	for i := range workers * each {
		fmt.Fprintf(&lines, `{"id":"mole-%d","title":"Lay a stone","status":"open","acceptance_criteria":"%s"}`+"\n", i, "```sh\\ntest -d .beads\\n```")
	}
	if err := os.MkdirAll(filepath.Dir(r.store), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.store, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	acknowledged := make([][3]bool, workers*each) // asked, answered, closed
	var busy sync.WaitGroup
	for w := range workers {
		busy.Go(func() {
			for i := w * each; i < (w+1)*each; i++ {
				for step, args := range stressSteps(i) {
					done, err := r.step(args)
					if err != nil {
						t.Error(err)
						return
					}
					acknowledged[i][step] = done
				}
			}
		})
	}
	busy.Wait()
	r.judgeClosed(t, acknowledged)
}

// stressSteps are the commands that take an issue from a question to its close.
func stressSteps(i int) [3][]string {
	id := fmt.Sprintf("mole-%d", i)
	return [3][]string{
		{"escalate", id, "-m", "Which stone for " + id + "?", "--actor", "mara"},
		{"resolve", id, "-m", "The grey one for " + id, "--actor", "ines"},
		{"close", id, "--reason", "the stone lies in " + id, "--actor", "mara", "--despite-question", "any stone will do"},
	}
}

// step runs stig and reports whether it acknowledged. A killed command did not, nor did one
// that answers a question that was never asked.
func (r *stressRun) step(args []string) (bool, error) {
	c := r.stig(args...)
	c.Env = append(c.Env, "STIG_TRUST=1")
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		return false, err
	}
	if rand.IntN(3) == 0 {
		late := time.AfterFunc(rand.N(12*time.Millisecond), func() { _ = c.Process.Kill() }) // it may be gone
		defer late.Stop()
	}
	switch err := c.Wait(); {
	case err == nil:
		return true, nil
	case c.ProcessState.ExitCode() < 0:
		r.countKill()
		return false, nil
	case args[0] == "resolve" && c.ProcessState.ExitCode() == workspace.ExitConflict:
		return false, nil
	default:
		return false, fmt.Errorf("stig %s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
	}
}

// judgeClosed compares the store with what was acknowledged.
func (r *stressRun) judgeClosed(t *testing.T, acknowledged [][3]bool) {
	if out, err := r.stig("vet").CombinedOutput(); err != nil {
		t.Errorf("stig vet: %v\n%s", err, out)
	}
	if out, err := r.stig("create", "One more", "--actor", "mara").CombinedOutput(); err != nil {
		t.Errorf("the next writer: %v\n%s", err, out)
	}
	if left, err := r.temporary(); err != nil || left > 0 {
		t.Errorf("%d files of dead writers are left (%v)", left, err)
	}
	data, err := os.ReadFile(r.store)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[:len(acknowledged)] {
		var issue struct {
			ID, Notes, Status string
			Reason            string `json:"close_reason"`
		}
		if err := json.Unmarshal([]byte(line), &issue); err != nil {
			t.Fatalf("line %d is torn: %v", i+1, err)
		}
		for step, holds := range [3]bool{
			strings.Contains(issue.Notes, "Which stone for "+issue.ID+"?"),
			strings.Contains(issue.Notes, "The grey one for "+issue.ID),
			issue.Status == "closed" && strings.HasPrefix(issue.Reason, "Verified: the stone lies in "+issue.ID),
		} {
			if acknowledged[i][step] {
				total++
			}
			if acknowledged[i][step] && !holds {
				t.Errorf("%s was acknowledged and is lost: %s", stressSteps(i)[step], line)
			}
		}
	}
	t.Logf("%d writes acknowledged, %d writers killed, none lost", total, r.killed)
	if total < len(acknowledged) || r.killed == 0 {
		t.Error("so little happened that nothing is proved")
	}
}
