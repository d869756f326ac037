//go:build unix

package service

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/workspace"
)

// meanwhile is a store on which others act right after an edit, like a process that waited for
// its lock.
type meanwhile struct {
	beads.Store
	after func()
}

func (m meanwhile) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	changes, err := m.Store.Edit(ctx, o, fn)
	m.after()
	return changes, err
}

// with returns a run in which others act after each edit.
func with(a *workspace.Run, t *testing.T, after func()) *workspace.Run {
	run := a.Fresh(t.Context(), "test")
	run.OpenStore = func(p beads.Place) beads.Store { return meanwhile{a.File(p), after} }
	return run
}

// inGit turns a directory into a repository with one commit.
func inGit(t *testing.T, dir string) {
	t.Helper()
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=m", "-c", "user.email=m@pier", "commit", "-q", "--allow-empty", "-m", "begin"}} {
		cmd := exec.Command("git", argv...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// TestOverwrittenAtOnce: a program that waited for the lock with an old copy of the store
// writes it right after stig. The loss is noticed.
func TestOverwrittenAtOnce(t *testing.T) {
	a, dir := front(t)
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	say := func(run *workspace.Run, text string) {
		if _, err := Comment(t.Context(), run, CommentRequest{ID: "demo-1", Text: text}); err != nil {
			t.Error(err)
		}
	}
	say(a.Fresh(t.Context(), "test"), "before")
	old, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	say(with(a, t, func() {
		if err := os.WriteFile(store, old, 0o644); err != nil {
			t.Error(err)
		}
	}), "lost")
	if said := NoteLost(t.Context(), a.Fresh(t.Context(), "orient"), beads.Place{Path: store, Dir: filepath.Dir(store)}); !strings.HasPrefix(said, "1 value") {
		t.Errorf("said %q", said)
	}
}

// TestMarksFollowInOrder: if an issue is closed and reopened right away, or the other way
// round, the mark for other work trees shows the last state.
func TestMarksFollowInOrder(t *testing.T) {
	a, dir := front(t)
	inGit(t, dir)
	place, err := clone.At(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	shut := func(run *workspace.Run) {
		_, err := Close(t.Context(), run, []string{"demo-1"}, CloseOptions{Reason: "the pier stands on new piles", Waive: "nothing can show that"}, func(f Finding) error { return f.Err })
		if err != nil {
			t.Error(err)
		}
	}
	open := func(run *workspace.Run) {
		if _, err := Reopen(t.Context(), run, ReopenRequest{ID: "demo-1", Reason: "it leans"}); err != nil {
			t.Error(err)
		}
	}
	marked := func() bool {
		claims, err := place.Claims()
		_, is := claims.Mark("demo-1")
		if err != nil {
			t.Error(err)
		}
		return is
	}
	shut(with(a, t, func() { open(a.Fresh(t.Context(), "test")) }))
	if marked() {
		t.Error("open again, and marked as closed")
	}
	shut(a.Fresh(t.Context(), "test"))
	if !marked() {
		t.Error("closed, and not marked")
	}
	open(with(a, t, func() { shut(a.Fresh(t.Context(), "test")) }))
	if !marked() {
		t.Error("closed again, and not marked")
	}
}

// TestReleaseMeetsClaim: an actor that claims an issue right after it was taken from another
// keeps it.
func TestReleaseMeetsClaim(t *testing.T) {
	a, dir := front(t)
	if _, err := Claim(t.Context(), claimant(t, dir, "w1"), ClaimRequest{ID: "demo-1"}); err != nil {
		t.Fatal(err)
	}
	released, err := Release(t.Context(), with(a, t, func() {
		if _, err := Claim(t.Context(), claimant(t, dir, "w2"), ClaimRequest{ID: "demo-1"}); err != nil {
			t.Error(err)
		}
	}), ReleaseRequest{ID: "demo-1", Force: true})
	if err != nil || !released.Changed {
		t.Fatalf("%+v, %v", released, err)
	}
	if l, ok := LeaseOf(a.Fresh(t.Context(), "test"), "demo-1"); !ok || l.Actor != "w2" {
		t.Errorf("the lease is %+v", l)
	}
}

// TestFailuresTogether: processes that log failed notifications at the same time lose no line.
func TestFailuresTogether(t *testing.T) {
	log := filepath.Join(t.TempDir(), "notify.log")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 32 {
				if err := (Delivery{Log: log}).LogFailure(errors.New("no answer")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "no answer\n") != 256 {
		t.Errorf("%d lines of 256, %v", strings.Count(string(text), "\n"), err)
	}
}

// TestReadyMeetsClaims: while claims come and go, an issue listed as held elsewhere always has
// a holder.
func TestReadyMeetsClaims(t *testing.T) {
	a, dir := front(t)
	place, err := clone.At(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	self, _ := process.Self()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for there := true; ctx.Err() == nil; there = !there {
			_, err := place.ChangeClaims(func(c *clone.Claims) (bool, error) {
				if c.End("demo-1"); there {
					c.Hold(clone.Lease{Issue: "demo-1", Actor: "w1", Process: self.ID, Host: self.Host, Worktree: dir, Tree: dir})
				}
				return true, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	for range 200 {
		list, err := Ready(t.Context(), a.Fresh(t.Context(), "ready"), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range list.Rows {
			if row.Held != nil && row.Held.By == "" {
				t.Errorf("%s is %s by nobody", row.ID, row.State)
			}
		}
	}
	cancel()
	all.Wait()
}
