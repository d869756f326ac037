package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/encoding/yaml"

	"stig/internal/assistant"
)

// Pipelines run elsewhere. These tests check that the files parse and have the keys a runner
// needs, and run their commands in bash with real git, on a branch that closes an issue by
// hand.

// step is a step of a GitHub job or action.
type step struct {
	Uses string            `json:"uses"`
	Run  string            `json:"run"`
	Env  map[string]string `json:"env"`
	With map[string]any    `json:"with"`
}

// readYAML decodes YAML; keys unknown to the type are ignored.
func readYAML(t *testing.T, name, text string, into any) {
	t.Helper()
	file, err := yaml.Extract(name, text)
	if err == nil {
		err = cuecontext.New().BuildFile(file).Decode(into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(fromHere(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns the fenced blocks of a document in one language.
func blocks(text, language string) (found []string) {
	fence := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```\n")
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// pipeline is a clone with a branch, as on a runner.
type pipeline struct {
	t    *testing.T
	dir  string // the checkout
	env  []string
	path string // PATH, with stig
}

// branched creates a clone of a repository with the example store, on a branch off main.
func branched(t *testing.T) *pipeline {
	t.Helper()
	top := t.TempDir()
	p := &pipeline{t: t, dir: filepath.Join(top, "clone"), env: append(os.Environ(),
		"GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-w"), // links faster
		"TZ=UTC", "STIG_NOW=", "BEADS_DIR=", "STIG_ACTOR=mara", "BD_ACTOR=", "GITHUB_WORKSPACE=", "GITHUB_STEP_SUMMARY=",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Mara", "GIT_AUTHOR_EMAIL=mara@example.org", "GIT_COMMITTER_NAME=Mara", "GIT_COMMITTER_EMAIL=mara@example.org")}
	for _, h := range assistant.AllSettings() { // not run by an assistant
		for _, variable := range h.RunBy {
			p.env = append(p.env, variable+"=")
		}
	}
	self, err := os.Executable() // stig under that name; see TestMain
	if err == nil {
		err = os.Mkdir(filepath.Join(top, "bin"), 0o755)
	}
	if err == nil {
		err = os.Symlink(self, filepath.Join(top, "bin", "stig"))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.path = filepath.Join(top, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	p.env = append(p.env, "PATH="+p.path)
	if err := os.CopyFS(filepath.Join(top, "origin"), os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	p.must(top, "cd origin && git init -q -b main && git add . && git commit -q -m first")
	p.must(top, "git clone -q origin clone && cd clone && git checkout -q -b work")
	return p
}

// closeByHand closes the issue as somebody with an editor would.
func (p *pipeline) closeByHand(id string) {
	p.t.Helper()
	path := filepath.Join(p.dir, ".beads", "issues.jsonl")
	lines := strings.SplitAfter(readFile(p.t, path), "\n")
	closed := 0
	for i, line := range lines {
		if strings.HasPrefix(line, `{"id":"`+id+`"`) {
			lines[i] = strings.Replace(line, `"status":"open"`, `"status":"closed","close_reason":"Everything in it is done"`, 1)
			closed++
		}
	}
	if closed != 1 {
		p.t.Fatalf("%d issues %s", closed, id)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// shell runs a script in bash as runners do, and returns its exit code.
func (p *pipeline) shell(dir, script string, env ...string) (out string, exit int) {
	p.t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append(p.env[:len(p.env):len(p.env)], env...)
	text, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		p.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (p *pipeline) must(dir, script string) string {
	p.t.Helper()
	out, exit := p.shell(dir, script)
	if exit != 0 {
		p.t.Fatalf("%s: exit %d\n%s", script, exit, out)
	}
	return strings.TrimSpace(out)
}

// TestPreCommitHooks runs the hooks' entries as pre-commit does.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID       string `json:"id"`
		Entry    string `json:"entry"`
		Language string `json:"language"`
		Files    string `json:"files"`
		Pass     bool   `json:"pass_filenames"`
	}
	readYAML(t, "hooks", readFile(t, "..", "..", ".pre-commit-hooks.yaml"), &hooks)
	if len(hooks) != 2 {
		t.Fatalf("%+v", hooks)
	}
	p := branched(t)
	for _, h := range hooks {
		files := regexp.MustCompile(h.Files)
		if h.Language != "golang" || h.Pass || !files.MatchString(".beads/issues.jsonl") || !files.MatchString("sub/.beads/x.jsonl") || files.MatchString("main.go") {
			t.Errorf("%+v", h)
		}
		if out, exit := p.shell(p.dir, h.Entry); exit != 0 {
			t.Errorf("%s: exit %d\n%s", h.Entry, exit, out)
		}
	}
	p.closeByHand("harbor-d3w")
	for _, h := range hooks {
		want := 0
		if h.ID == "stig-check-head" {
			want = 1
		}
		if out, exit := p.shell(p.dir, h.Entry); exit != want {
			t.Errorf("%s: exit %d, want %d\n%s", h.Entry, exit, want, out)
		}
	}
}
