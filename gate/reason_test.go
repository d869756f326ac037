package gate_test

import (
	"testing"

	"stig/gate"
)

func TestTellsWaiver(t *testing.T) {
	what, why, tells := gate.TellsWaiver(gate.Waived("the mast is up", "nobody can climb it.") + ". By ann.")
	if what != "the mast is up" || why != "nobody can climb it. By ann." || !tells {
		t.Errorf("%q, %q, %t", what, why, tells)
	}
	for _, reason := range []string{
		"", "done", "Waived: no time", "Unverified: the mast is up", "Unverified: the mast is up. Waived: ", "Unverified: . Waived: no time",
		"Verified: the mast is up. Waived: no time", "It is Unverified: up. Waived: no time",
	} {
		if _, _, tells := gate.TellsWaiver(reason); tells {
			t.Errorf("%q is taken for a waiver", reason)
		}
	}
}
