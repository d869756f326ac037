//go:build e2e

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// additions are the insertions that CONTRIBUTING.md describes for adding a feature, in at most
// three hand-written files.
var additions = []struct {
	thing string
	at    []insertion
}{
	{"a rule of check", []insertion{
		{"internal/lint/rule_table_work.go", "var linkRules = []Rule{", `{
	ID: "title-shouts", Severity: Warning,
	Summary: "a title ends in an exclamation mark",
	Why:     "Urgency is the priority of the issue.",
	Example: "Do it!",
	Fix:     "Remove the mark, and set the priority.",
}, `},
		{"internal/lint/links.go", "\n)\n", `
func shouts(s *subject) {
	if strings.HasSuffix(s.issue.Title, "!") {
		s.add("title-shouts", 0, 0, "the title ends in an exclamation mark", "set the priority")
	}
}
`},
		{"internal/lint/lint.go", "var content = []judge{\n", "\tshouts,\n"},
	}},
	{"a signal", []insertion{
		{schema, "package stigmergic\n\nimport \"time\"\n", "\n#Novelty: \"known\" | \"new\" | error(\"must be one of known, new\")\n"},
		{schema, "regression_guard!:   #RegressionGuard\n", "\tnovelty!: #Novelty\n"},
		{schema, "regression_guard:   \"none\"\n", "\tnovelty: \"known\"\n"},
		{"signals/signals.go", "\tRegressionGuard\n", "\tNovelty\n"},
		{"schemas/stig/output.cue", "regression_guard?:   _\n", "\tnovelty?: _\n"},
		// What go generate writes from the schema:
		{"signals/schema_gen.go", "RegressionGuard:   \"regression_guard\",\n", "\tNovelty: \"novelty\",\n"},
		{"signals/schema_gen.go", "RegressionGuard: {\"none\", \"manual\", \"automated\", \"runtime\"},\n", "\tNovelty: {\"known\", \"new\"},\n"},
		{"signals/schema_gen.go", "RegressionGuard:   \"none\",\n", "\tNovelty: \"known\",\n"},
	}},
	{"a format of check", []insertion{
		{"cmd/stig/check/format.go", "var formats = []format{\n", "\t{\"tide\", asText},\n"},
	}},
	{"a kind of section", []insertion{
		{"signals/kind.go", "var kinds = []Kind{\n", "\t{Name: \"tide-context\", Union: Parts},\n"},
	}},
}

const schema = "schemas/stigmergic-workflow/schema.cue"

// insertion is a text inserted after another one in a file.
type insertion struct{ file, behind, text string }

// added is the store for the program with the additions.
const added = `{"id":"a-1","title":"Do it!","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-01T09:00:00Z","updated_at":"2026-11-01T09:00:00Z"}
{"id":"a-2","title":"Do that","notes":"TABLE\n\nTIDE(2026-11-03)\nit ebbs\nEND\n\n---\n\nTABLE\n\nTIDE(2026-11-02)\nit flows\nEND","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-01T09:00:00Z","updated_at":"2026-11-01T09:00:00Z"}
`

// TestHowToAdd follows CONTRIBUTING.md to add to the program, all in one copy of the changed
// files, and runs it.
func TestHowToAdd(t *testing.T) {
	dir := t.TempDir()
	store := filepath.Join(dir, "issues.jsonl")
	text := strings.NewReplacer(
		"TABLE", `<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| progress | verifying | 2026-11-01 |\n<!-- /stigmergic-signals -->`,
		"TIDE", `<!-- tide-context -->\n## Seen `, "END", `<!-- /tide-context -->`).Replace(added)
	if err := os.WriteFile(store, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	program := withAdditions(t, dir)
	for _, run := range []struct{ command, want string }{
		{"explain title-shouts", "Urgency is the priority of the issue."},
		{"lint a-1", "title-shouts"},
		{"check --help", "print as F: tide, text, json, github, sarif or junit;"},
		{"signals reconcile a-2", ""},
		{"signals set a-2 novelty=new", "a-2: written"},
		{"signals get a-2 novelty", "new\n"},
		{"orient a-2", "guard none · novelty new"},
		{"show a-2 --notes", "<!-- tide-context -->\n## Seen (2026-11-02)\nit flows\n\n## Seen (2026-11-03)\nit ebbs\n<!-- /tide-context -->"},
	} {
		out, _ := exec.Command(program, append([]string{"--store", store}, strings.Fields(run.command)...)...).CombinedOutput()
		if !strings.Contains(string(out), run.want) {
			t.Errorf("stig %s: no %q in\n%s", run.command, run.want, out)
		}
	}
}

// withAdditions builds the program with all additions in a directory, without writing to the
// work tree.
func withAdditions(t *testing.T, dir string) (program string) {
	texts := map[string]string{}
	for _, thing := range additions {
		for _, a := range thing.at {
			text, there := texts[a.file]
			if !there {
				read, err := os.ReadFile(filepath.Join("..", "..", a.file))
				if err != nil {
					t.Fatal(err)
				}
				text = string(read)
			}
			before, after, found := strings.Cut(text, a.behind)
			if !found {
				t.Fatalf("%s: no %q: CONTRIBUTING.md says to add %s there", a.file, a.behind, thing.thing)
			}
			texts[a.file] = before + a.behind + a.text + after
		}
	}
	replace := map[string]string{}
	for name, text := range texts {
		copied := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(copied, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		full, err := filepath.Abs(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		replace[full] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	described := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(described, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "stig")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", described, "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
