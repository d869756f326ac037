package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/cmd/stig/cli"
	"stig/cue"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// TestBriefingsSuggestWhatSucceeds runs, as a dry run, every command that the briefing of every
// unclosed issue suggests; none may exit with 2, 4, 5 or 6. It uses the stores of this
// repository.
func TestBriefingsSuggestWhatSucceeds(t *testing.T) {
	paths, err := filepath.Glob(fromHere("..", "..", "orient", "testdata", "briefings", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, fromHere("..", "..", "examples", "harbor", ".beads", "issues.jsonl"))
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { suggestions(t, path) })
	}
}

func suggestions(t *testing.T, path string) {
	dir := t.TempDir()
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(store), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, []byte(readFile(t, path)), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := jsonl.Read(beads.Place{Path: store, Dir: filepath.Dir(store)})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tried := map[string]bool{}
	for _, issue := range file.All() {
		if beads.IsClosed(issue.Status) || tried[issue.ID] {
			continue
		}
		tried[issue.ID] = true
		out, code := runHere(t, dir, "orient", issue.ID, "--json")
		var briefing struct {
			Next []struct{ Argv []string }
		}
		if err := json.Unmarshal([]byte(out), &briefing); err != nil || code != 0 {
			t.Errorf("%s: exit %d, %v", issue.ID, code, err)
			continue
		}
		for _, step := range briefing.Next {
			argv := filledIn(step.Argv[1:])
			line := strings.Join(argv, " ")
			if slices.Contains(argv, "--wait") || tried[line] {
				continue // it blocks
			}
			tried[line] = true
			if out, code := runHere(t, dir, argv...); slices.Contains([]int{2, 4, 5, 6}, code) {
				t.Errorf("%s suggests stig %s: exit %d\n%s", issue.ID, line, code, out)
			}
		}
	}
}

// filledIn returns the arguments with the placeholders filled in, and with --dry-run for
// commands that write.
func filledIn(argv []string) []string {
	filled := slices.Clone(argv)
	for k, arg := range filled {
		switch {
		case arg != "…":
		case filled[k-1] == "--surprise":
			filled[k] = "0.1"
		default:
			filled[k] = "the parser reads both forms of a date, see parser.go"
		}
	}
	if slices.Contains([]string{"claim", "checkpoint", "close"}, argv[0]) {
		filled = append(filled, "--dry-run")
	}
	return filled
}

// runHere runs stig in this process, because there are thousands of commands to run.
func runHere(t *testing.T, dir string, args ...string) (out string, code int) {
	t.Helper()
	env := map[string]string{"STIG_ACTOR": "reader", "PATH": os.Getenv("PATH"), "HOME": dir, "STIG_NOW": "2026-11-20T09:00:00Z"}
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	home := func() (string, error) { return dir, nil }
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var stdout, stderr bytes.Buffer
	a := cli.Front(stdin, &stdout, &stderr, &workspace.Run{Getenv: func(name string) string { return env[name] }, Env: func() []string { return list },
		HomeDir: home, ConfigDir: home, Now: time.Now, Schema: cue.Embedded()})
	code = a.Execute(context.Background(), command(a), append([]string{"-C", dir}, args...))
	if code == 0 {
		return stdout.String(), 0
	}
	return stdout.String() + stderr.String(), code
}
