package jsonl

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/beads"
)

// TestWatch makes the changes that programs make to a store, and checks that each is reported:
// at once by notifications, and by polling where there are none, as on network file systems.
func TestWatch(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name string
		do   func(path string) error
	}{
		{"replaced", func(path string) error {
			if err := os.WriteFile(path+".tmp", []byte("replaced"), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".tmp", path)
		}},
		{"written over", func(path string) error { return os.WriteFile(path, []byte("written over"), 0o644) }},
		{"removed", os.Remove},
		{"made", func(path string) error { return os.WriteFile(path, []byte("made"), 0o644) }},
		{"directory moved away", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"-away") }},
		{"directory made again", func(path string) error {
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("made again"), 0o644)
		}},
		{"written after that", func(path string) error { return os.WriteFile(path, []byte("written after that"), 0o644) }},
	}
	told := func(t *testing.T, changes <-chan struct{}, path string, upTo int) {
		for _, step := range steps[:upTo] {
			if err := step.do(path); err != nil {
				t.Fatal(err)
			}
			select {
			case <-changes:
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: not told", step.name)
			}
			for quiet := false; !quiet; { // one change may be reported twice
				select {
				case <-changes:
				case <-time.After(30 * time.Millisecond):
					quiet = true
				}
			}
		}
	}
	t.Run("told", func(t *testing.T) {
		t.Parallel()
		path := storeToWatch(t)
		w := newWatch(beads.Place{Path: path})
		if err := w.listen(); err != nil {
			t.Fatal(err)
		}
		go w.run(time.Hour)
		defer close(w.done)
		told(t, w.changes, path, 4)
	})
	t.Run("told through a link", func(t *testing.T) {
		t.Parallel()
		path := storeToWatch(t)
		link := filepath.Join(t.TempDir(), "issues.jsonl")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		w := newWatch(beads.Place{Path: link})
		if err := w.listen(); err != nil {
			t.Fatal(err)
		}
		go w.run(time.Hour)
		defer close(w.done)
		told(t, w.changes, path, 4)
	})
	t.Run("of a store", func(t *testing.T) {
		t.Parallel()
		path := storeToWatch(t)
		changes, stop := Open(beads.Place{Path: path}).Watch()
		defer stop()
		told(t, changes, path, len(steps))
	})
	t.Run("looking", func(t *testing.T) {
		t.Parallel()
		path := storeToWatch(t)
		w := newWatch(beads.Place{Path: path})
		go w.run(5 * time.Millisecond)
		defer close(w.done)
		told(t, w.changes, path, len(steps))
	})
	t.Run("both", func(t *testing.T) {
		t.Parallel()
		path := storeToWatch(t)
		w := newWatch(beads.Place{Path: path})
		if err := w.listen(); err != nil {
			t.Fatal(err)
		}
		go w.run(20 * time.Millisecond)
		defer close(w.done)
		told(t, w.changes, path, len(steps))
	})
}

func storeToWatch(t *testing.T) string {
	path := filepath.Join(t.TempDir(), ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWatchRests checks that nothing is reported while nothing happens, nor for the store's
// neighbours.
func TestWatchRests(t *testing.T) {
	path := storeToWatch(t)
	w := newWatch(beads.Place{Path: path})
	if err := w.listen(); err != nil {
		t.Fatal(err)
	}
	go w.run(5 * time.Millisecond)
	defer close(w.done)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "neighbour"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.changes:
		t.Error("told of a change, and there was none")
	case <-time.After(100 * time.Millisecond):
	}
}
