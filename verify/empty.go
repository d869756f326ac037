package verify

import (
	"regexp"
	"strings"
	"sync"
)

// RanNoTest reports whether the check passed although every suite whose end stands in
// its output ran no test: a name that matches none is mostly a test that was not
// written.
func (o Outcome) RanNoTest() bool {
	if !o.Passed() || strings.Count(o.Tail, "\n")+1 >= tailLines {
		return false // of a longer output the first lines are missing
	}
	none := false
	for line := range strings.Lines(o.Tail) {
		ran, tells := ranTests(strings.TrimRight(line, " \r\n"))
		if ran {
			return false
		}
		none = none || tells
	}
	return none
}

// ranTests reads whether tests ran from a line that tells how many did: of go test, cargo
// test, unittest, mocha, rspec and node.
func ranTests(line string) (ran, tells bool) {
	if strings.HasPrefix(line, "ok  \t") {
		return !strings.HasSuffix(line, "[no tests to run]"), true
	}
	count := testCount().FindStringSubmatch(line)
	if count == nil {
		return false, false
	}
	return strings.Trim(strings.Join(count[1:], ""), "0") != "", true
}

var testCount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:running (\d+) tests?$|Ran (\d+) tests? in |\s+(\d+) passing\b|(\d+) examples?, |(?:#|ℹ) tests (\d+)$)`)
})
