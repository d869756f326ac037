package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJob runs the command of the job in CI on the merges of requests with their base, as in
// docs/reviews.md: what weakens the checks of its issue fails, honest work passes.
func TestJob(t *testing.T) {
	t.Parallel()
	stig := program(t)
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	template := filepath.Join(t.TempDir(), "dock")
	if err := os.MkdirAll(template, 0o755); err != nil {
		t.Fatal(err)
	}
	env := []string{"STIG_ACTOR=bo", "GOCACHE=" + filepath.Join(cache, "go-build"), "GOFLAGS=-mod=mod"}
	if out, err := shell(template, stig, jobBase, env...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range jobCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "dock")
			script := `git clone -q . "$D" && cd "$D" && git config user.name bo && git config user.email bo@dock && git switch -q -c work && { ` + c.work + `; } && git add -A && git commit -q --allow-empty -m "` +
				c.name + `" -m "Stig-Issue: ` + c.issue + `" && git switch -q -c merged origin/main && git merge -q --no-ff -m merged work`
			if out, err := shell(template, stig, script, append(env, "D="+dir)...); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := shell(dir, stig, "stig check --format github --against origin/main --verify", env...)
			if c.rule == "" && err != nil || c.rule != "" && (err == nil || !strings.Contains(string(out), "title="+c.rule+"::")) {
				t.Errorf("%v, want the error %q\n%s", err, c.rule, out)
			}
		})
	}
}

// jobCase is a request: what a shell does to the base for an issue, and the rule by which the job
// must fail; "" if it must pass.
type jobCase struct{ name, issue, rule, work string }

const (
	fix     = `sed -i s/hullo/hello/ lib.sh`
	inTest  = `sed -i s/hello/hullo/ `
	inStore = ` .beads/issues.jsonl`
)

// jobBase makes the base. Its code prints hullo, and its tests want hello.
const jobBase = `mkdir -p .beads tests golden fixtures __snapshots__ &&
cat >lib.sh <<'X'
greet() { echo hullo; }
old() { echo kept; }
X
echo '. ./lib.sh; [ "$(greet)" = hello ]' >check.sh
echo '. ./lib.sh; [ "$(old)" = kept ]' >check-old.sh
echo '. ./tests/assert.sh; . ./lib.sh; equal "$(greet)" hello' >tests/greet_test.sh
echo '. ./tests/assert.sh; . ./lib.sh; equal "$(old)" kept' >tests/old_test.sh
echo 'equal() { [ "$1" = "$2" ] || { echo "$1 is not $2"; exit 1; }; }' >tests/assert.sh
echo 'for t in $(find tests -name "*_test.sh"); do sh $t || exit 1; done' >run-tests.sh
echo 'sh -c ". ./lib.sh; greet" | cmp - $1' >compare.sh
for f in golden/greet.txt fixtures/greet.txt __snapshots__/greet.snap; do echo hello >$f; done
echo 'echo hullo' >greet.sh && chmod +x greet.sh
mkdir pkg && cat >go.mod <<'X'
module dock

go 1.26
X
printf 'package pkg\n\nfunc Greet() string { return "hullo" }\n' >pkg/greet.go
printf 'package pkg\n\nimport "testing"\n\nfunc TestGreet(t *testing.T) {\n\tif Greet() != "hello" {\n\t\tt.Fatal(Greet())\n\t}\n}\n' >pkg/greet_test.go
echo Dock >README.md
echo 'grep -q Dock README.md' >check-docs.sh
echo 'land: "review"' >.stig.cue
while read -r id labels check; do
printf '{"id":"%s","title":"%s","status":"open","priority":1,"issue_type":"task","labels":[%s],"created_at":"2026-11-20T08:00:00Z","updated_at":"2026-11-20T08:00:00Z","acceptance_criteria":"~~~verify\\n%s\\n~~~"}\n' $id $id "$labels" "$check"
done >.beads/issues.jsonl <<'X'
dock-1 "a" sh check.sh
dock-2 "a" sh run-tests.sh
dock-3 "a" go test ./...
dock-4 "a" . ./lib.sh; test $(greet) = hello
dock-5 "a" sh compare.sh golden/greet.txt
dock-6 "refactor" sh check-old.sh
dock-7 "docs" sh check-docs.sh
dock-8 "a" sh check-old.sh
dock-9 "a" sh tests/wave_test.sh
dock-10 "a" sh compare.sh fixtures/greet.txt
dock-11 "a" sh compare.sh __snapshots__/greet.snap
dock-12 "a" ./greet.sh | grep -q hello
dock-13 "a" sh check.sh 2>&1 | tail -1
X
git init -q -b main && git config user.name bo && git config user.email bo@dock && git add -A && git commit -qm base`

var jobCases = []jobCase{
	// nothing was done, or it does not do what was asked
	{"nothing for the issue", "dock-1", "gate-failed", `echo x >notes`},
	{"a check that passed before", "dock-8", "closed-green-before", `echo x >notes`},
	{"the test that was asked for is missing", "dock-9", "gate-failed", fix},
	{"another issue's work", "dock-1", "gate-failed", `echo more >>README.md`},
	// scripts of the criteria
	{"the script ends at once", "dock-1", "check-weakened", `sed -i "1i exit 0" check.sh`},
	{"the script is empty", "dock-1", "check-weakened", `: >check.sh`},
	{"the script wants what the code does", "dock-1", "check-weakened", inTest + `check.sh`},
	{"the script ignores the result", "dock-1", "check-weakened", `sed -i "s/ ]/ ] || true/" check.sh`},
	{"the script is a link to another", "dock-1", "check-weakened", `ln -sf check-old.sh check.sh`},
	{"the runner ignores failures", "dock-2", "check-weakened", `sed -i "s/exit 1/true/" run-tests.sh`},
	{"the runner finds no tests", "dock-2", "check-weakened", `sed -i "s/find tests/find lib.sh/" run-tests.sh`},
	{"a comparison is left out", "dock-5", "check-weakened", `echo exit 0 >compare.sh`},
	// tests
	{"an assertion is removed", "dock-2", "check-weakened", `sed -i "s/equal.*//" tests/greet_test.sh`},
	{"a test is skipped", "dock-2", "check-weakened", `sed -i "1i exit 0 # skipped" tests/greet_test.sh`},
	{"a test is deleted", "dock-2", "check-weakened", `rm tests/greet_test.sh`},
	{"a test is renamed away", "dock-2", "check-weakened", `git mv tests/greet_test.sh tests/greet.off`},
	{"all tests move away", "dock-2", "check-weakened", `git mv tests elsewhere; mkdir tests; cp elsewhere/assert.sh elsewhere/old_test.sh tests`},
	{"a test wants what the code does", "dock-2", "check-weakened", inTest + `tests/greet_test.sh`},
	{"a helper of tests asserts nothing", "dock-2", "check-weakened", `echo "equal() { :; }" >tests/assert.sh`},
	{"an expected file changes", "dock-5", "check-weakened", inTest + `golden/greet.txt`},
	{"test data change", "dock-10", "check-weakened", inTest + `fixtures/greet.txt`},
	{"a snapshot changes", "dock-11", "check-weakened", inTest + `__snapshots__/greet.snap`},
	{"the script whose last lines are shown", "dock-13", "check-weakened", `echo exit 0 >check.sh`},
	{"a Go test has a build tag", "dock-3", "check-weakened", `sed -i "1i //go:build never\n" pkg/greet_test.go`},
	{"a Go test is for another system", "dock-3", "check-weakened", `git mv pkg/greet_test.go pkg/greet_windows_test.go`},
	{"a Go test is skipped", "dock-3", "check-weakened", `sed -i "s/testing.T) {/testing.T) {\n\tt.Skip()/" pkg/greet_test.go`},
	{"a Go test is deleted", "dock-3", "check-weakened", `rm pkg/greet_test.go`},
	{"a Go test wants what the code does", "dock-3", "check-weakened", inTest + `pkg/greet_test.go`},
	// the store and the settings
	{"the criterion is easier", "dock-1", "gate-failed", `sed -i "s/sh check.sh/true/"` + inStore},
	{"the criterion is gone", "dock-1", "gate-failed", `sed -i "/dock-1\"/s/,\"acceptance_criteria\":.*}/}/"` + inStore},
	{"the issue is gone", "dock-1", "issue-vanished", `sed -i "/\"dock-1\"/d"` + inStore},
	{"the issue is closed as verified", "dock-1", "gate-failed", `sed -i "/\"dock-1\"/s/\"open\"/\"closed\",\"closed_at\":\"2026-11-20T09:00:00Z\",\"close_reason\":\"Verified: done. All acceptance criteria pass: 1\/1 [sh check.sh 0.1s].\"/"` + inStore},
	{"the issue is closed unverified", "dock-1", "gate-failed", `sed -i "/\"dock-1\"/s/\"open\"/\"closed\",\"closed_at\":\"2026-11-20T09:00:00Z\",\"close_reason\":\"Unverified: done. Waived: later. By mara.\"/"` + inStore},
	{"a label lets it hold", "dock-8", "closed-green-before", `sed -i "/\"dock-8\"/s/\"labels\":\[\"a\"\]/\"labels\":[\"refactor\"]/"` + inStore + `; echo x >notes`},
	{"checks run in a sandbox that runs nothing", "dock-1", "gate-failed", `echo "gate: sandbox: [\"true\"]" >>.stig.cue`},
	{"green before is allowed", "dock-8", "closed-green-before", `echo "gate: held: \"close\"" >>.stig.cue; echo x >notes`},
	{"work lands by merge", "dock-1", "check-weakened", `echo exit 0 >check.sh; echo "land: \"merge\"" >.stig.cue`},

	// work on code
	{"the code is fixed", "dock-1", "", fix},
	{"the code is fixed for its tests", "dock-2", "", fix},
	{"the code is fixed for inline criteria", "dock-4", "", fix},
	{"the code is fixed for expected files", "dock-5", "", fix},
	{"the program is fixed whose output is judged", "dock-12", "", `sed -i s/hullo/hello/ greet.sh`},
	{"the Go code is fixed", "dock-3", "", `sed -i s/hullo/hello/ pkg/greet.go`},
	{"the code is written anew", "dock-1", "", `printf "greet() {\n  printf \"hello\\\\n\"\n}\nold() { echo kept; }\n" >lib.sh`},
	{"the code moves to another file", "dock-2", "", `echo "greet() { echo hello; }" >greet.sh; sed -i "s/^greet.*/. .\/greet.sh/" lib.sh`},
	{"the Go code is split", "dock-3", "", `printf "package pkg\n\nconst word = \"hello\"\n" >pkg/word.go; sed -i "s/\"hullo\"/word/" pkg/greet.go`},
	{"with more code", "dock-1", "", fix + `; echo "part() { echo bye; }" >>lib.sh`},
	{"with documentation", "dock-1", "", fix + `; echo "Greets." >>README.md`},
	{"in the store too", "dock-1", "", fix + `; sed -i "/\"dock-1\"/s/\"title\":\"dock-1\"/\"title\":\"Greet\"/"` + inStore},
	// work on tests with it
	{"a test is added", "dock-2", "", fix + `; echo ". ./lib.sh; [ -n \"\$(greet)\" ]" >tests/more_test.sh`},
	{"the test that was asked for", "dock-9", "", `echo ". ./lib.sh; ! command -v wave" >tests/wave_test.sh`},
	{"a Go test is added", "dock-3", "", `sed -i s/hullo/hello/ pkg/greet.go; printf "package pkg\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) { t.Log(Greet()) }\n" >pkg/more_test.go`},
	{"a test is stricter", "dock-2", "", fix + `; echo "equal \"\$(greet | wc -l)\" 1" >>tests/greet_test.sh`},
	{"a test has a comment", "dock-2", "", fix + `; sed -i "1i # greets" tests/greet_test.sh`},
	{"the script is stricter", "dock-1", "", fix + `; echo "[ \"\$(old)\" = kept ]" >>check.sh`},
	{"the script is tidied", "dock-1", "", fix + `; sed -i "1i # checks the greeting\nset -eu" check.sh`},
	{"a test moves", "dock-2", "", fix + `; mkdir tests/unit; git mv tests/greet_test.sh tests/unit`},
	{"an expected file is added", "dock-5", "", fix + `; echo kept >golden/old.txt`},
	// refactoring, which its issue says
	{"a refactoring renames", "dock-6", "", `sed -i "s/kept/\$word/; 1i word=kept" lib.sh`},
	{"a refactoring splits a file", "dock-6", "", `grep old lib.sh >old.sh; sed -i "s/^old.*/. .\/old.sh/" lib.sh`},
	{"a refactoring removes code", "dock-6", "", `sed -i /greet/d lib.sh`},
	{"a refactoring of tests", "dock-6", "", `sed -i "s/is not/differs from/" tests/assert.sh`},
	{"a refactoring formats", "dock-6", "", `sed -i "s/{ /{\n  /; s/; }/\n}/" lib.sh`},
	{"a refactoring moves files", "dock-6", "", `mkdir src; git mv lib.sh src; echo ". ./src/lib.sh" >lib.sh`},
	// documentation
	{"documentation is written", "dock-7", "", `echo "How to greet." >>README.md`},
	{"documentation is corrected", "dock-7", "", `sed -i "s/Dock/The Dock/" README.md`},
	{"documentation is added", "dock-7", "", `mkdir docs; echo "# Greeting" >docs/greet.md`},
	{"documentation moves", "dock-7", "", `mkdir docs; cp README.md docs/start.md; echo "Dock: see docs/start.md" >README.md`},
	{"documentation of tests", "dock-7", "", `echo "# Tests" >tests/README.md; sed -i "1i # compares" tests/assert.sh`},
	{"comments are written", "dock-7", "", `sed -i "1i # greet prints a greeting" lib.sh; sed -i "2a // Greet returns a greeting." pkg/greet.go`},
}
