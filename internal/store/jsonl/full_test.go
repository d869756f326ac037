//go:build unix

package jsonl

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/sample"
)

// largeStore is a store of about 300 KB whose first issue is a counter.
func largeStore() string {
	var b strings.Builder
	b.WriteString(strings.Replace(harbour, `"one"`, `"0"`, 1) + "\n")
	for i := range 300 {
		b.WriteString(`{"id":"f-` + strconv.Itoa(i) + `","title":"` + strings.Repeat("x", 1000) + `"}` + "\n")
	}
	return b.String()
}

// The kernel stops a real process in the middle of a write by a file size limit; the store
// keeps its bytes, and the next writer goes on.
func TestEditOverLimit(t *testing.T) {
	large := largeStore()
	s := writeStore(t, large)
	c := exec.Command("sh", "-c", `ulimit -f 100 && exec "$0"`, os.Args[0])
	c.Env = append(os.Environ(), countEnv+"="+s.Path)
	out, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(out), s.Path+": cannot write its replacement") {
		t.Fatalf("%v: %s", err, out)
	}
	if content(t, s) != large {
		t.Error("the file changed")
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
	if err := countOnce(s); err != nil || counted(t, s) != "1" {
		t.Errorf("%v", err)
	}
}

// On a full file system the edit fails without side effects; with room again the next one
// succeeds. Where mounting is not allowed, TestEditOverLimit and TestEditFaults cover this.
func TestEditFullDisk(t *testing.T) {
	dir := mountSmall(t, "600k")
	if dir == "" {
		t.Log("not allowed to mount a file system: left out")
		return
	}
	large := largeStore()
	s := beads.Place{Path: filepath.Join(dir, "issues.jsonl"), Dir: dir}
	if err := os.WriteFile(s.Path, []byte(large), 0o644); err != nil {
		t.Fatal(err)
	}
	err := countOnce(s) // there is no room for the replacement
	e, ok := fault.As(err, fault.Store)
	if !ok || !errors.Is(err, unix.ENOSPC) || !strings.Contains(e.Hint, "make room") {
		t.Errorf("%v", err)
	}
	if content(t, s) != large {
		t.Error("the file changed")
	}
	checkClean(t, s, "issues.jsonl")
	if err := remount(dir, "2m"); err != nil {
		t.Fatal(err)
	}
	if err := countOnce(s); err != nil || counted(t, s) != "1" {
		t.Errorf("with room: %v", err)
	}
}

// A stream of signals interrupts system calls but no edit.
func TestEditSignals(t *testing.T) {
	s := writeStore(t, strings.Replace(harbour, `"one"`, `"0"`, 1))
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, unix.SIGUSR1)
	defer signal.Stop(heard)
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				if err := unix.Kill(os.Getpid(), unix.SIGUSR1); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	edits := sample.Rounds(6)
	for range edits {
		if err := countOnce(s); err != nil {
			t.Error(err)
		}
	}
	close(done)
	<-stopped
	if got := counted(t, s); got != strconv.Itoa(edits) {
		t.Errorf("counted %s", got)
	}
	checkClean(t, s, jsonlLock, "issues.jsonl")
}
