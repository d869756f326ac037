//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// TestLockHeld: while another process has the lock, commands that read do not wait and one that
// writes does. On an interrupt it exits at once, without writing.
func TestLockHeld(t *testing.T) {
	dir := t.TempDir()
	store := beads.Place{Path: filepath.Join(dir, ".beads", "issues.jsonl"), Dir: filepath.Join(dir, ".beads")}
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(store.Path)
	if err != nil {
		t.Fatal(err)
	}
	held, free, ended := make(chan bool), make(chan bool), make(chan error)
	go func() {
		_, err := jsonl.Open(store).Edit(context.Background(), beads.Options{Now: time.Now()}, func(*beads.Tx) error {
			close(held)
			<-free
			return nil
		})
		ended <- err
	}()
	<-held
	stig := func(args ...string) *exec.Cmd {
		c := exec.Command("stig", args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "HOME="+dir)
		return c
	}
	start := time.Now()
	for _, args := range [][]string{{"orient"}, {"show", "harbor-9fd.3"}, {"vet"}, {"signals", "set", "harbor-9fd.3", "surprise=0.5", "--dry-run"}} {
		if out, err := stig(args...).CombinedOutput(); err != nil {
			t.Errorf("stig %v: %v: %s", args, err, out)
		}
	}
	busy := time.Since(start) // scaled to the machine: the writer is waiting by then
	writer := stig("signals", "set", "harbor-9fd.3", "surprise=0.5")
	var said bytes.Buffer
	writer.Stderr = &said
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- writer.Wait() }()
	select {
	case err := <-done:
		t.Errorf("the writer did not wait: %v: %s", err, said.Bytes())
	case <-time.After(max(300*time.Millisecond, busy)):
		if err := writer.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		<-done
	}
	if code := writer.ProcessState.ExitCode(); code != workspace.ExitInterrupted {
		t.Errorf("exit %d: %s", code, said.Bytes())
	}
	close(free)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(store.Path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the store changed (%v)", err)
	}
}
