package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/workspace"
)

// waiter is a running stig escalate --wait process.
type waiter struct {
	*exec.Cmd
	out, err bytes.Buffer
	ended    chan error
}

// stigCommand runs this test binary as a stig process; see TestMain.
func stigCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("stig", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "TZ=UTC", "BEADS_DIR=", "STIG_ACTOR=ines", "STIG_NOW=2026-11-20T09:00:00Z", "NO_COLOR=1",
		"GORACE=atexit_sleep_ms=0") // otherwise every exit takes a second under the race detector
	return cmd
}

// awaiting starts stig escalate --wait on a copy of the example store, where harbor-b7q waits
// for an answer, and returns the path of the store.
func awaiting(t *testing.T, args ...string) (*waiter, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if out, err := stigCommand(dir, "show", "harbor-b7q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	begin := max(300*time.Millisecond, 5*time.Since(start)) // scaled to how busy the machine is
	w := &waiter{Cmd: stigCommand(dir, append([]string{"escalate", "--wait", "harbor-b7q"}, args...)...), ended: make(chan error, 1)}
	w.Stdout, w.Stderr = &w.out, &w.err
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { w.ended <- w.Wait() }()
	t.Cleanup(func() { _ = w.Process.Kill() }) // it may have ended already
	w.waits(t, begin)
	return w, filepath.Join(dir, ".beads", "issues.jsonl")
}

// waits checks that the process is still running after some time.
func (w *waiter) waits(t *testing.T, some time.Duration) {
	t.Helper()
	select {
	case <-w.ended:
		t.Fatalf("ended with exit %d before anybody answered:\n%s%s", w.ProcessState.ExitCode(), w.out.String(), w.err.String())
	case <-time.After(some):
	}
}

// ends checks that the process exits within some time, with the exit code.
func (w *waiter) ends(t *testing.T, within time.Duration, exit int) {
	t.Helper()
	select {
	case <-w.ended:
	case <-time.After(within):
		t.Fatalf("still waiting after %s", within)
	}
	if got := w.ProcessState.ExitCode(); got != exit {
		t.Fatalf("exit %d, want %d:\n%s%s", got, exit, w.out.String(), w.err.String())
	}
}

// TestAwaitIsTold checks that a waiting process ends soon after the answer is written, well
// before its own two-second poll. On a busy machine one may be late.
func TestAwaitIsTold(t *testing.T) {
	t.Parallel()
	var late []time.Duration
	for len(late) < 3 {
		took := answered(t)
		if took < time.Second {
			return
		}
		late = append(late, took)
	}
	t.Errorf("ended %s after the answer", late)
}

// answered returns how long after the answer a waiting process ends.
func answered(t *testing.T) time.Duration {
	t.Helper()
	w, store := awaiting(t)
	answer := stigCommand(filepath.Dir(filepath.Dir(store)), "resolve", "harbor-b7q", "-m", "The town pays.")
	if out, err := answer.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	start := time.Now()
	w.ends(t, 20*time.Second, 0)
	took := time.Since(start).Round(time.Millisecond)
	t.Logf("ended %s after the answer", took)
	if got, want := w.out.String(), "The town pays.\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if got, want := w.err.String(), "harbor-b7q: answered on 2026-11-20 by ines, question ad52a96d\n"; got != want {
		t.Errorf("noted %q, want %q", got, want)
	}
	return took
}

// TestAwaitEnds covers the other ways to end: the issue is gone, an interrupt, and a timeout,
// until which waiting takes no processor time.
func TestAwaitEnds(t *testing.T) {
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		w, store := awaiting(t)
		text, err := os.ReadFile(store)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, line := range strings.SplitAfter(string(text), "\n") {
			if !strings.HasPrefix(line, `{"id":"harbor-b7q"`) {
				kept = append(kept, line)
			}
		}
		if err := os.WriteFile(store, []byte(strings.Join(kept, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		w.ends(t, 20*time.Second, workspace.ExitNoIssue)
	})
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		w, _ := awaiting(t, "--timeout", "5s")
		w.ends(t, 20*time.Second, workspace.ExitWaits)
		if !strings.Contains(w.err.String(), "harbor-b7q: no answer within 5s") {
			t.Errorf("said %q", w.err.String())
		}
		used := w.ProcessState.UserTime() + w.ProcessState.SystemTime()
		t.Logf("used %s of a processor", used)
		if used > time.Second/2 {
			t.Errorf("used %s of a processor to wait for five seconds", used)
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		w, _ := awaiting(t)
		if err := w.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		w.ends(t, 20*time.Second, workspace.ExitInterrupted)
	})
}

// TestWatchedEscalations checks that stig resolve --list --watch prints each new question once,
// and ends on an interrupt.
func TestWatchedEscalations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	watch := stigCommand(dir, "resolve", "--list", "--watch", "--json")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = watch.Process.Kill() }() // it may have ended already
	lines := make(chan string)
	go func() {
		reader := bufio.NewScanner(out)
		for reader.Scan() {
			lines <- reader.Text()
		}
		close(lines)
	}()
	next := func(want string) {
		t.Helper()
		select {
		case line := <-lines:
			if strings.Count(line, `"id"`) != 1 || !strings.Contains(line, want) {
				t.Fatalf("printed %s, want one question with %s", line, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("nothing printed, want %s", want)
		}
	}
	next(`"id":"harbor-b7q"`)
	types := func(args ...string) {
		t.Helper()
		if out, err := stigCommand(dir, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	asks := func(question string) {
		t.Helper()
		types("escalate", "harbor-d3w", "-m", question)
		next(question)
	}
	asks("This one?")
	asks("That one?")
	types("resolve", "harbor-d3w", "-m", "Neither.", "--actor", "mara")
	asks("Which one?")
	asks("This one?") // it was answered, and is waiting again
	if err := watch.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if line, more := <-lines; more {
		t.Errorf("printed %s after the last", line)
	}
	if err := watch.Wait(); watch.ProcessState.ExitCode() != workspace.ExitInterrupted {
		t.Errorf("ended with %v, want exit %d", err, workspace.ExitInterrupted)
	}
}
