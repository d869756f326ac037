package clone_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/clone"
)

// copies counts the copies of stores that sessions keep.
func copies(t *testing.T, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".git", "stig", "copy-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// Sessions that saw the same text share a copy, which goes with the last of them.
func TestSessionsShareCopies(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	keep := func(id, stamp, text string, now time.Time) {
		t.Helper()
		if err := p.Keep(id, clone.Baseline{Store: store, Stamp: stamp, Mark: p.Mark()}, []byte(text), now); err != nil {
			t.Fatal(err)
		}
	}
	if _, known := p.Baseline("1"); known {
		t.Error("a session that never looked is known")
	}
	now := time.Now()
	keep("1", "a", "text a", now)
	keep("2", "a", "text a", now)
	if n := copies(t, dir); n != 1 {
		t.Errorf("%d copies of one text", n)
	}
	keep("1", "b", "text b", now)
	one, _ := p.Baseline("1")
	two, known := p.Baseline("2")
	text, err := os.ReadFile(two.Copy)
	if err != nil || !known || string(text) != "text a" || one.Stamp != "b" || copies(t, dir) != 2 {
		t.Errorf("%+v, %+v, %q: %v", one, two, text, err)
	}
	keep("2", "b", "text b", now)
	if n := copies(t, dir); n != 1 {
		t.Errorf("%d copies, of which one is used", n)
	}
	keep("3", "c", "text c", now.Add(15*24*time.Hour)) // the others looked two weeks ago
	if _, known := p.Baseline("1"); known {
		t.Error("a session of two weeks ago is known")
	}
}

// Copies of large stores are bounded: the oldest go, and whose copy went looks for the
// first time again.
func TestCopiesBounded(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	var oldest clone.Baseline
	for n := range 5 {
		id := fmt.Sprint(n)
		if err := p.Keep(id, clone.Baseline{Store: store, Stamp: id}, []byte("text"), time.Now()); err != nil {
			t.Fatal(err)
		}
		s, known := p.Baseline(id)
		if !known || copies(t, dir) != min(n+1, 3) {
			t.Fatalf("%d: known %t, %d copies", n, known, copies(t, dir))
		}
		if n == 0 {
			oldest = s
		}
		made := time.Now().Add(time.Duration(n-5) * time.Hour)
		if err := errors.Join(os.Truncate(s.Copy, 200<<20), os.Chtimes(s.Copy, made, made)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(oldest.Copy); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the oldest stayed: %v", err)
	}
}

// A store that is gone is reported once to a session that saw it.
func TestVanished(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	if err := p.Keep("1", clone.Baseline{Store: store, Stamp: "a"}, []byte("text"), time.Now()); err != nil {
		t.Fatal(err)
	}
	if gone := clone.Vanished(dir, "1"); len(gone) != 0 {
		t.Errorf("it is there: %+v", gone)
	}
	if err := os.Remove(store); err != nil {
		t.Fatal(err)
	}
	if gone := clone.Vanished(dir, "2"); len(gone) != 0 {
		t.Errorf("another session: %+v", gone)
	}
	if gone := clone.Vanished(dir, "1"); len(gone) != 1 || gone[0].Store != store {
		t.Errorf("it is gone: %+v", gone)
	}
	if gone := clone.Vanished(dir, "1"); len(gone) != 0 {
		t.Errorf("once more: %+v", gone)
	}
}

// Since reads what follows a mark, also when the journal was shortened.
func TestSince(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	write(t, p, record(1))
	mark := p.Mark()
	since := func() int {
		t.Helper()
		j, err := p.Since(mark)
		if err != nil || len(j.Damaged) > 0 {
			t.Fatal(j.Damaged, err)
		}
		return len(j.Records)
	}
	if n := since(); n != 0 {
		t.Errorf("%d records after the end", n)
	}
	write(t, p, record(2))
	write(t, p, record(3))
	if n := since(); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	if _, err := p.Forget("a-1", "a-2"); err != nil {
		t.Fatal(err)
	}
	if n := since(); n > 1 {
		t.Errorf("%d records after some were forgotten", n)
	}
}

// Since names what cannot be read after a mark.
func TestSinceNamesDamage(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	write(t, p, record(1))
	mark := p.Mark()
	for path := range mark {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("nonsense\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write(t, p, record(2))
	if j, err := p.Since(mark); err != nil || len(j.Records) != 1 || len(j.Damaged) != 1 {
		t.Errorf("%d records, damaged %v: %v", len(j.Records), j.Damaged, err)
	}
}

// A record that was being written at a mark is read after it.
func TestSinceReadsWholeLines(t *testing.T) {
	_, store := cloneAt(t)
	p := at(t, store)
	write(t, p, record(1))
	mark := p.Mark()
	for path := range mark {
		mark[path] = 3
	}
	write(t, p, record(2))
	if j, err := p.Since(mark); err != nil || len(j.Records) != 2 || len(j.Damaged) > 0 {
		t.Errorf("%d records, damaged %v: %v", len(j.Records), j.Damaged, err)
	}
}
