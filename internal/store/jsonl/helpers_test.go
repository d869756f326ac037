package jsonl

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/beads"
)

var testNow = time.Date(2026, 11, 20, 10, 11, 12, 900_000_000, time.FixedZone("", -5*3600))

const updatedNow = `"updated_at":"2026-11-20T15:11:12Z"`

// editAt edits the store at a place.
func editAt(ctx context.Context, p beads.Place, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	return Open(p).Edit(ctx, o, fn)
}

// editOn edits the store at a place on a disk that may fail.
func editOn(ctx context.Context, d disk, p beads.Place, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	return Open(p).edit(ctx, d, o, trying(o, fn))
}

func mustRead(t testing.TB, path string) *beads.Snapshot {
	t.Helper()
	f, err := Read(beads.Place{Path: path, Dir: filepath.Dir(path)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// writeStore creates a .beads with the content and returns its place.
func writeStore(t testing.TB, content string) beads.Place {
	t.Helper()
	dir := filepath.Join(t.TempDir(), beads.DirName)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "issues.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return beads.Place{Path: path, Dir: dir}
}

func content(t testing.TB, p beads.Place) string {
	t.Helper()
	b, err := os.ReadFile(p.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// cached opens a store with a cache.
func cached(p beads.Place) *Store {
	s := Open(p)
	s.Cache = NewCache(time.Now)
	return s
}

// backdate sets the times of the store's file back so far that its stamp shows every later
// change.
func backdate(t testing.TB, p beads.Place) {
	t.Helper()
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(p.Path, then, then); err != nil {
		t.Fatal(err)
	}
}
