package gate_test

import (
	"os/exec"
	"strings"
	"testing"

	"stig/internal/gate"
)

// TestStrict checks where a script is made to end, and that nothing else in it changes.
func TestStrict(t *testing.T) {
	for text, want := range map[string]string{
		"! a":                             "! a",
		"a && b":                          "a && b",
		"a; b":                            "a; b",
		"! a\nb":                          "! a || (exit $?)\nb",
		"! a | b 2>&1 # why\nc":           "! a | b 2>&1 || (exit $?) # why\nc",
		"! a; b":                          "! a || (exit $?); b",
		"a && b \\\n  && c\nd":            "a && b \\\n  || (exit $?); c\nd",
		"a && b || c\nd":                  "a && b || c\nd",
		"a && b &\nwait":                  "a && b &\nwait",
		"a && b <<E\nx && y\nE\nc":        "a || (exit $?); b <<E\nx && y\nE\nc",
		"! grep ü f\n! grep ß g\nc":       "! grep ü f || (exit $?)\n! grep ß g || (exit $?)\nc",
		"for f in x; do ! a $f; done":     "for f in x; do ! a $f || (exit $?); done",
		"while ! a; do b; done; c":        "while ! a; do b; done; c",
		"if a && b; then ! c; fi; d":      "if a && b; then ! c || (exit $?); fi; d",
		"if { ! a; b; }; then c; fi; d":   "if { ! a; b; }; then c; fi; d",
		"if a; then b; else c && d; fi":   "if a; then b; else c || (exit $?); d; fi",
		"case x in x) a && b ;; esac":     "case x in x) a || (exit $?); b ;; esac",
		"(! a; b)":                        "(! a || (exit $?); b)",
		"(! a; b) || c\nd":                "(! a; b) || c\nd",
		"! { a && b; c; }\nd":             "! { a && b; c; } || (exit $?)\nd",
		"cd a && { ! b; c; }\nd":          "cd a || (exit $?); { ! b || (exit $?); c; }\nd",
		"f() { ! a; b; }\nf":              "f() { ! a; b; }\nf",
		"a | while read x; do ! b; done":  "a | while read x; do ! b || (exit $?); done",
		"x=$(! a; b)\nc":                  "x=$(! a; b)\nc",
		"set +x\n! a\nb":                  "set +x\n! a || (exit $?)\nb",
		"set +e\n! a\nb":                  "set +e\n! a\nb",
		"! a\nb )":                        "! a\nb )",
		"a && ! b\nc":                     "a || (exit $?); ! b || (exit $?)\nc",
		"a && b & c":                      "a && b & c",
		"a && b | c\nd":                   "a || (exit $?); b | c\nd",
		"":                                "",
		"grep x f && exit 1\nb":           "grep x f && exit 1\nb",
		"a && { echo; exit 1; }\nb":       "a && { echo; exit 1; }\nb",
		"[ -f .env ] && . .env\nb":        "[ -f .env ] && . .env\nb",
		"[ -n x ] && export Y=1\nb":       "[ -n x ] && export Y=1\nb",
		"[ -n x ] && Y=1\nb":              "[ -n x ] && Y=1\nb",
		"[ -f a ] && [ -f b ]\necho done": "[ -f a ] || (exit $?); [ -f b ]\necho done",
	} {
		if got := gate.StrictScript(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestStrictRuns checks with a real shell that these scripts fail, did not before, and that
// what failed before still fails.
func TestStrictRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	fails := func(text string) bool { return exec.Command(bash, "-euo", "pipefail", "-c", text).Run() != nil }
	for _, script := range []string{
		"true && (false; true)\ntrue", "true && { false; true; }; true", "f() { false; true; }; true && f; true",
		"true && for x in 1; do false; true; done; true", "true && true | { false; true; }; true",
	} {
		if !fails(script) || fails(script) && !fails(gate.StrictScript(script)) {
			t.Errorf("%s: %q passes", script, gate.StrictScript(script))
		}
	}
	for _, script := range []string{
		"! true\necho end", "false && true\necho end", "true && false && true; echo end",
		"for x in 1 2; do ! test $x = 1; done", "if true; then false && true; fi; echo end",
		"! cat <<E\nx\nE\necho end", "(! true; echo end)", "seq 2 | while read x; do ! test $x = 1; done",
	} {
		if fails(script) || !fails(gate.StrictScript(script)) {
			t.Errorf("%s: as it is it must pass, and strict %q fail", script, strings.TrimSpace(gate.StrictScript(script)))
		}
	}
}
