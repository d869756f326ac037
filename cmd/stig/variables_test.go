package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variables are the variables of the environment that stig reads or sets, with what they
// mean; docs/reference/configuration.md lists them.
var variables = [][2]string{
	{"STIG_ACTOR", "who acts; `BD_ACTOR` is read after it. stig sets it for what a loop runs"},
	{"STIG_NOW", "the time to take for now, as in `2026-11-20T09:00:00Z`"},
	{"STIG_TRUST", "`1`: run the commands of whatever repository is here"},
	{"STIG_DB_USER", "who connects to a server, where the URL has no user"},
	{"STIG_DB_PASSWORD", "the password for a server; prefer the credentials file"},
	{"BEADS_DIR", "the directory of the store; stig sets it for what a loop runs"},
	{"NO_COLOR", "print without colour"},
	{"CLICOLOR_FORCE", "print with colour, also where the output is no terminal; `NO_COLOR` counts more"},
	{"VISUAL", "the editor that stig opens; `EDITOR` is read after it, and then it is `vi`"},
	{"XDG_CONFIG_HOME", "the user's configuration directory, in the place of `~/.config`"},
	{"XDG_STATE_HOME", "the user's state directory, in the place of `~/.local/state`"},
	{"STIG_ISSUE", "set for what stig runs: the issue"},
	{"STIG_BRIEFING", "set for what a loop runs: path of a file with the briefing"},
	{"STIG_RUN", "set for what a loop runs: the name of the run"},
	{"STIG_ATTEMPT", "set for what a loop runs: how many attempts at the issue there were"},
	{"STIG_ROUND", "set for an explorer of a swarm: the round"},
	{"STIG_EVENT", "set for the command of `notify`: the event"},
	{"STIG_VERIFYING", "set for a check: the issues whose checks run, so that no check runs itself"},
	{"STIG_COMMITTING", "set for the hooks of a commit that stig makes: one that commits the store again waits for no other"},
	{"STIG_SUPERVISED", "set for what a loop runs, to find all that it started"},
	{"STIG_ENV_FILE", "set by the plugin for OpenCode, to name the session"},
}

// TestVariables fails for a variable that the program names and the list lacks, and the other way.
func TestVariables(t *testing.T) {
	var sources strings.Builder
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return err
		}
		outside := strings.Contains(filepath.ToSlash(path), "/internal/testkit/")
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !outside {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sources.Write(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range regexp.MustCompile(`STIG_[A-Z_]*[A-Z]`).FindAllString(sources.String(), -1) {
		listed := slices.ContainsFunc(variables, func(v [2]string) bool { return v[0] == name })
		if !listed && !slices.Contains(found, name) && !strings.HasPrefix(name, "STIG_TEST_") {
			t.Errorf("%s is in no row", name)
		}
		found = append(found, name)
	}
	for _, v := range variables {
		if strings.HasPrefix(v[0], "STIG_") && !slices.Contains(found, v[0]) {
			t.Errorf("%s: nothing reads or sets it", v[0])
		}
	}
}
