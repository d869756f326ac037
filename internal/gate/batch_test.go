//go:build unix

package gate_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/gate"
)

// namedJob is a job for an issue in a directory shared by all jobs.
func namedJob(t *testing.T, dir, id, script string) gate.Job {
	j := job(t, script)
	j.Issue, j.Root = id, dir
	return j
}

// Jobs run concurrently, verdicts are in order, and equal criteria run once.
func TestRunAll(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	b := gate.Batch{Parallel: 2, Out: &out, Now: time.Now, Jobs: []gate.Job{
		// The first two wait for each other: run one at a time they would hang.
		namedJob(t, dir, "reef-1", "touch one; for n in $(seq 200); do test -f two && exit; sleep 0.05; done; false"),
		namedJob(t, dir, "reef-2", "touch two; for n in $(seq 200); do test -f one && exit; sleep 0.05; done; false"),
		namedJob(t, dir, "reef-3", "echo x >>ran"),
		namedJob(t, dir, "reef-4", "printf 'no\\033[31m wind\\n'; exit 3"),
		namedJob(t, dir, "reef-5", "echo x >>ran"),
	}}
	verdicts, err := gate.RunAll(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts {
		if v.Issue() != b.Jobs[i].Issue || v.Passed() != (i != 3) {
			t.Errorf("%d: %s", i, v.Summary())
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "ran")); err != nil || string(text) != "x\n" {
		t.Errorf("the same criteria ran otherwise than once: %q, %v", text, err)
	}
	said := out.String()
	for _, want := range []string{"reef-5: 1/1 [echo x", "reef-4: 1 failed [printf", " exit 3]", "\n  no\\x1b[31m wind\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
}

// After an interrupt nothing more starts, and no verdict counts as one.
func TestRunAllEnds(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := gate.RunAll(ctx, gate.Batch{Now: time.Now, Jobs: []gate.Job{
		namedJob(t, dir, "reef-1", "sleep 30"), namedJob(t, dir, "reef-2", "touch ran"),
	}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a job was begun after the end")
	}
	outside := namedJob(t, filepath.Join(dir, "gone"), "reef-1", "true")
	if _, err := gate.RunAll(t.Context(), gate.Batch{Now: time.Now, Jobs: []gate.Job{outside}}); err == nil {
		t.Error("no error where a job cannot run")
	}
}
