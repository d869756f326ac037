package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stig/cmd/stig/cli"
	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/lint"
	"stig/internal/service"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// awkward is text that reports must escape: any part of the output may come from users.
const awkward = `{"id":"odd-1","title":"t","notes":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | <b>&\"'%,:\u001b]]> é \ud83d\ude00 | 2026-11-01 |\n| mood\u0000 | ` + "\u0085" + ` | soon |\n<!-- /stigmergic-signals -->"}
{"id":"odd-2","title":"t","status":"closed","close_reason":"::error::\r"}
{"id":"odd-3","title":"t","status":"open","dependencies":[{"issue_id":"odd-3","depends_on_id":"odd-3","type":"blocks"},{"issue_id":"odd-3","depends_on_id":"a b\n]]>","type":"blocks"}]}
<<<<<<< ` + "\xff" + `
{"cut`

// outcomes returns the findings of the awkward store, and of an empty one.
func outcomes(t *testing.T) map[string]outcome {
	t.Helper()
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "odd name: 100%, too.jsonl"), filepath.Join(dir, "empty.jsonl")}
	for i, text := range []string{awkward, ""} {
		if err := os.WriteFile(paths[i], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]outcome{}
	for _, path := range paths {
		file, err := jsonl.Read(beads.Place{Path: path, Dir: filepath.Dir(path)})
		if err != nil {
			t.Fatal(err)
		}
		found, err := lint.Check(file, dag.New(file), lint.Rules{Schema: cue.Embedded()})
		if err != nil {
			t.Fatal(path, err)
		}
		all[path] = outcome{&service.Checked{Command: "check", Rules: lint.All(), Found: found, Issues: file.Len()}, true, true}
		file.Close()
	}
	if len(all[paths[0]].Found) < 6 {
		t.Fatalf("only %d diagnostics in the awkward store", len(all[paths[0]].Found))
	}
	return all
}

func quietApp() *cli.App {
	return cli.Front(nil, io.Discard, io.Discard, &workspace.Run{Getenv: func(string) string { return "" }})
}

// TestSARIF checks the keys that readers of a log use; internal/testkit/outside validates logs
// against the published schema.
func TestSARIF(t *testing.T) {
	for path, r := range outcomes(t) {
		text, err := asSARIF(quietApp(), r)
		if err != nil {
			t.Fatal(path, err)
		}
		checkResults(t, path, text, r)
	}
}

// checkResults checks that the log contains the findings.
func checkResults(t *testing.T, path, text string, r outcome) {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Schema != sarifSchema || log.Version != "2.1.0" || len(log.Runs) != 1 || run.Tool.Driver.Name != "stig" {
		t.Errorf("%s: %.300s", path, text)
	}
	if len(run.Results) != len(r.Found) || len(run.Tool.Driver.Rules) != len(lint.All()) {
		t.Errorf("%s: %d results and %d rules", path, len(run.Results), len(run.Tool.Driver.Rules))
	}
	for i, result := range run.Results {
		d := r.Found[i]
		place := result.Locations[0].Physical
		if result.RuleID != d.Rule || run.Tool.Driver.Rules[result.RuleIndex].ID != d.Rule || place.Region.StartLine != d.Line {
			t.Errorf("%s: result %d is not diagnostic %+v", path, i, d)
		}
		if place.Region.StartLine < 1 || !slices.Contains([]string{"error", "warning", "note"}, result.Level) {
			t.Errorf("%s: result %d: %+v", path, i, result)
		}
		if strings.ContainsAny(place.Artifact.URI, " \\") {
			t.Errorf("%s: %q is no URI", path, place.Artifact.URI)
		}
	}
}

// junitElement is what an element of a report may contain.
type junitElement struct {
	children           []string
	required, optional []string // attribute names
	text               bool
}

// junitGrammar is the part of junit-10.xsd, the schema of the Jenkins xUnit plugin, for the
// elements that stig writes. JUnit reports have no single standard; most readers accept what
// this schema allows. The schema itself is not in this repository.
var junitGrammar = map[string]junitElement{
	"testsuites": {children: []string{"testsuite"}, optional: []string{"name", "time", "tests", "failures", "errors"}},
	"testsuite": {children: []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
		required: []string{"name", "tests", "failures", "errors"},
		optional: []string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"}},
	"testcase": {children: []string{"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError", "system-out", "system-err"},
		required: []string{"name"}, optional: []string{"time", "classname", "group"}},
	"failure":    {optional: []string{"type", "message"}, text: true},
	"system-out": {text: true},
}

// followsJUnit validates a report against the grammar.
func followsJUnit(text string) error {
	decoder := xml.NewDecoder(strings.NewReader(text))
	open := []string{}
	for {
		token, err := decoder.Token()
		if err == io.EOF && len(open) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			element, known := junitGrammar[name]
			if !known || token.Name.Space != "" {
				return fmt.Errorf("%s is no element of a report", name)
			}
			if len(open) == 0 && name != "testsuites" || len(open) > 0 && !slices.Contains(junitGrammar[open[len(open)-1]].children, name) {
				return fmt.Errorf("%s may not stand in %v", name, open)
			}
			if err := element.attributes(token.Attr); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			open = append(open, name)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && !junitGrammar[open[len(open)-1]].text && strings.TrimSpace(string(token)) != "" {
				return fmt.Errorf("text in %v", open)
			}
		}
	}
}

func (e junitElement) attributes(given []xml.Attr) error {
	var names []string
	for _, a := range given {
		names = append(names, a.Name.Local)
	}
	for _, name := range names {
		if !slices.Contains(e.required, name) && !slices.Contains(e.optional, name) {
			return fmt.Errorf("attribute %s is not known", name)
		}
	}
	for _, name := range e.required {
		if !slices.Contains(names, name) {
			return fmt.Errorf("attribute %s is missing", name)
		}
	}
	return nil
}

// TestJUnit parses reports. Besides the grammar it checks what readers rely on: correct counts,
// at most one failure a case, and a name for each case.
func TestJUnit(t *testing.T) {
	for path, r := range outcomes(t) {
		text, err := asJUnit(quietApp(), r)
		if err != nil {
			t.Fatal(path, err)
		}
		if err := validJUnit(text, r); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	report, err := asJUnit(quietApp(), outcome{&service.Checked{Rules: lint.All(), Found: []lint.Diagnostic{{Rule: "deadlock", Severity: lint.Error, File: "x", Line: 1, Message: "m"}}}, false, false})
	if err != nil || followsJUnit(report) != nil {
		t.Fatal(err, followsJUnit(report))
	}
	for _, broken := range []string{
		strings.Replace(report, ` errors="0" skipped="0"`, ` skipped="0"`, 1),
		strings.Replace(report, "<testcase ", `<testcase line="1" `, 1),
		strings.Replace(report, "<failure ", "<failure id=\"1\" ", 1),
		strings.ReplaceAll(report, "failure", "system-out"),
		strings.ReplaceAll(report, "testsuites", "suites"),
		strings.ReplaceAll(report, "testcase", "case"),
		strings.Replace(report, "<testcase ", "text<testcase ", 1),
		strings.TrimSuffix(report, "</testsuites>\n"),
	} {
		if broken == report || followsJUnit(broken) == nil {
			t.Errorf("a broken report is taken for a good one:\n%s", broken)
		}
	}
}

func validJUnit(text string, r outcome) error {
	if err := followsJUnit(text); err != nil {
		return err
	}
	var suites junitSuites
	if err := xml.Unmarshal([]byte(text), &suites); err != nil {
		return err
	}
	again, err := xml.MarshalIndent(suites, "", "  ")
	if err != nil {
		return err
	}
	if xml.Header+string(again)+"\n" != text {
		return fmt.Errorf("the report holds what was not read back")
	}
	failures := 0
	for _, c := range suites.Suite.Cases {
		if c.Class == "" || c.Name == "" {
			return fmt.Errorf("a case without a name: %+v", c)
		}
		if c.Failure != nil {
			failures++
		}
	}
	counts := lint.Count(r.Found)
	if want := counts.Error + counts.Warning; failures != want || suites.Failures != want || suites.Suite.Failures != want {
		return fmt.Errorf("%d failures, %d and %d said; want %d", failures, suites.Failures, suites.Suite.Failures, want)
	}
	if n := len(suites.Suite.Cases); suites.Tests != n || suites.Suite.Tests != n || n == 0 {
		return fmt.Errorf("%d cases, %d and %d said", n, suites.Tests, suites.Suite.Tests)
	}
	return nil
}

// TestGitHub checks that every diagnostic is one line, whatever its text.
func TestGitHub(t *testing.T) {
	for path, r := range outcomes(t) {
		text, err := asGitHub(quietApp(), r)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(text, "\n")
		if len(lines)-1 != len(r.Found) {
			t.Errorf("%s: %d lines for %d diagnostics", path, len(lines)-1, len(r.Found))
		}
		for _, line := range lines[:len(lines)-1] {
			command, message, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
			level, properties, _ := strings.Cut(command, " ")
			if level != "error" && level != "warning" && level != "notice" || strings.Count(properties, ",") != 2 ||
				message == "" || bytes.ContainsAny([]byte(message), "\r\x1b\x00") {
				t.Errorf("%s: %q", path, line)
			}
		}
	}
}
