package signals

import (
	"errors"
	"testing"
)

// TestCanonical compares typed values with the form that tables have.
func TestCanonical(t *testing.T) {
	for _, tt := range []struct {
		signal      Signal
		typed, want string // want "" for a refused one
	}{
		{Cynefin, "complex", "complex"},
		{Cynefin, " complex ", "complex"},
		{Cynefin, "Complex", ""},
		{Surprise, "0.40", "0.4"},
		{Surprise, ".5", "0.5"},
		{Surprise, "1", "1.0"},
		{Surprise, "1.5", ""},
		{Surprise, "much", ""},
		{Surprise, "", ""},
		{EvidenceFreshness, "2026-11-20", "2026-11-20"},
		{EvidenceFreshness, "—", "absent"},
		{EvidenceFreshness, "yesterday", ""},
		{Confidence, "validated", "validated"},
		{Confidence, "a | b", ""},
		{Progress, "blocked\n", ""},
		{SchemaVersion, "1", "1"},
	} {
		got, err := Canonical(tt.signal, tt.typed, nil)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s=%q: %q, %v; want %q", tt.signal, tt.typed, got, err, tt.want)
		}
	}
	_, err := Canonical(Surprise, "1.5", nil)
	if invalid, ok := errors.AsType[*InvalidError](err); !ok || invalid.Findings[0].Signal != "surprise" || invalid.InNotes() {
		t.Errorf("surprise 1.5: %v", err)
	}
}
