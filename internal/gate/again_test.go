//go:build unix

package gate_test

import (
	"strings"
	"testing"

	"stig/internal/gate"
)

// Where the criteria give the output it is compared; exit code 0 is not enough.
func TestExpectedOutput(t *testing.T) {
	for _, c := range []struct {
		script, how, text string
		exit              int
	}{
		{"echo 12", gate.Equals, "12", 0},
		{"echo 12", gate.Equals, "999", gate.ExitDiffers},
		{"echo high tide >&2", gate.Contains, "tide", 0},
		{"echo low", gate.Contains, "tide", gate.ExitDiffers},
		{"echo tide; exit 3", gate.Contains, "tide", 3},
		{":", gate.Equals, "", 0},
		{"echo x", gate.Equals, "", gate.ExitDiffers},
	} {
		j := job(t, c.script)
		j.Checks[0].Expect = gate.Expect{How: c.how, Text: c.text}
		o, _ := one(t, j)
		if o.Exit != c.exit {
			t.Errorf("%s: exit %d, %s", c.script, o.Exit, o.Reason)
		}
		if differs := strings.HasPrefix(o.Reason, "the output differs from the criteria"); differs != (c.exit == gate.ExitDiffers) {
			t.Errorf("%s: reason %q", c.script, o.Reason)
		}
	}
}

// A close reason says what was not run, and what cannot fail.
func TestPassing(t *testing.T) {
	j := job(t, "true", "mast up", "low\ntide", "a", "b", "c")
	j.Checks[0].CannotFail = "true succeeds always"
	for i := 1; i < len(j.Checks); i++ {
		j.Checks[i].Class, j.Checks[i].Reason = gate.Manual, "is no program here"
	}
	said := runJob(t, j).Passing()
	if !strings.HasPrefix(said, "1 of 6 checked; not run: mast up; low …; a; b; and 1 more [true 0.") || !strings.HasSuffix(said, "; cannot fail: true") {
		t.Error(said)
	}
	if !namesResults("Verified: the mast is up. " + said) {
		t.Errorf("no results in %q", said)
	}
}

// The exit code named by the criteria passes, and no other: neither 0 nor that of a missing
// program.
func TestExpectedExit(t *testing.T) {
	for _, c := range []struct {
		script, exit string
		want         int
	}{
		{"exit 2", "2", 0}, {"exit 3", "2", 3}, {"true", "2", gate.ExitDiffers},
		{"exit 7", gate.NonZero, 0}, {"true", gate.NonZero, gate.ExitDiffers}, {"no-such-program-here", gate.NonZero, 127},
		{"exit 1", "", 1},
	} {
		j := job(t, c.script)
		j.Checks[0].Expect = gate.Expect{Exit: c.exit}
		if o, _ := one(t, j); o.Exit != c.want || (o.Exit == 0) != (o.Reason == "") && c.exit != "" {
			t.Errorf("%s, wanted %q: exit %d, %q", c.script, c.exit, o.Exit, o.Reason)
		}
	}
}
