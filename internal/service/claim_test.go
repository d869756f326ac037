//go:build unix

package service

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/workspace"
)

// claimant returns a front end on the store in dir that acts under name.
func claimant(t *testing.T, dir, name string, env ...string) *workspace.Run {
	t.Helper()
	values := map[string]string{"STIG_NOW": "2026-11-20T09:00:00Z", "PATH": os.Getenv("PATH")}
	for _, one := range env {
		key, value, _ := strings.Cut(one, "=")
		values[key] = value
	}
	home := func() (string, error) { return dir, nil }
	return &workspace.Run{
		Getenv: func(name string) string { return values[name] }, Env: os.Environ, HomeDir: home, ConfigDir: home,
		Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
		Ctx: t.Context(), Running: "test", Dir: dir, Actor: name, Ancestors: process.Ancestors,
	}
}

// dying kills its process with SIGKILL just before or after an edit of the store.
type dying struct {
	beads.Store
	written bool // after the store is written, else before
}

func (d dying) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	changes, err := d.Store.Edit(ctx, o, func(tx *beads.Tx) error {
		err := fn(tx)
		if !d.written && err == nil {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return err
	})
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	return changes, err
}

// TestHolder is the claiming process of TestClaimEndsWithItsProcess: a worker loop that waits
// to be killed, or a process that is killed while it claims.
func TestHolder(t *testing.T) {
	kind, dir, ok := strings.Cut(os.Getenv("STIG_TEST_HOLDER"), " ")
	if !ok {
		return // an ordinary test run
	}
	a, r := claimant(t, dir, "w1"), ClaimRequest{ID: "demo-1"}
	switch kind {
	case "loop":
		r.Loop = &LoopClaim{Run: "r-1", Lasts: clone.LoopLasts, Cap: clone.LoopCap}
	default:
		a.OpenStore = func(p beads.Place) beads.Store { return dying{a.File(p), kind == "written"} }
	}
	if _, err := Claim(t.Context(), a, r); err != nil {
		fmt.Println("holder:", err)
		os.Exit(1)
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
}

// hold starts a holder of that kind and waits until it holds demo-1 or has ended.
func hold(t *testing.T, kind, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestHolder$")
	c.Env = append(os.Environ(), "STIG_TEST_HOLDER="+kind+" "+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "held" {
		t.Log(lines.Text())
	}
	if kind != "loop" {
		_ = c.Wait() // it was killed
	}
	return c
}

// TestClaimEndsWithItsProcess: while a worker loop runs, nobody else gets its issue, not even
// under its name; once killed, it no longer holds the issue.
func TestClaimEndsWithItsProcess(t *testing.T) {
	_, dir := front(t)
	loop := hold(t, "loop", dir)
	defer func() { _, _ = loop.Process.Kill(), loop.Wait() }()
	claim := func(name string, env ...string) error {
		_, err := Claim(t.Context(), claimant(t, dir, name, env...), ClaimRequest{ID: "demo-1"})
		return err
	}
	for _, name := range []string{"w2", "w1"} {
		if err := claim(name); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), fmt.Sprintf("is claimed by w1 in %s by process %d until 2026-11-20T09:10:00Z", filepath.Join(dir, ".beads"), loop.Process.Pid)) {
			t.Errorf("%s beside the loop: %v", name, err)
		}
	}
	if err := claim("w1", "STIG_RUN=r-1"); err != nil {
		t.Errorf("a command of the run itself: %v", err)
	}
	w2 := claimant(t, dir, "w2", "STIG_NOW=2026-11-20T12:00:00Z")
	if returned, err := SweepEnded(t.Context(), w2); err != nil || len(returned) > 0 {
		t.Errorf("swept from a loop that runs: %v, %v", returned, err)
	}
	if err := Renew(t.Context(), w2, "demo-1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("renewed by another: %v", err)
	}
	if l, ok := LeaseOf(w2, "demo-1"); !ok || l.Run != "r-1" || l.Process.PID != loop.Process.Pid {
		t.Errorf("%+v", l)
	}
	_ = loop.Process.Kill()
	_ = loop.Wait()
	for range 2 { // the first must write nothing
		if would, err := WouldSweep(t.Context(), w2); err != nil || !slices.Equal(would, []string{"demo-1"}) {
			t.Errorf("would be swept from a loop that was killed: %v, %v", would, err)
		}
	}
	if returned, err := SweepEnded(t.Context(), w2); err != nil || !slices.Equal(returned, []string{"demo-1"}) {
		t.Errorf("swept from a loop that was killed: %v, %v", returned, err)
	}
	if returned, err := SweepEnded(t.Context(), w2); err != nil || len(returned) > 0 {
		t.Errorf("swept again: %v, %v", returned, err)
	}
	list, err := List(claimant(t, dir, "w2"), ListRequest{})
	if err != nil || len(list.Rows) != 1 || list.Rows[0].Status != "open" || list.Rows[0].Assignee != "" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestClaimKilled: a claim that is killed before or after the store is written does not block
// the issue for others.
func TestClaimKilled(t *testing.T) {
	for _, kind := range []string{"taken", "written"} {
		_, dir := front(t)
		hold(t, kind, dir)
		if l, ok := LeaseOf(claimant(t, dir, "w2"), "demo-1"); !ok || l.Actor != "w1" {
			t.Fatalf("%s: it left no lease: %+v", kind, l)
		}
		claimed, err := Claim(t.Context(), claimant(t, dir, "w2"), ClaimRequest{ID: "demo-1"})
		if err != nil || claimed.Assignee != "w2" || !claimed.Changed {
			t.Errorf("%s: %+v, %v", kind, claimed, err)
		}
		_, dir = front(t)
		hold(t, kind, dir)
		if claimed, err := Claim(t.Context(), claimant(t, dir, "w1"), ClaimRequest{ID: "demo-1"}); err != nil || claimed.Assignee != "w1" || claimed.Status != "in_progress" {
			t.Errorf("%s, again: %+v, %v", kind, claimed, err)
		}
	}
}

// TestRenew: a loop renews its claim up to the cap, and learns that the claim was lost.
func TestRenew(t *testing.T) {
	_, dir := front(t)
	at := func(clock string) *workspace.Run { return claimant(t, dir, "w1", "STIG_NOW=2026-11-20T"+clock+"Z") }
	claimed, err := Claim(t.Context(), at("09:00:00"), ClaimRequest{ID: "1", Loop: &LoopClaim{Run: "r-1", Lasts: clone.LoopLasts, Cap: time.Hour}})
	if err != nil || claimed.ID != "demo-1" || claimed.Until != "2026-11-20T09:10:00Z" {
		t.Fatalf("%+v, %v", claimed, err)
	}
	for clock, want := range map[string]string{"09:03:00": "09:13:00", "09:55:00": "10:00:00"} {
		err := Renew(t.Context(), at(clock), "demo-1")
		if l, _ := LeaseOf(at(clock), "demo-1"); err != nil || l.Until.Format("15:04:05") != want {
			t.Errorf("at %s: until %s, %v", clock, l.Until, err)
		}
	}
	if err := Renew(t.Context(), at("10:00:00"), "demo-1"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "claimed for 1h0m0s") {
		t.Errorf("at its cap: %v", err)
	}
	if _, err := Claim(t.Context(), claimant(t, dir, "ann"), ClaimRequest{ID: "demo-1", Take: true}); err != nil {
		t.Error(err)
	}
	if err := Renew(t.Context(), at("09:06:00"), "demo-1"); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "not claimed by w1 any more: ann holds it in "+filepath.Join(dir, ".beads")) {
		t.Errorf("taken: %v", err)
	}
	if _, err := Release(t.Context(), claimant(t, dir, "ann"), ReleaseRequest{ID: "demo-1"}); err != nil {
		t.Error(err)
	}
	if err := Renew(t.Context(), at("09:06:00"), "demo-1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("released: %v", err)
	}
	if _, ok := LeaseOf(at("09:06:00"), "demo-1"); ok {
		t.Error("a lease stays after release")
	}
}
