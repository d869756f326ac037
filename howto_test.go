package stig_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// addition is what CONTRIBUTING.md says to do to add a rule of check: an insertion
// in each of three files.
var addition = []struct{ file, behind, text string }{
	{"lint/rule_table_work.go", "var linkRules = []Rule{", `{
	ID: "title-shouts", Severity: Warning,
	Summary: "a title ends in an exclamation mark",
	Why:     "Urgency is the priority of the issue.",
	Example: "Do it!",
	Fix:     "Remove the mark, and set the priority.",
}, `},
	{"lint/links.go", "\n)\n", `
func shouts(s *subject) {
	if strings.HasSuffix(s.issue.Title, "!") {
		s.add("title-shouts", 0, 0, "the title ends in an exclamation mark", "set the priority")
	}
}
`},
	{"lint/lint.go", "var content = []judge{\n", "\tshouts,\n"},
}

// TestHowToAdd adds a rule to the program as CONTRIBUTING.md says, without writing
// to the tree, and runs it.
func TestHowToAdd(t *testing.T) {
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, a := range addition {
		text, err := os.ReadFile(a.file)
		if err != nil {
			t.Fatal(err)
		}
		before, after, found := strings.Cut(string(text), a.behind)
		if !found {
			t.Fatalf("%s: no %q: CONTRIBUTING.md says to add a rule there", a.file, a.behind)
		}
		copied := filepath.Join(dir, filepath.Base(a.file))
		if err := os.WriteFile(copied, []byte(before+a.behind+a.text+after), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(here, filepath.FromSlash(a.file))] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	store := `{"id":"a-1","title":"Do it!","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-01T09:00:00Z","updated_at":"2026-11-01T09:00:00Z"}` + "\n"
	for name, text := range map[string]string{"overlay.json": string(overlay), "issues.jsonl": store} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "stig")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./cmd/stig")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for command, want := range map[string]string{
		"explain title-shouts": "Urgency is the priority of the issue.",
		"lint a-1":             "title-shouts",
	} {
		out, _ := exec.Command(program, append([]string{"--store", filepath.Join(dir, "issues.jsonl")}, strings.Fields(command)...)...).CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("stig %s: no %q in\n%s", command, want, out)
		}
	}
}
