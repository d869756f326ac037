//go:build e2e

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAction runs the composite action step by step, with the inputs GitHub provides.
func TestAction(t *testing.T) {
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

// expand substitutes values for expressions, as the runner does.
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

// TestPipelineDocument runs the commands of docs/ci.md. Those that install stig are only
// parsed; TestAction builds it the same way.
func TestPipelineDocument(t *testing.T) {
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
