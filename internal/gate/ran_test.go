package gate_test

import (
	"strings"
	"testing"

	"stig/internal/gate"
)

func TestRanNoTest(t *testing.T) {
	for tail, want := range map[string]bool{
		"":                                   false,
		"all is well":                        false,
		"ok  \tpier\t0.1s":                   false,
		"ok  \tpier\t0.1s [no tests to run]": true,
		"ok  \tpier\t(cached) [no tests to run]\n?   \tpier/c\t[no test files]": true,
		"ok  \tpier\t0.1s [no tests to run]\nok  \tpier/b\t0.1s":                false,
		"running 0 tests\n\ntest result: ok. 0 passed; 9 filtered out":          true,
		"running 0 tests\n\nrunning 12 tests\n":                                 false,
		"running 10 tests":                                                      false,
		"Ran 0 tests in 0.000s\n\nOK":                                           true,
		"Ran 1 test in 0.1s\n\nOK":                                              false,
		"\n  0 passing (3ms)\n":                                                 true,
		"\n  20 passing (3ms)\n":                                                false,
		"0 examples, 0 failures":                                                true,
		"ℹ tests 0\nℹ suites 0":                                                 true,
		"# tests 3":                                                             false,
		strings.Repeat("x\n", 20) + "# tests 0":                                 false,
	} {
		if got := (gate.Outcome{Tail: tail}).RanNoTest(); got != want {
			t.Errorf("%q: got %v", tail, got)
		}
	}
	if (gate.Outcome{Exit: 5, Tail: "Ran 0 tests in 0.000s"}).RanNoTest() {
		t.Error("a check that failed is told as one that failed")
	}
}
