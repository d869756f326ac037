//go:build unix

package working_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"stig/beads"
	"stig/jsonl"
	"stig/live"
	"stig/process"
	"stig/work"
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

// TestTriedMeanwhile: an issue that another loop tried after this one looked for work is left
// alone as long as after any failed attempt, which counts; also where the other has given it
// back and not recorded the end of its run yet.
func TestTriedMeanwhile(t *testing.T) {
	above := process.Ancestors()
	for _, late := range []bool{false, true} {
		if late && len(above) == 0 {
			continue // the system does not show other processes
		}
		y := newYard(t, "pier-1")
		y.step = time.Second
		other := live.Run{ID: "r-other", Actor: "cy", Task: "issue", Issue: "pier-1", Attempt: 1, Started: noon, Step: "ended"}
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
					other.Ended, other.Outcome, other.Exit = ended, string(work.Failed), 3
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
		if len(runs) != 2 || runs[0].Outcome != string(work.Failed) || runs[1].Attempt != 2 || runs[1].Outcome != string(work.Closed) {
			t.Fatalf("late %t: %+v", late, runs)
		}
		if wait := runs[1].Started.Sub(ended); wait < work.BackOff(1) {
			t.Errorf("late %t: tried again after %s, want %s at least", late, wait, work.BackOff(1))
		}
	}
}
