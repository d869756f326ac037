package clone_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/clone"
)

// TestLooks: a session is remembered for two weeks after its last check, as are files of
// earlier versions.
func TestLooks(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	now := time.Now()
	keep := func(session, stamp string, now time.Time) {
		t.Helper()
		if err := p.Keep(session, clone.Look{Store: store, Stamp: stamp, Told: []string{"a-1 label"}}, now); err != nil {
			t.Fatal(err)
		}
	}
	if _, known := p.Looked("1"); known {
		t.Error("a session that never looked is known")
	}
	keep("1", "a", now)
	old := filepath.Join(dir, ".git", "stig", "copy-0123.jsonl")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	keep("2", "b", now)
	if l, known := p.Looked("1"); !known || l.Stamp != "a" || len(l.Told) != 1 {
		t.Errorf("%+v, %t", l, known)
	}
	keep("3", "c", now.Add(15*24*time.Hour)) // the others checked two weeks ago
	if _, known := p.Looked("1"); known {
		t.Error("a session of two weeks ago is known")
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy of an earlier program stayed: %v", err)
	}
}

// TestVanished: a session that saw a store is told once that it is gone.
func TestVanished(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	if err := p.Keep("1", clone.Look{Store: store, Stamp: "a"}, time.Now()); err != nil {
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

// TestSince: Since reads what follows a mark, even if the journal was shortened.
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

// TestSinceNamesDamage: Since names what cannot be read after a mark.
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

// TestSinceReadsWholeLines: a record that was incomplete at the mark is read after it.
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
