//go:build unix

package gate_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stig/internal/gate"
	"stig/internal/git"
)

// A check that passes after the work is compared with its result before.
func TestAgainst(t *testing.T) {
	const once = "if test -f seen; then exit 0; fi; touch seen; exit 1"
	j := job(t, "test -f work", "true", "./tool", once, "echo new for $STIG_ISSUE")
	before, err := gate.RunBefore(t.Context(), func() gate.Job { b := j; b.Checks = j.Checks[:4]; return b }())
	if err != nil {
		t.Fatal(err)
	}
	if before.Has(j.Issue, j.Checks) || !before.Has(j.Issue, j.Checks[:4]) || !before.Passed(j.Issue, j.Checks[1]) || before.Passed(j.Issue, j.Checks[3]) {
		t.Errorf("before %v", before)
	}
	j.Checks = append(j.Checks, gate.Check{Text: "touch work; printf 'exit 0' >tool; chmod +x tool", Class: gate.Runnable})
	j.Checks = append(j.Checks[5:], j.Checks[:5]...)
	v := runJob(t, j).Against(before)
	var got []string
	for _, o := range v.Outcomes() {
		got = append(got, o.Difference)
	}
	if want := []string{gate.Unknown, gate.Turned, gate.Held, gate.New, gate.Flaky, gate.Unknown}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if said := v.Passing(); !v.ShowsWork() || !strings.HasPrefix(said, "All acceptance criteria pass: 6/6 (1 turned, 1 new, 1 held, 1 flaky, 2 unknown) [") || !namesResults(said) || gate.SaysGreenBefore(said) {
		t.Error(said)
	}
	if said := runJob(t, j).Passing(); strings.Contains(said, "(") {
		t.Errorf("without a run before: %s", said)
	}
	j.Checks = []gate.Check{{Text: "true", Class: gate.Runnable, Held: true}}
	v = runJob(t, j).Against(before)
	if said := v.Passing(); v.ShowsWork() || !v.MayHold() || !gate.SaysGreenBefore(said) || !strings.Contains(said, "1/1 (1 held) [true ") || !strings.HasSuffix(said, "; green before the work too") {
		t.Error(said)
	}
	j.Checks = append(j.Checks, gate.Check{Text: "test -f work", Class: gate.Runnable})
	if v := runJob(t, j).Against(before); v.MayHold() || !v.ShowsWork() {
		t.Error("a check beside a held one is not held")
	}
	j.Checks = append(j.Checks[:1], gate.Check{Text: "ask", Class: gate.Manual})
	if said := runJob(t, j).Against(before).Passing(); !strings.HasPrefix(said, "1 of 2 checked (1 held); not run: ask [") || !namesResults(said) {
		t.Error(said)
	}
}

// What is stored under a name is extended, and read back; an invalid file counts as nothing.
func TestBefores(t *testing.T) {
	s := gate.Befores{Dir: filepath.Join(t.TempDir(), "before")}
	if got := s.Load("a/b"); got != nil {
		t.Errorf("nothing is %v", got)
	}
	for _, b := range []gate.Before{{"x": {1, 0}}, {"y": {0}}} {
		if err := s.Save("a/b", b); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Load("a/b"); !reflect.DeepEqual(got, gate.Before{"x": {1, 0}, "y": {0}}) {
		t.Errorf("got %v", got)
	}
	if err := s.Forget("a/b"); err != nil || s.Load("a/b") != nil || s.Forget("a/b") != nil {
		t.Errorf("not forgotten: %v", err)
	}
}

// A verdict counts the checks that passed, failed, were not run, and are manual.
func TestCounts(t *testing.T) {
	j := job(t, "true", "false", "true", "true")
	j.Checks = append(j.Checks, gate.Check{Text: "look at it", Class: gate.Manual}, gate.Check{Text: "a word", Class: gate.Mention})
	v := runJob(t, j)
	if got, want := v.Counts(), (gate.Counts{Passed: 1, Failed: 1, NotRun: 2, Manual: 1}); got != want || got.String() != "1 passed, 1 failed, 2 not run, 1 manual" {
		t.Errorf("got %+v, %s", got, got)
	}
	text, err := json.Marshal(v)
	if err != nil || !strings.Contains(string(text), `"counts":{"passed":1,"failed":1,"not_run":2,"manual":1}`) {
		t.Errorf("%s, %v", text, err)
	}
	j.Checks[1].Class, j.Checks[1].Reason = gate.Refused, "git push"
	if v := runJob(t, j); v.Passed() || v.Counts().Failed != 1 {
		t.Errorf("a refused check counts as %+v", v.Counts())
	}
}

// Of the files that the work changed, those are named that decide what the checks show.
func TestReads(t *testing.T) {
	checks := []gate.Check{}
	for _, text := range []string{"sh ./check.sh", "tools/lint --all", "make test", "cd sub && python3 -u run.py", "test -f out.txt", "npm test", "go test ./...",
		"sh shown.sh 2>&1 | tee log | tail -5", "test \"$(./app.sh)\" = hello", "./out.py --all | grep -q hello", "diff <(python3 gen.py) want.txt", ". ./lib.sh; greet"} {
		checks = append(checks, gate.Check{Text: text, Class: gate.Runnable})
	}
	for path, want := range map[string]bool{
		"check.sh": true, "tools/lint": true, "Makefile": true, "sub/run.py": true, "package.json": true, "shown.sh": true,
		"app.sh": false, "out.py": false, "gen.py": false, "lib.sh": false,
		"out.txt": false, "run.py": false, "main.go": false, "lint": false,
		"main_test.go": true, "tests/a.txt": true, "src/a.test.ts": true, "pkg/test_x.py": true, "golden/a.txt": true, "ui/__snapshots__/a.snap": true, "conftest.py": true, "jest.config.js": true, "contest.go": false, "latest/x.go": false,
	} {
		if got := gate.Reads(checks, []git.Change{{Path: path, Was: true}}); (len(got) == 1) != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	for path, want := range map[string]bool{"check.sh": true, "main_test.go": false} { // made by the work
		if got := gate.Reads(checks, []git.Change{{Path: path}}); (len(got) == 1) != want {
			t.Errorf("%s, made by the work: %v, want %v", path, got, want)
		}
	}
	for word, want := range map[string]string{"grep x vendor/lib/a.txt": "vendor/lib", "ls vendor": "vendor/lib", "cat --from=vendor/lib/b": "vendor/lib", "ls vendor/library": "", "cd vendor && ls lib": "vendor/lib"} {
		if got := gate.Misses([]gate.Check{{Text: word, Class: gate.Runnable}}, []string{"vendor/lib"}); got != want {
			t.Errorf("%s: misses %q, want %q", word, got, want)
		}
	}
}
