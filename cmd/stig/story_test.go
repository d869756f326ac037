package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestStory runs four workers as real processes, each with a script of testdata/story. They
// know one epic, and nothing of each other.
func TestStory(t *testing.T) {
	t.Parallel()
	s := story{dir: t.TempDir(), program: program(t)}
	if err := os.CopyFS(s.dir, os.DirFS(fromHere("testdata", "story"))); err != nil {
		t.Fatal(err)
	}
	workers, err := filepath.Glob(filepath.Join(s.dir, "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if len(workers) != 4 {
		t.Fatalf("%d workers: %v", len(workers), workers)
	}
	epic := strings.Fields(s.run(t, "lead", "git init -q; git config user.name lead; stig init --prefix tide >init.out; stig create --from plan.md -q"))[0]
	for _, name := range []string{"coder", "writer", "scribe"} { // watchers start before anything happens
		s.run(t, "lead", "stig watch --as "+name+" --timeout 10ms -q; test $? = 6")
	}
	var group sync.WaitGroup
	for _, worker := range workers {
		name := strings.TrimSuffix(filepath.Base(worker), ".sh")
		group.Go(func() { s.run(t, name, "set -e; EPIC="+epic+"; . ./"+name+".sh") })
	}
	group.Wait()
	s.holds(t, "answer.md", "3 of 3 issues closed with a result",
		`(?s)a table a month, in UTC.*tide\.sh prints the next high water, in UTC|(?s)a table a month, in UTC.*high water is when`)
	s.holds(t, "briefing-code.md", "the office publishes a table a month", "times are in UTC")
	s.holds(t, "briefing-text.md", "times are in UTC")
	if traces := s.run(t, "lead", "stig trace list --epic "+epic); strings.Count(traces, "completion") != 3 || !strings.Contains(traces, "code_snippet") {
		t.Errorf("left behind:\n%s", traces)
	}
}

type story struct{ dir, program string }

// run runs a script as a worker, and returns its output.
func (s story) run(t *testing.T, actor, script string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Dir(s.program)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+s.dir, "XDG_STATE_HOME="+filepath.Join(s.dir, "state"), "STIG_ACTOR="+actor, "BEADS_DIR=", "STIG_NOW=", "STIG_TRUST=")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s%s", actor, err, out, said.String())
	}
	return string(out)
}

func (s story) holds(t *testing.T, name string, patterns ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).Match(text) {
			t.Errorf("%s: no %s in\n%s", name, pattern, text)
		}
	}
}
