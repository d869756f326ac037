package gate_test

import (
	"strings"
	"testing"

	"stig/internal/gate"
)

// What always exits with 0 is reported; what only looks like it is not.
func TestCannotFail(t *testing.T) {
	for script, want := range map[string]string{
		"true":                                "true succeeds",
		": x":                                 ": succeeds",
		"echo done; printf x":                 "printf succeeds",
		"test 1 = 1":                          "it compares",
		"[ a != b ]":                          "it compares",
		"[[ 1 -eq 1 ]]":                       "it compares",
		"go test ./... || true":               "|| true hides",
		"go test ./... || echo failed":        "|| echo hides",
		"{ go vet ./...; go test; } || :":     "|| : hides",
		"go test ./... &":                     "nothing waits",
		"(exit 0)":                            "exit 0",
		"export X=1":                          "export succeeds",
		"go() { true; }\ngo test ./...":       "a function replaces go",
		"test() { return 0; }; test -f x":     "a function replaces test",
		"go test ./...":                       "",
		"go test ./... || exit 1":             "",
		"go test ./... || false":              "",
		"test -f go.mod":                      "",
		"[ -n \"$HOME\" ]":                    "",
		"test \"$(ls | wc -l)\" = 3":          "",
		"[[ -s go.sum ]]":                     "",
		"! true":                              "",
		"x=$(go vet ./...)":                   "",
		"echo x > notes":                      "",
		"go vet ./...; true":                  "",
		"true && go vet ./...":                "",
		"check() { go vet ./...; }\ncheck":    "",
		"echo done | grep done":               "",
		"for f in a b; do go vet ./$f; done":  "",
		"if go vet ./...; then go test; fi":   "",
		"cat <<EOF | grep tide\ntrue\nEOF":    "",
		"set -x\ngo vet ./...":                "",
		"sleep 1; curl -f http://localhost:1": "",
	} {
		check := gate.Plan("```verify\n" + script + "\n```")[0]
		if !strings.HasPrefix(check.CannotFail, want) || want == "" && check.CannotFail != "" {
			t.Errorf("%s: %q, want %q", script, check.CannotFail, want)
		}
	}
}

func TestExpect(t *testing.T) {
	for _, c := range []struct {
		how, text, output string
		want              bool
	}{
		{"", "", "whatever", true},
		{gate.Equals, "999", "  999\n", true},
		{gate.Equals, "999", "1999\n", false},
		{gate.Equals, "", " \n", true},
		{gate.Equals, "", "M x\n", false},
		{gate.Contains, "200", "HTTP/2 200\r\n", true},
		{gate.Contains, "200", "12003\n", false},
		{gate.Contains, "200", "12003 200", true},
		{gate.Contains, "low", "the tide is lower", false},
		{gate.Contains, "v1.2", "tide v1.2-rc", true},
		{gate.Contains, "1.2", "tide v1.2", true},
		{gate.Contains, "high tide", "\x1b[32mhigh\x1b[0m tide", true},
		{gate.Contains, `{"ok":true}`, `x{"ok":true}y`, true},
		{gate.Contains, "200", "", false},
	} {
		if got := (gate.Expect{How: c.how, Text: c.text}).Met(c.output); got != c.want {
			t.Errorf("%s %q in %q: %v", c.how, c.text, c.output, got)
		}
	}
}
