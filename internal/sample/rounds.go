package sample

import (
	"flag"
	"os"
)

// Full is the environment variable that has property tests do all their rounds;
// .ci/run sets it.
const Full = "STIG_TEST_FULL"

// Rounds gives how many of n rounds a property test does: n where Full is set,
// else an eighth, which are the first of them.
func Rounds(n int) int {
	if All() {
		return n
	}
	return max(1, n/8)
}

// Unless gives all where Full is set, else less: of what a test of volume or endurance takes.
func Unless[T any](all, less T) T {
	if All() {
		return all
	}
	return less
}

// Picked reports whether a test tries the kth of many combinations: each where
// Full is set, else one of eight.
func Picked(k int) bool { return k%8 == 0 || All() }

// Stress is how much a test of load or kills does when no flag says: little where Full is
// set, else nothing, which NoStress turns into a skip.
func Stress[T any](little T) (amount T) {
	if All() {
		amount = little
	}
	return amount
}

// NoStress skips a test of load or kills whose amount is nothing. The flag would say how much.
func NoStress[T comparable](t interface{ Skipf(string, ...any) }, name string, amount T) {
	var nothing T
	if amount == nothing {
		t.Skipf("load and kills: give -%s or set %s", name, Full)
	}
}

// Long reports whether tests run that take long: all do where Full is set, where -run names
// tests, and where -update writes what they print.
func Long() bool {
	given := func(name string) string {
		if f := flag.Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return All() || given("test.run") != "" || given("update") == "true"
}

// SkipLong skips a test that takes seconds of a processor, unless Long.
func SkipLong(t interface{ Skipf(string, ...any) }) {
	if !Long() {
		t.Skipf("takes long: name it with -run or set %s", Full)
	}
}

// All reports whether tests do all of their rounds.
func All() bool { return os.Getenv(Full) != "" }
