package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/encoding/yaml"

	"stig/host"
	"stig/internal/sample"
)

// Pipelines run elsewhere. What can be tested here is: their files parse, say
// what a runner needs, and the commands in them do what the documents say, in
// bash, with real git, on a branch that closes an issue by hand.

// step is a step of a GitHub job or action.
type step struct {
	Uses string            `json:"uses"`
	Run  string            `json:"run"`
	Env  map[string]string `json:"env"`
	With map[string]any    `json:"with"`
}

// readYAML decodes a text; what the type does not know is left out.
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

// blocks are the fenced blocks of a document in one language.
func blocks(text, language string) (found []string) {
	fence := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```\n")
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// pipeline is a clone with a branch, as a runner has it.
type pipeline struct {
	t   *testing.T
	dir string // the checkout
	env []string
}

// branched makes a clone of a repository with the example store, on a branch
// that leaves main.
func branched(t *testing.T) *pipeline {
	t.Helper()
	top := t.TempDir()
	p := &pipeline{t: t, dir: filepath.Join(top, "clone"), env: append(os.Environ(),
		"GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-w"), // links faster
		"TZ=UTC", "STIG_NOW=", "BEADS_DIR=", "STIG_ACTOR=mara", "BD_ACTOR=", "GITHUB_WORKSPACE=", "GITHUB_STEP_SUMMARY=",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Mara", "GIT_AUTHOR_EMAIL=mara@example.org", "GIT_COMMITTER_NAME=Mara", "GIT_COMMITTER_EMAIL=mara@example.org")}
	for _, h := range host.AllSettings() { // no assistant runs us
		for _, variable := range h.RunBy {
			p.env = append(p.env, variable+"=")
		}
	}
	self, err := os.Executable() // which is stig under that name; see TestMain
	if err == nil {
		err = os.Mkdir(filepath.Join(top, "bin"), 0o755)
	}
	if err == nil {
		err = os.Symlink(self, filepath.Join(top, "bin", "stig"))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PATH="+filepath.Join(top, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
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

// shell runs a script in bash as runners do, and gives its exit code.
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

// TestAction runs the composite action step by step, with what GitHub gives it.
func TestAction(t *testing.T) {
	sample.SkipLong(t)
	t.Parallel()
	var action struct {
		Inputs map[string]struct {
			Description string `json:"description"`
			Default     string `json:"default"`
		} `json:"inputs"`
		Runs struct {
			Using string `json:"using"`
			Steps []step `json:"steps"`
		} `json:"runs"`
	}
	readYAML(t, "action.yml", readFile(t, "..", "..", "action.yml"), &action)
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 3 || len(action.Inputs) < 5 {
		t.Fatalf("%+v", action)
	}
	p := branched(t)
	root := fromHere("..", "..")
	temp := t.TempDir()
	given := map[string]string{
		"github.action_path":                 root,
		"github.event.pull_request.base.sha": p.must(p.dir, "git rev-parse origin/main"),
	}
	for name, input := range action.Inputs {
		if input.Description == "" {
			t.Errorf("%s: no description", name)
		}
		given["inputs."+name] = expand(t, input.Default, given)
	}
	given["inputs.sarif"] = "stig.sarif"
	run := func(steps []step) (out string, exit int) {
		for _, s := range steps {
			for key, value := range s.With {
				expand(t, fmt.Sprint(key, value), given)
			}
			env := []string{"RUNNER_TEMP=" + temp, "GITHUB_PATH=" + filepath.Join(temp, "path"),
				"GITHUB_STEP_SUMMARY=" + filepath.Join(temp, "summary"), "GITHUB_WORKSPACE=" + p.dir,
				"PATH=" + filepath.Join(temp, "stig-bin") + string(os.PathListSeparator) + os.Getenv("PATH")}
			for key, value := range s.Env {
				env = append(env, key+"="+expand(t, value, given))
			}
			if out, exit = p.shell(p.dir, s.Run, env...); exit != 0 {
				return out, exit
			}
		}
		return out, exit
	}
	if out, exit := run(action.Runs.Steps); exit != 0 {
		t.Fatalf("nothing was done: exit %d\n%s", exit, out)
	}
	if got, want := strings.TrimSpace(readFile(t, temp, "path")), filepath.Join(temp, "stig-bin"); got != want {
		t.Errorf("GITHUB_PATH got %q, want %q", got, want)
	}
	p.closeByHand("harbor-d3w")
	check := action.Runs.Steps[2:] // stig is built
	out, exit := run(check)
	if exit != 1 || !strings.Contains(out, "::error file=.beads/issues.jsonl,line=") || !strings.Contains(out, "title=closed-by-hand::harbor-d3w: closed since") || !strings.Contains(out, "title=gate-failed::harbor-d3w: ") {
		t.Errorf("exit %d\n%s", exit, out)
	}
	if summary := readFile(t, temp, "summary"); !strings.Contains(summary, "| error | harbor-d3w | closed-by-hand |") {
		t.Errorf("the summary is\n%s", summary)
	}
	if log := readFile(t, p.dir, "stig.sarif"); !strings.Contains(log, `"ruleId": "closed-by-hand"`) {
		t.Errorf("the log is\n%s", log)
	}
	given["inputs.against"] = ""
	if out, exit := run(check); exit != 0 {
		t.Errorf("without a revision: exit %d\n%s", exit, out)
	}
	given["inputs.against"] = "$(touch pwned); `touch pwned`"
	if out, exit := run(check); exit != 2 {
		t.Errorf("a revision that is none: exit %d\n%s", exit, out)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "pwned")); err == nil {
		t.Error("an input was run as a command")
	}
}

// expand puts values in the place of expressions, as the runner does.
func expand(t *testing.T, text string, given map[string]string) string {
	t.Helper()
	return regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`).ReplaceAllStringFunc(text, func(expression string) string {
		name := strings.TrimSpace(strings.Trim(expression, "${}"))
		value, known := given[name]
		if !known {
			t.Errorf("%s: no such value", expression)
		}
		return value
	})
}

// TestPreCommitHooks runs the entries of the hooks as pre-commit does.
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

// TestPipelineDocument runs the commands of docs/ci.md; those that install
// stig are only parsed, for TestAction builds it in the same way.
func TestPipelineDocument(t *testing.T) {
	sample.SkipLong(t)
	text := readFile(t, "..", "..", "docs", "ci.md")
	samples := blocks(text, "yaml")
	if len(samples) != 3 {
		t.Fatalf("%d samples of YAML", len(samples))
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []step `json:"steps"`
		} `json:"jobs"`
	}
	readYAML(t, "workflow", samples[0], &workflow)
	steps := workflow.Jobs["stig"].Steps
	if len(steps) != 3 || fmt.Sprint(steps[0].With["fetch-depth"]) != "0" || !strings.HasPrefix(steps[1].Uses, "OWNER/stig@") {
		t.Errorf("%+v", steps)
	}
	var inputs struct {
		Inputs map[string]any `json:"inputs"`
	}
	readYAML(t, "action.yml", readFile(t, "..", "..", "action.yml"), &inputs)
	for name := range steps[1].With {
		if inputs.Inputs[name] == nil {
			t.Errorf("the action takes no %q", name)
		}
	}
	var gitlab struct {
		Stig struct {
			Before []string `json:"before_script"`
			Script []string `json:"script"`
		} `json:"stig"`
	}
	readYAML(t, "gitlab", samples[1], &gitlab)
	var config struct {
		Repos []struct {
			Hooks []struct {
				ID string `json:"id"`
			} `json:"hooks"`
		} `json:"repos"`
	}
	readYAML(t, "pre-commit", samples[2], &config)
	if id := config.Repos[0].Hooks[0].ID; !strings.Contains(readFile(t, "..", "..", ".pre-commit-hooks.yaml"), "- id: "+id+"\n") {
		t.Errorf("no hook %q", id)
	}

	p := branched(t)
	for _, line := range gitlab.Stig.Before {
		p.must(p.dir, "bash -n -c '"+line+"'")
	}
	commands := blocks(text, "sh")
	if len(commands) != 2 || len(gitlab.Stig.Script) != 1 {
		t.Fatalf("%q %q", commands, gitlab.Stig.Script)
	}
	base := "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + p.must(p.dir, "git rev-parse origin/main")
	lenient := strings.NewReplacer("--strict ", "").Replace
	for _, command := range append(commands, gitlab.Stig.Script...) {
		if out, exit := p.shell(p.dir, lenient(command), base); exit != 0 {
			t.Errorf("%s: exit %d\n%s", command, exit, out)
		}
	}
	p.closeByHand("harbor-d3w")
	for _, command := range append(commands, gitlab.Stig.Script...) {
		if out, exit := p.shell(p.dir, lenient(command), base); exit != 1 || !strings.Contains(out, "[closed-by-hand]") {
			t.Errorf("%s: exit %d\n%s", command, exit, out)
		}
	}
	for _, report := range []string{"stig.xml", "stig.sarif"} {
		if !strings.Contains(readFile(t, p.dir, report), "closed-by-hand") {
			t.Errorf("%s does not tell of it", report)
		}
	}
	for _, rule := range regexp.MustCompile(`(?m)^\| ([a-z-]+) \| (error|warning) \|`).FindAllStringSubmatch(text, -1) {
		if out, exit := p.shell(p.dir, "stig explain "+rule[1]); exit != 0 || !strings.Contains(out, rule[2]) {
			t.Errorf("stig explain %s: exit %d, want %s in\n%s", rule[1], exit, rule[2], out)
		}
	}
}
