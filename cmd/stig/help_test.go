package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestShortHelp checks that the summary of each command is a phrase that starts with a verb and
// fits on a line of a terminal.
func TestShortHelp(t *testing.T) {
	verbs := strings.Fields("add allow answer ask change claim close connect copy count create delete draw end explain find forget give keep " +
		"leave let list mark merge order pause print read remove rename reopen resume return run serve set settle show start summarize take validate write")
	used := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		first, _, _ := strings.Cut(strings.TrimSuffix(cmd.Short, ","), " ")
		first = strings.TrimSuffix(first, ",")
		used[first] = true
		if n := utf8.RuneCountInString(cmd.Short); n == 0 || n > 60 {
			t.Errorf("%s: %d characters, 1 to 60 are allowed: %q", cmd.CommandPath(), n, cmd.Short)
		}
		if !slices.Contains(verbs, first) {
			t.Errorf("%s: does not begin with a verb of the list above: %q", cmd.CommandPath(), cmd.Short)
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(commandTree())
	for _, verb := range verbs {
		if !used[verb] {
			t.Errorf("no command begins with %q: take it off the list above", verb)
		}
	}
}

// TestOldNames fails if stig prints the old name of a command; old names work for one more
// version only.
func TestOldNames(t *testing.T) {
	mentions := []string{"old_names.txtar", "help_topics.txtar", "mcp_hints.go"} // the last: tools of the MCP server
	said := regexp.MustCompile(`stig (await|escalations|ack|duplicate)\b|"stig", "(await|escalations|ack|duplicate)"`)
	for _, room := range []string{"cmd", "internal", "checkpoint", "orient", "schemas", "signals", "docs/reference", ".agents", "action.yml"} {
		err := filepath.WalkDir(filepath.Join("..", "..", filepath.FromSlash(room)), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || slices.Contains(mentions, d.Name()) {
				return err
			}
			text, err := os.ReadFile(path)
			if old := said.Find(text); old != nil {
				t.Errorf("%s: %s", path, old)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// needsMore matches the examples that wait, serve, or need what the store of TestHelpExamples
// does not have: a server, a network, a program, other commits, a run, a swarm.
var needsMore = regexp.MustCompile(`stig (board|mcp|work|watch|dream|swarm (run|[a-z]+ .*--actor)|worker|worktree rm|hook|merge|store|actor (log|show|edit|rename|runs bo|say maintenance)|trust|land .*(demo|sync)|trace show|digest .*--|morning)\b|mysql:|--wait|--against|main~3|v1\.2|--files|--view|--migrate|-C DIR|stig init|sarif=|--withdraw|--from plan|AGENTS|CLAUDE`)

// TestHelpExamples runs each example of help that is a plain command line, in a store with its
// issues; none may end with a usage error or a missing issue. The commands and flags of all
// examples must exist.
func TestHelpExamples(t *testing.T) {
	const lines = `{"id":"demo-e","title":"Read files","status":"open","issue_type":"epic"}
{"id":"demo-4k2","title":"Parse","status":"open","issue_type":"epic"}
{"id":"demo-1","title":"Read both forms","status":"in_progress","assignee":"reader","acceptance_criteria":"` + "```verify\\ntrue\\n```" + `","dependencies":[{"depends_on_id":"demo-4k2","type":"parent-child"}]}
{"id":"demo-2","title":"Print the page","status":"open"}
{"id":"demo-3","title":"Drop the second form","status":"open","dependencies":[{"depends_on_id":"demo-1","type":"blocks"}]}
{"id":"demo-4","title":"Made by mistake","status":"open"}
{"id":"demo-5","title":"Made twice","status":"open"}
{"id":"demo-6","title":"Undo it","status":"open","dependencies":[{"depends_on_id":"demo-5","type":"blocks"}]}
{"id":"demo-8x1","title":"Hang","status":"open"}
{"id":"demo-7pw","title":"Hang again","status":"open"}
{"id":"demo-9","title":"Dig","status":"open","dependencies":[{"depends_on_id":"demo-e","type":"parent-child"}]}
`
	before := map[string][]string{ // what to run before an example, by its first words
		"claim":             {"release demo-1"},
		"resolve":           {"escalate demo-1 Which --option north --option south --actor bo"},
		"reopen":            {"close demo-1 --reason 'it reads both'"},
		"undo":              {"comment demo-1 one", "comment demo-1 two"},
		"dep rm":            {"dep add demo-2 --on demo-1"},
		"graph demo-1 --to": {"dep add demo-1 --on demo-4"},
		"swarm":             {"release demo-1", "signals set demo-1 planning-depth=deep", "swarm start demo-1 --agents 4"},
	}
	store := hookStore(t, lines)
	for _, typed := range []string{"init -q -b main", "config user.name ann", "config user.email ann@example.org", "add -A", "commit -qm one"} {
		if out, err := exec.Command("git", append([]string{"-C", store}, strings.Fields(typed)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", typed, err, out)
		}
	}
	quoted := regexp.MustCompile(`'[^']*'|"[^"]*"`)
	root, ran := commandTree(), 0
	var try func(cmd *cobra.Command)
	try = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			try(below)
		}
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", "")) {
			line = strings.Join(strings.Fields(line), " ")
			if _, rest, found := strings.Cut(quoted.ReplaceAllString(line, "TEXT"), "stig "); found {
				if problem := unknown(root, "stig "+rest); problem != "" {
					t.Errorf("%s: %s", line, problem)
				}
			}
			args, plain := plainArgs(line)
			if !plain || needsMore.MatchString(line) || strings.HasPrefix(line, "stig swarm start") {
				continue
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(store)); err != nil {
				t.Fatal(err)
			}
			for words, typed := range before {
				for _, one := range typed {
					if strings.HasPrefix(line, "stig "+words) {
						first, _ := plainArgs("stig " + one)
						runHere(t, dir, first...)
					}
				}
			}
			ran++
			if out, code := runHere(t, dir, args...); code > 1 && code != 6 {
				t.Errorf("%s: exit %d\n%s", line, code, out)
			}
		}
	}
	try(root)
	if ran < 60 {
		t.Errorf("only %d examples ran", ran)
	}
}
