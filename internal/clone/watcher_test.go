package clone_test

import (
	"path/filepath"
	"testing"
	"time"

	"stig/internal/clone"
)

// TestWatchersForgotten: a memory, which is as large as the store, is removed after 90 days
// without use, unless somebody is watching under its name.
func TestWatchersForgotten(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	now := time.Now()
	open := func(name string, now time.Time) (w *clone.Watcher, known bool) {
		t.Helper()
		w, _, _, known, err := p.Watcher(name, false, now)
		if err != nil {
			t.Fatal(err)
		}
		if !known {
			if err := w.Keep(clone.WatcherState{At: now}, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		return w, known
	}
	use := func(name string, now time.Time) (known bool) {
		t.Helper()
		w, known := open(name, now)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return known
	}
	use("left", now)
	use("kept", now)
	running, _ := open("running", now)
	if !use("kept", now.AddDate(0, 0, 80)) {
		t.Error("forgot what was used 80 days ago")
	}
	use("other", now.AddDate(0, 0, 100))
	if err := running.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".git", "stig", "watch-*"))
	if err != nil || len(left) != 6 {
		t.Errorf("left %q: %v", left, err)
	}
	if !use("running", now) || !use("kept", now) || use("left", now) {
		t.Error("what is in use was forgotten, or what is not was kept")
	}
}
