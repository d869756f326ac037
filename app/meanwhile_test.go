//go:build unix

package app

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"stig/beads"
	"stig/live"
	"stig/process"
)

// meanwhile is a store on which others act right after an edit, as they do who waited for
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

// with gives a run in which others act after each edit.
func (a *App) with(t *testing.T, after func()) *App {
	run := a.Fresh(t.Context(), "test")
	run.OpenStore = func(p beads.Place) beads.Store { return meanwhile{a.file(p), after} }
	return run
}

// inGit makes a directory a repository with one commit.
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
// writes that as soon as stig has written. The loss is noticed.
func TestOverwrittenAtOnce(t *testing.T) {
	a, dir := front(t)
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	say := func(run *App, text string) {
		if _, err := run.Comment(t.Context(), CommentRequest{ID: "demo-1", Text: text}); err != nil {
			t.Error(err)
		}
	}
	say(a.Fresh(t.Context(), "test"), "before")
	old, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	say(a.with(t, func() {
		if err := os.WriteFile(store, old, 0o644); err != nil {
			t.Error(err)
		}
	}), "lost")
	if said := a.Fresh(t.Context(), "orient").noteLost(t.Context(), beads.Place{Path: store, Dir: filepath.Dir(store)}); !strings.HasPrefix(said, "1 value") {
		t.Errorf("said %q", said)
	}
}

// TestMarksFollowInOrder: what is closed and opened again at once, or the other way, is
// marked for other work trees as it ended.
func TestMarksFollowInOrder(t *testing.T) {
	a, dir := front(t)
	inGit(t, dir)
	place, err := live.At(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	shut := func(run *App) {
		_, err := run.Close(t.Context(), []string{"demo-1"}, CloseOptions{Reason: "the pier stands on new piles", Waive: "nothing can show that"}, func(f Finding) error { return f.Err })
		if err != nil {
			t.Error(err)
		}
	}
	open := func(run *App) {
		if _, err := run.Reopen(t.Context(), ReopenRequest{ID: "demo-1", Reason: "it leans"}); err != nil {
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
	shut(a.with(t, func() { open(a.Fresh(t.Context(), "test")) }))
	if marked() {
		t.Error("open again, and marked as closed")
	}
	shut(a.Fresh(t.Context(), "test"))
	if !marked() {
		t.Error("closed, and not marked")
	}
	open(a.with(t, func() { shut(a.Fresh(t.Context(), "test")) }))
	if !marked() {
		t.Error("closed again, and not marked")
	}
}

// TestToldOnce: of several hooks of one session that find the same loss at once, since its
// tools run at once, one says so.
func TestToldOnce(t *testing.T) {
	for _, gone := range []bool{false, false, false, true, true, true} {
		a, dir := front(t)
		if gone { // of a store outside of git nobody knows where it was
			inGit(t, dir)
		}
		if _, err := a.Fresh(t.Context(), "comment").Comment(t.Context(), CommentRequest{ID: "demo-1", Text: "said"}); err != nil {
			t.Fatal(err)
		}
		posted(t, a, "s")
		if write(t, dir, "demo-2"); gone {
			if err := os.Remove(filepath.Join(dir, ".beads", "issues.jsonl")); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		var told atomic.Int32
		for range 8 {
			all.Go(func() {
				if posted(t, a, "s") != "" {
					told.Add(1)
				}
			})
		}
		if all.Wait(); told.Load() != 1 {
			t.Errorf("gone %t: said %d times", gone, told.Load())
		}
	}
}

// TestReleaseMeetsClaim: who claims an issue as soon as it was taken from another keeps it.
func TestReleaseMeetsClaim(t *testing.T) {
	a, dir := front(t)
	if _, err := claimant(t, dir, "w1").Claim(t.Context(), ClaimRequest{ID: "demo-1"}); err != nil {
		t.Fatal(err)
	}
	released, err := a.with(t, func() {
		if _, err := claimant(t, dir, "w2").Claim(t.Context(), ClaimRequest{ID: "demo-1"}); err != nil {
			t.Error(err)
		}
	}).Release(t.Context(), ReleaseRequest{ID: "demo-1", Force: true})
	if err != nil || !released.Changed {
		t.Fatalf("%+v, %v", released, err)
	}
	if l, ok := a.Fresh(t.Context(), "test").LeaseOf("demo-1"); !ok || l.Actor != "w2" {
		t.Errorf("the lease is %+v", l)
	}
}

// TestFailuresTogether: of several processes that could tell nobody each leaves its line.
func TestFailuresTogether(t *testing.T) {
	log := filepath.Join(t.TempDir(), "notify.log")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 32 {
				if err := (Parcel{Log: log}).LogFailure(errors.New("no answer")); err != nil {
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

// TestReadyMeetsClaims: what is held elsewhere is held by somebody, while claims come and go.
func TestReadyMeetsClaims(t *testing.T) {
	a, dir := front(t)
	place, err := live.At(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	self, _ := process.Self()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for there := true; ctx.Err() == nil; there = !there {
			_, err := place.ChangeClaims(func(c *live.Claims) (bool, error) {
				if c.End("demo-1"); there {
					c.Hold(live.Lease{Issue: "demo-1", Actor: "w1", Process: self.ID, Host: self.Host, Worktree: dir, Tree: dir})
				}
				return true, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	for range 200 {
		list, err := a.Fresh(t.Context(), "ready").Ready(t.Context(), "")
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
