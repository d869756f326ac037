//go:build unix

package jsonl

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
)

// An edit that is not written leaves the cache alone and no file open.
func TestCacheKeepsNoFileOpen(t *testing.T) {
	p := writeStore(t, harbour)
	s := cached(p)
	sentinel := errors.New("no")
	open := func() int {
		found, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	round := func() {
		for _, o := range []beads.Options{{Now: testNow}, {Now: testNow, DryRun: true}} {
			_, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
				return tx.Set("h-1", beads.Set{Key: beads.Title, Text: fmt.Sprint(time.Now())})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Edit(ctx, beads.Options{Now: testNow}, func(*beads.Tx) error { return sentinel }); err != sentinel {
			t.Fatal(err)
		}
		if err := os.WriteFile(p.Path, []byte(harbour), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := s.Snapshot()
		if err := fault.Join(err, fault.Join(f.Close(), f.Close())); err != nil {
			t.Fatal(err)
		}
	}
	round()
	before := open()
	for range 20 {
		round()
	}
	if after := open(); after > before+2 {
		t.Errorf("%d files are open, %d before", after, before)
	}
	s.Cache.Drop()
}
