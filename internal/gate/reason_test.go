package gate_test

import (
	"testing"

	"stig/internal/gate"
)

// A reason that was written after the form of stig's own tells of results only
// where all of some checks passed.
func TestTellsResults(t *testing.T) {
	for reason, want := range map[string]bool{
		"Verified: the mast is up. All acceptance criteria pass: 2/2 [make 0.1s; ls 0.0s] at 1a2b3c4":     true,
		"All acceptance criteria pass: as of today. All acceptance criteria pass: 1/1 [ls 0.0s]":          true,
		"Verified: the mast is up. 1 of 3 checked; not run: a b; c [ls 0.0s] at 1a2b3c4; cannot fail: ls": true,
		"2 of 3 checked; not run: [ls 0.0s]":               false,
		"0 of 3 checked; not run: a b [ls 0.0s]":           false,
		"2 of 3 checked; not run: a b; c":                  false,
		"Verified: the mast is up":                         false,
		"Verified: All acceptance criteria pass: by eye":   false,
		"All acceptance criteria pass: 1/2 [ls exit 1; x]": false,
		"All acceptance criteria pass: 0/0 []":             false,
		"All acceptance criteria pass: 2/2":                false,
		"All acceptance criteria pass: 2/2 [":              false,
		"All acceptance criteria pass: 2/2 by eye [ls]":    false,
	} {
		if got := gate.NamesResults(reason); got != want {
			t.Errorf("%q tells results: %v", reason, got)
		}
	}
}

func TestTellsWaiver(t *testing.T) {
	why, tells := gate.ParseWaived(gate.Waived("the mast is up", "nobody can climb it.", "ann") + ".")
	if why != "nobody can climb it. By ann." || !tells {
		t.Errorf("%q, %t", why, tells)
	}
	for _, reason := range []string{
		"", "done", "Waived: no time", "Unverified: the mast is up", "Unverified: the mast is up. Waived: ", "Unverified: . Waived: no time",
		"Verified: the mast is up. Waived: no time", "It is Unverified: up. Waived: no time",
	} {
		if _, tells := gate.ParseWaived(reason); tells {
			t.Errorf("%q is taken for a waiver", reason)
		}
	}
}
