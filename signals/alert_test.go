package signals_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stig/signals"
)

// TestAlerts checks every alert against its threshold: none at it, the alert above it.
func TestAlerts(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	days := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	raised := func(_ signals.Alert, over bool) bool { return over }
	tests := []struct {
		name string
		got  bool
		want bool
	}{
		{"epic at", raised(signals.Replanning("complicated", []float64{1, 1})), false},
		{"epic at, in tenths", raised(signals.Replanning("complicated", slices.Repeat([]float64{0.1}, 20))), false},
		{"epic above", raised(signals.Replanning("complicated", []float64{1, 1, 0.01})), true},
		{"epic of many that surprised a little", raised(signals.Replanning("complicated", append(slices.Repeat([]float64{0.13}, 35), slices.Repeat([]float64{0.2}, 5)...))), false},
		{"epic above, at what its domain allows", raised(signals.Replanning("clear", slices.Repeat([]float64{0.5}, 5))), false},
		{"epic above, in a domain that allows less", raised(signals.Replanning("complicated", slices.Repeat([]float64{0.5}, 5))), true},
		{"epic without children", raised(signals.Replanning("complicated", nil)), false},
		{"clear at", raised(signals.Convergence("clear", []float64{0.4, 0.6}, "")), false},
		{"clear above", raised(signals.Convergence("clear", []float64{0.4, 0.61}, "")), true},
		{"complicated at, in tenths", raised(signals.Convergence("complicated", []float64{0.1, 0.2, 0.6}, "")), false},
		{"complicated above", raised(signals.Convergence("complicated", []float64{0.1, 0.2, 0.61}, "")), true},
		{"complex at", raised(signals.Convergence("complex", []float64{0.2, 0.2}, "")), false},
		{"complex above", raised(signals.Convergence("complex", []float64{0.2, 0.21}, "")), true},
		{"one blocker", raised(signals.Convergence("chaotic", []float64{1}, "")), false},
		{"chaotic at", raised(signals.Convergence("chaotic", []float64{0.1, 0.1, 0.1}, "")), false},
		{"chaotic above", raised(signals.Convergence("chaotic", []float64{0.1, 0.1, 0.2}, "")), true},
		{"nothing converges", raised(signals.Convergence("chaotic", nil, "")), false},
		{"stuck", raised(signals.Stuck(2, 0, 0)), true},
		{"in progress", raised(signals.Stuck(2, 0, 1)), false},
		{"going on", raised(signals.Stuck(2, 1, 0)), false},
		{"over", raised(signals.Stuck(0, 0, 0)), false},
		{"stale at", raised(signals.Stale(days(30), now, 30)), false},
		{"stale above", raised(signals.Stale(days(30).Add(-time.Second), now, 30)), true},
		{"stale, days beyond a duration", raised(signals.Stale(days(30), now, 106_752)), false},
		{"stale, time unknown", raised(signals.Stale(time.Time{}, now, 30)), false},
		{"shift to the same", raised(signals.Shift("complex", "complex")), false},
		{"shift down", raised(signals.Shift("complex", "clear")), false},
		{"shift up", raised(signals.Shift("complex", "chaotic")), true},
		{"divergence at", raised(signals.Divergence(0.3)), false},
		{"divergence above", raised(signals.Divergence(0.31)), true},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: alert %v, want %v", test.name, test.got, test.want)
		}
	}
}

// TestAlertWords compares the messages with the numbers that raised them.
func TestAlertWords(t *testing.T) {
	words := func(a signals.Alert, _ bool) string { return a.Rule + ": " + a.Message }
	for got, want := range map[string]string{
		words(signals.Replanning("complicated", []float64{0.9, 0.8, 0.7})): "replanning: surprise 2.4 in sum over 3 children, 0.8 on average: replan",
		words(signals.Convergence("complex", []float64{0.4, 0.1}, "a-1")):  "convergence-surprise: surprise 0.5 in its 2 blockers, of which a-1 is not closed yet, over 0.4",
		words(signals.Convergence("clear", []float64{0.4, 0.7}, "")):       "convergence-surprise: surprise 1.1 in its 2 closed blockers, over 1.0",
		words(signals.Stuck(1, 0, 0)):                                      "stuck-epic: its one unclosed child is neither",
		words(signals.Stale(time.Unix(0, 0), time.Unix(17e4, 0), 1)):       "stale: in progress, unchanged for a day",
		words(signals.Stale(time.Unix(0, 0), time.Unix(864e4, 0), 30)):     "stale: in progress, unchanged for 100 days",
	} {
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q\n does not begin with %q", got, want)
		}
	}
}
