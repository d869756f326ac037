//go:build unix

package gate_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A failed check names the line of its script, and the command.
func TestFailedCommand(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a line of several":    {"true\ntest a = b\ntrue", "line 2: test a = b"},
		"one line":             {"test a = b", "test a = b"},
		"one of two on a line": {"true; test a = b", "true; test a = b: test a = b"},
		"nested functions":     {"f() {\n  true\n  false\n}\ng() {\n  f\n}\ng\ntrue", "line 3: false"},
		"pipeline":             {"true\necho a |\n  grep b |\n  cat\ntrue", "line 4: echo a | grep b | cat"},
		"subshell":             {"true\n(\n  true\n  test 1 = 2\n)\ntrue", "line 4: test 1 = 2"},
		"command of lines":     {"true\ntest 1 = \\\n  2\ntrue", "line 2: test 1 = 2"},
		"set +e":               {"set +e\nfalse\ntrue\ntest x = y", "line 4: test x = y"},
		"exit by itself":       {"set +e\nfalse\nexit 3", "line 3: exit 3"},
		"exit 1 by itself":     {"set +e\nfalse\necho a\nexit 1", "line 4: exit 1"},
		"here-document":        {"cat <<E\nhi\nE\ngrep zz <<F\nab\nF\ntrue", "line 4: grep zz <<F"},
		"unset":                {"true\necho \"$NO_SUCH_DEPTH\"", `line 2: echo "$NO_SUCH_DEPTH"`},
		"substitution before":  {"x=$(false; true)\nif y=$(false; echo 1); then true; fi\n[[ 1 = 2 ]]", "line 3: [[ 1 = 2 ]]"},
		"in a substitution":    {"true\nx=$(\n  test 1 = 2\n)\ntrue", "line 3: test 1 = 2"},
		"a part before &&":     {"true\ntest 1 = 2 && true\ntrue", "line 2: test 1 = 2 && true"},
		"the last of &&":       {"true\ntrue &&\n  test 1 = 2", "line 3: test 1 = 2"},
		"sourced":              {"true\nsource ./lib.sh\ntrue", "true …: ./lib.sh, line 2: test 3 = 4"},
		"redirected":           {"true\n{ true; test 1 = 2; } 2>/dev/null\ntrue", "line 2: test 1 = 2"},
		"a trap of its own":    {"trap 'true' EXIT\ntest 1 = 2", "line 2: test 1 = 2"},
		"loop":                 {"for i in 1 2; do\n  test $i = 1\ndone", "line 2: test $i = 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := job(t, c.script)
			if err := os.WriteFile(filepath.Join(j.Root, "lib.sh"), []byte("true\ntest 3 = 4\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			o, _ := one(t, j)
			if got := o.Fault(); o.Exit == 0 || got != c.want {
				t.Errorf("%q\nfails at %q\nwant     %q", c.script, got, c.want)
			}
		})
	}
}

// A program that is missing when its turn comes is named.
func TestProgramNotFound(t *testing.T) {
	for script, want := range map[string]string{
		"bin/app --version":         "bin/app: not found",
		"true\nno-such-program -v":  "no-such-program: not found",
		"A=1 ./missing.sh":          "./missing.sh: not found",
		"true | no-such-program":    "no-such-program: not found",
		"sh -c no-such-program-too": "",
	} {
		if o, _ := one(t, job(t, script)); o.Exit != 127 || o.Reason != want {
			t.Errorf("%q: exit %d, %q; want 127, %q", script, o.Exit, o.Reason, want)
		}
	}
}
