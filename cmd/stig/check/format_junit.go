package check

import (
	"encoding/xml"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/workspace"
)

// The parts of a JUnit report that stig writes. All readers support them.
type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// asJUnit writes a test case for each diagnostic, failed if it fails the check, and a passed
// one for each rule without diagnostics.
func asJUnit(a *cli.App, r outcome) (string, error) {
	broken := map[string]bool{}
	for _, d := range r.Found {
		broken[d.Rule] = true
	}
	suite := junitSuite{Name: "stig " + r.Command}
	for _, rule := range r.Rules {
		if !broken[rule.ID] {
			suite.Cases = append(suite.Cases, junitCase{Class: rule.ID, Name: "nothing breaks the rule"})
		}
	}
	for _, d := range r.Found {
		suite.Cases = append(suite.Cases, junitCaseOf(a, d, r.fails(d.Severity)))
		if r.fails(d.Severity) {
			suite.Failures++
		}
	}
	suite.Tests = len(suite.Cases)
	text, err := xml.MarshalIndent(junitSuites{Tests: suite.Tests, Failures: suite.Failures, Suite: suite}, "", "  ")
	return xml.Header + string(text) + "\n", err
}

func junitCaseOf(a *cli.App, d lint.Diagnostic, fails bool) junitCase {
	c := junitCase{Class: d.Rule, Name: workspace.Visible(d.Place() + ": " + d.Message)}
	lines := []string{string(d.Severity) + ": " + c.Name, "at " + inRepository(a, d.File)}
	if d.Hint != "" {
		lines = append(lines, "hint: "+workspace.Visible(d.Hint))
	}
	text := strings.Join(lines, "\n")
	if fails {
		c.Failure = &junitFailure{Type: string(d.Severity), Message: workspace.Visible(d.Message), Text: text}
	} else {
		c.Out = text
	}
	return c
}
