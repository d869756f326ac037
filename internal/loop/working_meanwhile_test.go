//go:build unix

package loop_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/loop"
	"stig/internal/process"
	"stig/internal/store/jsonl"
)

// meanwhile is a store on which another loop acts before an edit.
type meanwhile struct {
	beads.Store
	before func()
}

func (m meanwhile) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	if !o.DryRun {
		m.before()
	}
	return m.Store.Edit(ctx, o, fn)
}

// TestTriedMeanwhile: what another loop tried after this one looked for work counts as an
// attempt and is no reason to wait, even if the other released the issue and has not recorded
// the end of its run yet.
func TestTriedMeanwhile(t *testing.T) {
	above := process.Ancestors()
	for _, late := range []bool{false, true} {
		if late && len(above) == 0 {
			continue // this system does not show other processes
		}
		y := newYard(t, "pier-1")
		y.step = time.Second
		other := clone.Run{ID: "r-other", Actor: "cy", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon, Step: "ended"}
		if late {
			other.Loop = above[0].ID
		}
		record := func() {
			if err := y.place.RecordRun(other, noon); err != nil {
				t.Error(err)
			}
		}
		var once sync.Once
		var ended time.Time
		y.app.OpenStore = func(p beads.Place) beads.Store {
			return meanwhile{jsonl.Open(p), func() {
				once.Do(func() {
					if late {
						record()
					}
					ended = y.clock()
					other.Ended, other.Outcome, other.Exit = ended, string(clone.OutcomeFailed), 3
					if late {
						time.AfterFunc(20*time.Millisecond, record)
					} else {
						record()
					}
				})
			}}
		}
		if _, err := y.work(t, "touch pier-1", nil); err != nil {
			t.Fatal(err)
		}
		runs := y.runs(t)
		if len(runs) != 2 || runs[0].Outcome != string(clone.OutcomeFailed) || runs[1].Attempt != 2 || runs[1].Outcome != string(clone.OutcomeClosed) {
			t.Fatalf("late %t: %+v", late, runs)
		}
		if wait := runs[1].Started.Sub(ended); wait >= loop.BackOff(1) {
			t.Errorf("late %t: tried after %s, as if it were this worker's attempt", late, wait)
		}
	}
}

// withTrees puts the directory under git so that runs get work trees.
func (y *yard) withTrees(t *testing.T) {
	t.Helper()
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "m"}, {"config", "user.email", "m@pier"}, {"add", "."}, {"commit", "-q", "-m", "begin"}} {
		cmd := exec.Command("git", argv...)
		cmd.Dir = y.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	var err error
	if y.place, err = clone.At(filepath.Join(y.dir, ".beads", "issues.jsonl")); err != nil {
		t.Fatal(err)
	}
}

// TestCriteriaChangeBeforeItsTurn: if criteria change while a loop waits for another to land, a
// person is asked, as if they change while the command runs.
func TestCriteriaChangeBeforeItsTurn(t *testing.T) {
	y := newYard(t, "pier-1")
	y.withTrees(t)
	unlock, err := clone.LockOnto(t.Context(), y.place, "stig/work", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for len(y.runs(t)) == 0 || y.runs(t)[0].Step != "ended" {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond) // it commits the work and waits for its turn
		y.replace(t, "test -f pier-1", "test -d .")
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := y.work(t, "touch pier-1", func(r *loop.Request) { r.Once = true }); err != nil {
		t.Fatal(err)
	}
	if runs := y.runs(t); len(runs) != 1 || runs[0].Outcome != string(clone.OutcomeWaiting) {
		t.Errorf("%+v", runs)
	}
}
