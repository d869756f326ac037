package clone_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stig/internal/clone"
)

// TestDreams: an actor has one dream at a time, in all work trees, and forgetting an actor
// removes all records of its dreams.
func TestDreams(t *testing.T) {
	dir, store := cloneAt(t)
	git(t, dir, "worktree", "add", "-q", "../other")
	p, other := at(t, store), at(t, filepath.Join(filepath.Dir(dir), "other", ".beads", "issues.jsonl"))
	d, unlock, err := p.Dream("tide")
	if err != nil || !d.Until.IsZero() || d.Count != 0 {
		t.Fatal(d, err)
	}
	if _, _, err := other.Dream("tide"); !errors.Is(err, clone.ErrDreaming) {
		t.Errorf("a second dream at the same time: %v", err)
	}
	_, free, err := other.Dream("bo")
	if err != nil || free() != nil {
		t.Errorf("another actor: %v", err)
	}
	d.Until, d.At, d.Said, d.Count = noon, noon, "low water", 1
	if err := errors.Join(p.RecordDream(d), unlock()); err != nil {
		t.Fatal(err)
	}
	d, unlock, err = other.Dream("tide")
	if err != nil || unlock() != nil || !d.Until.Equal(noon) || d.Said != "low water" || d.Name != "tide" {
		t.Errorf("%+v, %v", d, err)
	}
	if err := errors.Join(p.ForgetDreams("tide"), p.ForgetDreams("bo"), p.ForgetDreams("nobody")); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, ".git", "stig"))
	if err != nil || len(left) != 0 || p.Dreamt("tide").Count != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
