package visible_test

import (
	"testing"
	"time"

	"stig/internal/visible"
)

// TestMoment asserts that a time names its zone, and that a day has no time made up.
func TestMoment(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-20T09:05:59Z":        "2026-11-20 09:05 UTC",
		"2026-11-20T01:00:00.5+02:00": "2026-11-19 23:00 UTC",
		"2026-11-20T00:00:00Z":        "2026-11-20",
		"2026-11-20T00:00:01Z":        "2026-11-20 00:00 UTC",
	} {
		at, err := time.Parse(time.RFC3339, text)
		if got := visible.Moment(at); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
}
