//go:build unix

package jsonl

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/sample"
)

func snapshotOf(t testing.TB, s *Store) *beads.Snapshot {
	t.Helper()
	f, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

const lamp, bells = `"title":"Light the lamp"`, `"title":"Light the hall"` // of one length

// An unchanged file is read once; any change by another program is noticed.
func TestCacheSeesChanges(t *testing.T) {
	swap := func(p beads.Place) []byte { return []byte(strings.Replace(content(t, p), lamp, bells, 1)) }
	for name, change := range map[string]func(beads.Place) error{
		"replaced": func(p beads.Place) error {
			return fault.Join(os.WriteFile(p.Path+".x", swap(p), 0o644), os.Rename(p.Path+".x", p.Path))
		},
		"in place": func(p beads.Place) error { return os.WriteFile(p.Path, swap(p), 0o644) },
		"in place, its time set back": func(p beads.Place) error {
			info, err := os.Stat(p.Path)
			return fault.Join(err, fault.Join(os.WriteFile(p.Path, swap(p), 0o644), os.Chtimes(p.Path, time.Time{}, info.ModTime())))
		},
		"another by a link": func(p beads.Place) error {
			other := filepath.Join(p.Dir, "other")
			return fault.Join(os.WriteFile(other, swap(p), 0o644), fault.Join(os.Remove(p.Path), os.Symlink(other, p.Path)))
		},
	} {
		for _, old := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", name, old), func(t *testing.T) {
				p := writeStore(t, harbour)
				if old {
					backdate(t, p)
				}
				s := cached(p)
				f := snapshotOf(t, s)
				if again := snapshotOf(t, s); again.At(0) != f.At(0) {
					t.Error("an unchanged file was read twice")
				}
				if err := change(p); err != nil {
					t.Fatal(err)
				}
				if now := snapshotOf(t, s); now.At(0).Title != "Light the hall" {
					t.Errorf("after the change the title is %q", now.At(0).Title)
				}
				if f.At(0).Title != "Light the lamp" {
					t.Error("a snapshot changed")
				}
			})
		}
	}
}

// A change within one tick of the clock leaves the stamp unchanged; the checksum notices it.
func TestCacheWithinATick(t *testing.T) {
	p := writeStore(t, harbour)
	s := cached(p)
	f := snapshotOf(t, s)
	if err := os.WriteFile(p.Path, []byte(strings.Replace(harbour, lamp, bells, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.Cache.kept.seen, s.Cache.kept.settled = stampOf(file), false
	if now := snapshotOf(t, s); now.At(0) == f.At(0) || now.At(0).Title != "Light the hall" {
		t.Errorf("the title is %q", now.At(0).Title)
	}
	made := time.Date(2026, 11, 20, 12, 0, 0, 5, time.UTC)
	whole := stamp{modified: made.Truncate(time.Second), status: made}
	if named := (stamp{modified: made, status: made.Add(4 * time.Millisecond)}); !named.isSettled(made) {
		t.Error("not settled, though the inode was changed later than the content")
	}
	for at, want := range map[time.Duration]bool{-time.Hour: false, 10 * time.Millisecond: false, 30 * time.Millisecond: true} {
		if got := (stamp{modified: made}).isSettled(made.Add(at)); got != want {
			t.Errorf("settled after %s: %t", at, got)
		}
		if whole.isSettled(made.Add(at)) {
			t.Errorf("whole seconds: settled after %s", at)
		}
	}
}

// After an edit the store is not read again, and the cache holds what the file holds. An edit
// that starts from outdated content starts over.
func TestCacheAfterEdit(t *testing.T) {
	p := writeStore(t, harbour)
	s := cached(p)
	for n := range 5 {
		if _, err := s.Edit(ctx, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-1", fmt.Sprint("note ", n))); err != nil {
			t.Fatal(err)
		}
		if s.Cache.kept == nil {
			t.Fatal("nothing is kept of an edit")
		}
		kept, fresh := snapshotOf(t, s), mustRead(t, p.Path)
		record, err := kept.At(0).Record()
		if err != nil || record.Text(beads.Notes) != fmt.Sprint("note ", n) || kept.Size() != fresh.Size() || kept.At(1).Line != fresh.At(1).Line {
			t.Fatal(record, err)
		}
		if sum, err := beads.SumOf(strings.NewReader(content(t, p)), kept.Size()); err != nil || sum != kept.Sum() {
			t.Fatal("the sum is not that of the file", err)
		}
	}
	// the cached reading is wrong, and its stamp does not show it
	if err := os.WriteFile(p.Path, []byte(strings.Replace(content(t, p), lamp, bells, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s.Cache.kept.seen, s.Cache.kept.settled = stampOf(file), true
	if _, err := s.Edit(ctx, beads.Options{Now: testNow, Notes: anyNotes}, setNotes("h-2", "last")); err != nil {
		t.Fatal(err)
	}
	if text := content(t, p); !strings.Contains(text, bells) || !strings.Contains(text, `"last"`) {
		t.Errorf("an edit wrote over another program's:\n%s", text)
	}
}

// Two writers with a cache each increment one number and never overshoot each other; a third
// cache never shows less than what was written before its reading began.
func TestCacheAmongWriters(t *testing.T) {
	t.Parallel()
	p := writeStore(t, strings.Replace(harbour, "one", "0", 1))
	var done atomic.Bool
	var group sync.WaitGroup
	edits := sample.Rounds(10)
	var low atomic.Int64 // the least that a reading must show now
	for range 2 {
		s := cached(p)
		group.Go(func() {
			for range edits {
				var now int
				_, err := s.Edit(ctx, beads.Options{Now: testNow, Notes: anyNotes}, func(tx *beads.Tx) error {
					r, err := tx.Record("h-1")
					if err != nil {
						return err
					}
					n, err := strconv.Atoi(r.Text(beads.Notes))
					now = n + 1
					return fault.Join(err, tx.Set("h-1", beads.Set{Key: beads.Notes, Text: fmt.Sprint(now)}))
				})
				if err != nil {
					t.Error(err)
				}
				for was := low.Load(); was < int64(now) && !low.CompareAndSwap(was, int64(now)); was = low.Load() {
				}
			}
		})
	}
	readers := cached(p)
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() {
			for !done.Load() {
				least := low.Load()
				f, err := readers.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				r, err := f.At(0).Record()
				if err == nil {
					n, _ := strconv.ParseInt(r.Text(beads.Notes), 10, 64)
					if n < least {
						t.Errorf("a reading shows %d after %d", n, least)
					}
				}
				f.Close()
			}
		})
	}
	group.Wait()
	done.Store(true)
	reading.Wait()
	r, err := mustRead(t, p.Path).At(0).Record()
	if err != nil || r.Text(beads.Notes) != fmt.Sprint(2*edits) {
		t.Errorf("counted to %q of %d, %v", r.Text(beads.Notes), 2*edits, err)
	}
}
