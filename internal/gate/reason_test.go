package gate_test

import (
	"testing"

	"stig/internal/gate"
)

// A reason in stig's form reports results only if all of some checks passed.
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
		if got := namesResults(reason); got != want {
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

// TestSaysNothing: short reasons pass; those that only say that the issue is closed do not.
func TestSaysNothing(t *testing.T) {
	for reason, want := range map[string]bool{
		"": true, " \n": true, "…": true, "Done": true, "DONE!": true, "fixed.": true, "Closed": true, "completed": true,
		"implemented, as described": true, "Done as described.": true,
		"done in 1ce5bbd": false, "not done": false, "as described": false, "fixed as agreed": false, "works": false, "完了": false, "2": false,
		"done done": false, "done, as described above": false,
	} {
		if got := gate.SaysNothing(reason); got != want {
			t.Errorf("%q says nothing: %v", reason, got)
		}
	}
}

// TestChildrenReason: what an epic's reason says about its children is read back.
func TestChildrenReason(t *testing.T) {
	for _, c := range []struct {
		children gate.Children
		what     string
		reason   string
	}{
		{gate.Children{Verified: 9, NotPlanned: 2, Waived: 1}, "the pier is open", "Verified: the pier is open. 12 children: 9 verified, 2 not planned, 1 waived"},
		{gate.Children{Verified: 1}, "", "Verified: 1 child: 1 verified"},
		{gate.Children{Verified: 1, Unshown: 1}, "", "Unverified: 2 children: 1 verified, 1 closed without a verdict"},
		{gate.Children{Waived: 1, Unshown: 2, Failed: 1, Duplicate: 1, Unread: 1}, "it is", "Unverified: it is. 6 children: 1 duplicate, 1 waived, 2 closed without a verdict, 1 failed, 1 unreadable"},
	} {
		if got := c.children.Reason(c.what); got != c.reason {
			t.Errorf("got  %s\nwant %s", got, c.reason)
		}
		if said, ok := gate.ParseChildren(c.reason + "; done ahead of its epic: it is blocked by a-1."); !ok || said != c.children.String() {
			t.Errorf("%s: %q, %v", c.reason, said, ok)
		}
	}
	for _, reason := range []string{"12 children: 12 verified", "Verified: it has children: two", "Verified: the mast is up. All acceptance criteria pass: 1/1 [ls 0.0s]"} {
		if said, ok := gate.ParseChildren(reason); ok {
			t.Errorf("%q tells of children: %q", reason, said)
		}
	}
}

// namesResults reports whether a close reason tells of checks that all passed.
func namesResults(reason string) bool {
	_, ok := gate.ParseResults(reason)
	return ok
}
