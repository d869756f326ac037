package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// What the list of commands says of each is a phrase that begins with a verb, short enough for
// a line of a terminal.
func TestShortHelp(t *testing.T) {
	verbs := strings.Fields("add allow answer ask change claim close connect copy create delete draw end explain find forget give have keep " +
		"leave let list mark merge order print read rename reopen return run say serve set settle show start summarize take unite validate write")
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

// TestOldNames fails where the program says the old name of a command, which works for one
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
