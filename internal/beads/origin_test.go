package beads_test

import (
	"testing"

	"stig/internal/beads"
)

func TestBirth(t *testing.T) {
	at := func(at, by, title string) beads.Origin { return beads.Origin{At: at, By: by, Title: title} }
	a := at("2026-11-01T00:00:00Z", "ann", "x")
	tests := []struct {
		name           string
		other          beads.Origin
		together, same bool
		order          int // from a to the other
	}{
		{"itself", a, true, true, 0},
		{"a fraction of the second", at("2026-11-01T01:00:00.5+01:00", "ann", "x"), true, true, -1},
		{"rounded up", at("2026-10-31T23:59:59.6Z", "ann", "x"), true, true, 1},
		{"the next second", at("2026-11-01T00:00:01Z", "ann", "x"), false, false, -1},
		{"another creator", at("2026-11-01T00:00:00Z", "", "x"), false, false, 1},
		{"another title", at("2026-11-01T00:00:00Z", "ann", "y"), true, false, -1},
		{"no time", at("", "ben", "y"), true, true, -1},
		{"a time that cannot be read", at("yesterday", "ann", "x"), false, false, -1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := a.Together(test.other); got != test.together || test.other.Together(a) != got {
				t.Errorf("together: %v", got)
			}
			if got := a.Same(test.other); got != test.same || test.other.Same(a) != got {
				t.Errorf("same: %v", got)
			}
			if got := a.Compare(test.other); got != test.order || test.other.Compare(a) != -got {
				t.Errorf("order: %d", got)
			}
		})
	}
}

// TestRename spells the ids out, because every version of stig must produce the same ones.
func TestRename(t *testing.T) {
	b := beads.Origin{At: "2026-11-01T00:00:00Z", By: "ann", Title: "x"}
	tests := []struct{ old, want, parent string }{
		{"p-4ke.1", "p-4ke.d66e36", "p-4ke"},
		{"p-4ke.2.1", "p-4ke.2.d66e36", "p-4ke.2"},
		{"my.p-4ke", "my.p-yc7vga", ""},
		{"x", "x-jud4p7", ""},
	}
	for _, test := range tests {
		got := b.Rename(test.old, func(string) bool { return false })
		if got != test.want || !beads.IsRenamed(got) || beads.ParentID(test.old) != test.parent {
			t.Errorf("%s became %s, want %s; parent %q", test.old, got, test.want, beads.ParentID(test.old))
		}
		if other := b.Rename(test.old, func(id string) bool { return id == got }); other == got || !beads.IsRenamed(other) {
			t.Errorf("%s, which is taken, became %s", got, other)
		}
	}
	for _, id := range []string{"p-4ke.1", "p-abcdef", "p-1bcdef", "p-a1cde", "p-a1cdeG", "a1cdef", ""} {
		if beads.IsRenamed(id) {
			t.Errorf("%s looks renamed", id)
		}
	}
}
