package clone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/clone"
)

// TestLockLoop: a clone has one loop per name, in all work trees, since the state of a loop and
// its runs is stored by name.
func TestLockLoop(t *testing.T) {
	dir, store := cloneAt(t)
	place := at(t, store)
	other := place
	other.Worktree = filepath.Join(dir, "..", "side")
	unlock, err := place.LockLoop("bo")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := other.LockLoop("bo"); err == nil {
		t.Error("two loops of one name at once", again())
	}
	third, err := other.LockLoop("cy")
	if err != nil {
		t.Fatal("another name:", err)
	}
	for _, unlock := range []func() error{unlock, third} {
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
	if unlock, err = other.LockLoop("bo"); err != nil {
		t.Fatal("it has ended:", err)
	}
	_ = unlock()
}

// TestSayOnce: of several loops with the same message only the first prints it.
func TestSayOnce(t *testing.T) {
	_, store := cloneAt(t)
	place := at(t, store)
	for _, c := range []struct {
		text string
		want bool
	}{{"a", true}, {"a", false}, {"b", true}, {"a", false}} {
		if first, err := place.SayOnce(c.text); err != nil || first != c.want {
			t.Errorf("%s: %t, %v", c.text, first, err)
		}
	}
}

// TestRunFiles: old or too many files of runs are removed, and no other files.
func TestRunFiles(t *testing.T) {
	_, store := cloneAt(t)
	place := at(t, store)
	files, err := place.RunFiles("r-new")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(files.Log)
	now := time.Now()
	made := func(name string, age time.Duration, size int64) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil { // sparse files take no space
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const day = 24 * time.Hour
	for path, stays := range map[string]bool{
		files.Log:                              true,
		made("r-recent.log", 89*day, 10):       true,
		made("r-old.log", 91*day, 10):          false,
		made("r-old.md", 91*day, 10):           false,
		made("of-somebody.md", 91*day, 10):     true,
		made("r-large.log", 90*day, 300<<20):   false,
		made("r-not-so-large.log", 2*day, 200): true,
	} {
		if _, err := place.RunFiles("r-new"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	for i := range 8100 {
		made(fmt.Sprintf("r-%04d.md", i), time.Duration(i)*time.Second, 0)
	}
	if _, err := place.RunFiles("r-new"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if _, gone := os.Stat(filepath.Join(dir, "r-8099.md")); err != nil || len(left) > 8001 || gone == nil {
		t.Errorf("%d files stay, %v, %v", len(left), err, gone)
	}
}

// TestPruneHeld: what is held of runs is removed by age and by total size, except for one run.
func TestPruneHeld(t *testing.T) {
	_, store := cloneAt(t)
	place := at(t, store)
	const day = 24 * time.Hour
	held := func(id string, age time.Duration, size int64) string {
		t.Helper()
		dir, err := place.Held(id)
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, "below"), 0o700)
		}
		path := filepath.Join(dir, "below", "big")
		if err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err == nil {
			err = os.Truncate(path, size) // sparse files take no space
		}
		if err == nil {
			err = os.Chtimes(dir, time.Now().Add(-age), time.Now().Add(-age))
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	want := map[string]bool{
		held("r-this", 99*day, 5<<30): true, held("r-new", day, 3<<30): true, held("r-large", 2*day, 2<<30): false,
		held("r-small", 3*day, 1): false, held("r-old", 91*day, 1): false,
	}
	for range 2 { // the second time the sizes are cached
		if err := place.PruneHeld("r-this"); err != nil {
			t.Fatal(err)
		}
		for path, stays := range want {
			if _, err := os.Stat(path); (err == nil) != stays {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestTold: the state of an actor ends at its time.
func TestTold(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		until time.Time
		want  clone.State
	}{{time.Time{}, clone.Paused}, {now.Add(time.Second), clone.Paused}, {now, ""}} {
		if got := (clone.Presence{State: clone.Paused, Until: c.until}).Told(now); got != c.want {
			t.Errorf("until %s: %q", c.until, got)
		}
	}
}
