package clone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stig/internal/clone"
)

func presencePlace(t *testing.T) (place clone.Place, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), ".beads")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	place, err := clone.At(filepath.Join(dir, "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return place, filepath.Join(dir, ".stig")
}

func seen(t *testing.T, place clone.Place, name string, at time.Time) {
	t.Helper()
	err := place.ChangePresence(name, func(p *clone.Presence) bool {
		p.Seen = at
		p.Signs++
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPresence: concurrent signs of actors are not lost, and an unreadable record is set aside.
func TestPresence(t *testing.T) {
	place, dir := presencePlace(t)
	day := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	if all, err := place.Presences(); err != nil || all != nil {
		t.Fatal(all, err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { seen(t, place, fmt.Sprintf("bo/%d", i%2), day) })
	}
	all.Wait()
	if one, ok := place.Presence("bo/1"); !ok || one.Signs != 4 || one.Name != "bo/1" {
		t.Errorf("%+v, %t", one, ok)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "actor-*.json"))
	if len(files) != 2 {
		t.Fatal(files)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := place.Presences(); err == nil || len(list) != 1 {
		t.Error(list, err)
	}
	if list, err := place.Presences(); err != nil || len(list) != 1 {
		t.Error("named again:", list, err)
	}
	if err := place.ChangePresence("cy", func(*clone.Presence) bool { return false }); err != nil {
		t.Error(err)
	}
	if _, ok := place.Presence("cy"); ok {
		t.Error("written although nothing changed")
	}
}

// TestPrune: only actors not seen for long are removed.
func TestPrune(t *testing.T) {
	place, dir := presencePlace(t)
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for name, age := range map[string]time.Duration{"new": 0, "old": 91 * 24 * time.Hour, "filed": 91 * 24 * time.Hour, "recent": 89 * 24 * time.Hour} {
		seen(t, place, name, now.Add(-age))
	}
	if err := place.PrunePresences(now, func(name string) bool { return name == "filed" }); err != nil {
		t.Fatal(err)
	}
	all, err := place.Presences()
	if len(all) != 3 || err != nil || all[0].Name != "filed" || all[1].Name != "new" || all[2].Name != "recent" {
		t.Error(all, err)
	}
	if err := place.ForgetPresence("new"); err != nil {
		t.Error(err)
	}
	if err := place.ForgetPresence("unknown"); err != nil {
		t.Error(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "actor-*")); len(files) != 4 { // two records and their locks
		t.Error(files)
	}
}

// TestPresenceBeside: if git's directory cannot be used, the record is beside the store; of two
// records the one with more changes counts.
func TestPresenceBeside(t *testing.T) {
	dir, store := cloneAt(t)
	place, own := at(t, store), filepath.Join(dir, ".git", "stig")
	day := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	seen(t, place, "bo", day)
	seen(t, place, "bo", day.Add(time.Second))
	away := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	away(own, own+".away")
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seen(t, place, "bo", day.Add(time.Hour))
	if one, ok := place.Presence("bo"); !ok || !one.Seen.Equal(day.Add(time.Hour)) {
		t.Errorf("%+v, %t", one, ok)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	away(own+".away", own)
	all, err := place.Presences()
	if one, ok := place.Presence("bo"); err != nil || len(all) != 1 || !ok || one.Changes != 2 || all[0] != one {
		t.Errorf("%v, %+v, %+v", err, all, one)
	}
	if err := place.ForgetPresence("bo"); err != nil {
		t.Fatal(err)
	}
	if all, err := place.Presences(); err != nil || len(all) != 0 {
		t.Errorf("%v, %+v", err, all)
	}
}
