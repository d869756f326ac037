package jsonl

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
)

// looseDisk is a file system that cannot exchange files and does not share locks, like one
// mounted twice.
type looseDisk struct{ osDisk }

func (looseDisk) lock(context.Context, string, string) (io.Closer, error) {
	return io.NopCloser(nil), nil
}

// All writers of the test are one process and would clean up after each other.
func (looseDisk) list(string) (listing, error) { return listing{}, errors.ErrUnsupported }

func (looseDisk) exchange(string, string) error { return errors.ErrUnsupported }

// Writers that no lock separates lose nothing of each other's, and each is told that the file
// system is weak.
func TestEditWithoutLocks(t *testing.T) {
	const writers, edits = 4, 10
	s := writeStore(t, harbour)
	var group sync.WaitGroup
	weak := make([]int, writers)
	for n := range writers {
		group.Go(func() {
			for i := range edits {
				o := beads.Options{Now: testNow, Notes: anyNotes}
				store := &Store{place: s, Weak: func(beads.Place) { weak[n]++ }}
				if _, err := store.edit(ctx, looseDisk{}, o, trying(o, func(tx *beads.Tx) error {
					r, err := tx.Record("h-1")
					if err != nil {
						return err
					}
					return tx.Set("h-1", beads.Set{Key: beads.Notes, Text: r.Text(beads.Notes) + " w" + strconv.Itoa(n*edits+i)})
				})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	words := strings.Fields(mustRecord(t, s, "h-1").Text(beads.Notes))
	for i := range writers * edits {
		if !slices.Contains(words, "w"+strconv.Itoa(i)) {
			t.Errorf("edit %d is lost", i)
		}
	}
	if slices.Contains(weak, 0) {
		t.Errorf("told %v times", weak)
	}
	checkClean(t, s, "issues.jsonl")
}

// overwrittenDisk puts the old store back after each rename, a number of times.
type overwrittenDisk struct {
	looseDisk
	target, text string
	left         *int
}

func (d overwrittenDisk) rename(from, to string) error {
	if err := d.looseDisk.rename(from, to); err != nil || to != d.target || *d.left == 0 {
		return err
	}
	*d.left--
	return os.WriteFile(to, []byte(d.text), 0o644)
}

// Changes missing when read back are written again, or are an error.
func TestEditReadBack(t *testing.T) {
	for _, c := range []struct {
		times int
		ok    bool
	}{{0, true}, {2, true}, {9, false}} {
		s := writeStore(t, harbour)
		left := c.times
		d := overwrittenDisk{target: s.Path, text: harbour, left: &left}
		_, err := editOn(ctx, d, s, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", "two"))
		_, conflict := fault.As(err, fault.Changed)
		if (err == nil) != c.ok || conflict == c.ok || strings.Contains(content(t, s), `"two"`) != c.ok {
			t.Errorf("written over %d times: %v", c.times, err)
		}
	}
}

// A dead writer's guard blocks nobody; that of a possibly live one does, until the timeout.
func TestEditGuardLeft(t *testing.T) {
	s := writeStore(t, harbour)
	guard := filepath.Join(s.Dir, ".issues.jsonl.stig-guard.tmp")
	for _, c := range []struct {
		by string
		ok bool
	}{{process{hostID(), 1 << 30, "1"}.String(), true}, {"00000000-1-1", false}, {"", false}} {
		if err := os.WriteFile(guard, []byte(c.by), 0o644); err != nil {
			t.Fatal(err)
		}
		o := beads.Options{Now: time.Now(), Notes: anyNotes, Wait: 50 * time.Millisecond}
		_, err := editOn(ctx, looseDisk{}, s, o, setNotes("h-1", "by "+c.by))
		conflict, _ := fault.As(err, fault.Changed)
		if (err == nil) != c.ok || !c.ok && (conflict == nil || !strings.Contains(conflict.Hint, guard)) {
			t.Errorf("%q: %v", c.by, err)
		}
	}
}

func TestCanExchange(t *testing.T) {
	s := writeStore(t, harbour)
	if _, err := CanExchange(s); err != nil {
		t.Error(err)
	}
	checkClean(t, s, "issues.jsonl")
}

func mustRecord(t *testing.T, s beads.Place, id string) *beads.Record {
	t.Helper()
	f := mustRead(t, s.Path)
	is, err := f.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	r, err := is.Record()
	if err != nil {
		t.Fatal(err)
	}
	return r
}
