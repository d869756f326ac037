package bd

import (
	"slices"
	"testing"

	"stig/beads"
)

// TestRetoldFields lists what bd does not take from the file for an issue that it has.
func TestRetoldFields(t *testing.T) {
	const before = `{"id":"d-1","labels":["a","b"],"estimated_minutes":30}`
	for after, want := range map[string][]string{
		`{"id":"d-1","labels":["a","b"],"estimated_minutes":90,"defer_until":"2026-12-01T00:00:00Z"}`: {"update", "d-1", "--estimate=90", "--defer=2026-12-01T00:00:00Z"},
		`{"id":"d-1","estimated_minutes":30}`:                                {"update", "d-1", "--remove-label=a", "--remove-label=b"},
		`{"id":"d-1","labels":["a"],"estimated_minutes":30,"priority":1}`:    nil,
		`{"id":"d-1","labels":["a","b"],"estimated_minutes":30,"design":""}`: nil,
	} {
		got := retold([]beads.Change{{ID: "d-1", Line: 1, Before: []byte(before), After: []byte(after)}})
		if want == nil && len(got) > 0 || want != nil && (len(got) != 1 || !slices.Equal(got[0], want)) {
			t.Errorf("%s: %q, want %q", after, got, want)
		}
	}
	if got := retold([]beads.Change{{ID: "d-1", After: []byte(`{"id":"d-1","estimated_minutes":30}`)}}); got != nil {
		t.Errorf("a new issue: %q", got)
	}
}
