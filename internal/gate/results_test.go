//go:build unix

package gate_test

import (
	"reflect"
	"strings"
	"testing"

	"stig/internal/gate"
)

func TestParseResults(t *testing.T) {
	for reason, want := range map[string]gate.Results{
		"Verified: up. All acceptance criteria pass: 2/2 [make x 0.1s; test a = ] 12.3s] at 1a2b3c4.": {
			Passed: 2, All: 2, Checks: []string{"make x", "test a = ]"}, Commit: "1a2b3c4"},
		"All acceptance criteria pass: 1/1 [for i in 1; do a; done … 0.1s] at 1a2b3c4 with uncommitted changes; criteria edited since HEAD: 3 commands → 1.": {
			Passed: 1, All: 1, Checks: []string{"for i in 1; do a; done …"}, Commit: "1a2b3c4"},
		"All acceptance criteria pass: 9/9 [a b 0.1s; …] before the first commit": {
			Passed: 9, All: 9, Checks: []string{"a b"}, More: true, First: true},
		"Verified: up. 1 of 4 checked; not run: [ -f x ]; c d; e [true 0.0s] at 0000000; cannot fail: true": {
			Passed: 1, All: 4, Checks: []string{"true"}, NotRun: []string{"[ -f x ]", "c d", "e"}, Commit: "0000000"},
		"All acceptance criteria pass: 1/1 [a b 0.1s]": {Passed: 1, All: 1, Checks: []string{"a b"}},
	} {
		if got, ok := gate.ParseResults(reason); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", reason, got, ok, want)
		}
	}
}

// What stig writes is read back and matches the criteria.
func TestResultsOfVerdict(t *testing.T) {
	checks := []gate.Check{
		{Text: "true; [ 1 = 1 ]", Origin: gate.Fence, Class: gate.Runnable},
		{Text: "for a in 1; do\n: $a\ndone", Origin: gate.Fence, Class: gate.Runnable},
		{Text: "go fly " + strings.Repeat("ö", 80), Origin: gate.Span, Class: gate.Manual, Reason: "no"},
	}
	j := job(t)
	j.Checks = checks
	passing := runJob(t, j).Passing()
	r, ok := gate.ParseResults("Verified: it says All acceptance criteria pass: 1/1 [a 0.1s] at f. " + passing + ".")
	if !ok || r.Passed != 2 || r.All != 3 || r.Differ(checks) != "" {
		t.Errorf("%s\n%+v, %v, %s", passing, r, ok, r.Differ(checks))
	}
	if got := r.Differ(checks[:1]); !strings.HasPrefix(got, `names "for a in`) {
		t.Error(got)
	}
	asked := gate.Check{Text: "go vet", Origin: gate.Span, Class: gate.Runnable}
	if got := r.Differ(append(checks, asked)); got != `leaves out "go vet"` {
		t.Error(got)
	}
	checks[2].Class = gate.Runnable // its program is installed here, and was not there
	if got := r.Differ(checks); got != "" {
		t.Error(got)
	}
	if r.Passed = 3; r.Differ(checks) != "counts 3, names 2" {
		t.Error(r.Differ(checks))
	}
}
