//go:build e2e

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stig/internal/testkit/forges"
)

// action is action.yml.
type action struct {
	Inputs map[string]struct {
		Description string `json:"description"`
		Default     string `json:"default"`
	} `json:"inputs"`
	Runs struct {
		Using string `json:"using"`
		Steps []step `json:"steps"`
	} `json:"runs"`
}

// runner runs steps of the action in a clone, with the values that a forge provides.
type runner struct {
	*pipeline
	temp  string
	given map[string]string // by expression
}

// newRunner reads the action. Every input has its default.
func newRunner(t *testing.T, p *pipeline, event map[string]string) (runner, []step) {
	t.Helper()
	var a action
	readYAML(t, "action.yml", readFile(t, "..", "..", "action.yml"), &a)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 3 || len(a.Inputs) < 5 {
		t.Fatalf("%+v", a)
	}
	r := runner{pipeline: p, temp: t.TempDir(), given: map[string]string{"github.action_path": fromHere("..", "..")}}
	maps.Copy(r.given, event)
	for name, input := range a.Inputs {
		if input.Description == "" {
			t.Errorf("%s: no description", name)
		}
		r.given["inputs."+name] = expand(t, input.Default, r.given)
	}
	return r, a.Runs.Steps
}

func (r runner) run(steps []step, more ...string) (out string, exit int) {
	r.t.Helper()
	for _, s := range steps {
		for key, value := range s.With {
			expand(r.t, fmt.Sprint(key, value), r.given)
		}
		env := append(more, "RUNNER_TEMP="+r.temp, "GITHUB_PATH="+filepath.Join(r.temp, "path"),
			"GITHUB_STEP_SUMMARY="+filepath.Join(r.temp, "summary"), "GITHUB_WORKSPACE="+r.dir,
			"PATH="+filepath.Join(r.temp, "stig-bin")+string(os.PathListSeparator)+r.path)
		for key, value := range s.Env {
			env = append(env, key+"="+expand(r.t, value, r.given))
		}
		if out, exit = r.shell(r.dir, s.Run, env...); exit != 0 {
			return out, exit
		}
	}
	return out, exit
}

// TestAction runs the composite action step by step, with the inputs GitHub provides.
func TestAction(t *testing.T) {
	t.Parallel()
	p := branched(t)
	r, steps := newRunner(t, p, map[string]string{"github.base_ref": "main", "github.event.pull_request.head.sha": ""})
	r.given["inputs.sarif"] = "stig.sarif"
	if out, exit := r.run(steps); exit != 0 {
		t.Fatalf("nothing was done: exit %d\n%s", exit, out)
	}
	if got, want := strings.TrimSpace(readFile(t, r.temp, "path")), filepath.Join(r.temp, "stig-bin"); got != want {
		t.Errorf("GITHUB_PATH got %q, want %q", got, want)
	}
	p.closeByHand("harbor-d3w")
	check := steps[2:] // stig is built
	out, exit := r.run(check)
	if exit != 1 || !strings.Contains(out, "::error file=.beads/issues.jsonl,line=") || !strings.Contains(out, "title=closed-by-hand::harbor-d3w: closed since") || !strings.Contains(out, "title=gate-failed::harbor-d3w: ") {
		t.Errorf("exit %d\n%s", exit, out)
	}
	if summary := readFile(t, r.temp, "summary"); !strings.Contains(summary, "| error | harbor-d3w | closed-by-hand |") {
		t.Errorf("the summary is\n%s", summary)
	}
	if log := readFile(t, p.dir, "stig.sarif"); !strings.Contains(log, `"ruleId": "closed-by-hand"`) {
		t.Errorf("the log is\n%s", log)
	}
	r.given["inputs.against"] = "$(touch pwned); `touch pwned`"
	if out, exit := r.run(check); exit != 2 {
		t.Errorf("a revision that is none: exit %d\n%s", exit, out)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "pwned")); err == nil {
		t.Error("an input was run as a command")
	}
	r.given["inputs.against"], r.given["github.base_ref"] = "", ""
	if out, exit := r.run(check); exit != 0 {
		t.Errorf("a push: exit %d\n%s", exit, out)
	}
}

// TestActionOfReviews runs the action on a request, of which Gitea checks out the head, and after
// the request landed.
func TestActionOfReviews(t *testing.T) {
	t.Parallel()
	f := forges.New(filepath.Join(t.TempDir(), "dock.git"))
	defer f.Close()
	origin := inReview(t, f, 2)
	origin("git commit -qam 'the store' && git push -q origin main")
	p := branched(t)
	url := f.URL + "/team/dock.git"
	p.dir = filepath.Join(t.TempDir(), "dock")
	p.must(t.TempDir(), "git clone -q "+f.Bare+" "+p.dir)
	p.must(p.dir, "git remote set-url origin "+url+" && git config url."+f.Bare+".insteadOf "+url+" && git checkout -q origin/stig/dock-101")
	r, steps := newRunner(t, p, map[string]string{"github.base_ref": "main", "github.event.pull_request.head.sha": p.must(p.dir, "git rev-parse HEAD")})
	steps = steps[2:]
	if out, exit := r.run(steps); exit != 0 || p.must(p.dir, "git rev-parse HEAD^2") != p.must(p.dir, "git rev-parse origin/main") {
		t.Errorf("a request: exit %d\n%s", exit, out)
	}
	p.must(p.dir, "git rm -q more-101 && sed -i s/more-101/.stig.cue/ .beads/issues.jsonl && git commit -qam 'Less'")
	if out, exit := r.run(steps); exit != 1 || !strings.Contains(out, "title=gate-failed::dock-101: worked on since origin/main, but fails here") || !strings.Contains(out, "::warning file=.beads/issues.jsonl,line=1,title=criteria-changed::dock-101: acceptance criteria changed") {
		t.Errorf("a request whose criteria fail: exit %d\n%s", exit, out)
	}
	p.must(p.dir, "git switch -qc other origin/main && echo x >more-102 && git add . && git commit -qm 'Other' && git push -q origin HEAD:main && git switch -q --detach origin/stig/dock-102")
	r.given["github.event.pull_request.head.sha"] = p.must(p.dir, "git rev-parse HEAD")
	if out, exit := r.run(steps); exit != 1 || !strings.Contains(out, "::error::cannot merge origin/main") {
		t.Errorf("a request that conflicts: exit %d\n%s", exit, out)
	}
	f.Status("success")
	origin("stig land --sync")
	if err := f.Judge("squash", 1); err != nil {
		t.Fatal(err)
	}
	p.must(p.dir, "git merge --abort && git switch -q main && git pull -q")
	r.given["inputs.sync"] = "commit"
	if out, exit := r.run(steps, "GITEA_TOKEN="+forges.Token, "STIG_ACTOR=", "GIT_AUTHOR_NAME=", "GIT_AUTHOR_EMAIL=", "GIT_COMMITTER_NAME=", "GIT_COMMITTER_EMAIL="); exit != 0 || !strings.Contains(out, "dock-101  #1  closed\n") {
		t.Errorf("after the landing: exit %d\n%s", exit, out)
	}
	if out := p.must(p.dir, "git status --porcelain; git push 2>&1; git log -1 --format=%s origin/main"); !strings.HasSuffix(out, "checkpoint dock-101, dock-102") {
		t.Errorf("the store is not on the default branch:\n%s", out)
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
	var inputs action
	readYAML(t, "action.yml", readFile(t, "..", "..", "action.yml"), &inputs)
	for _, sample := range []string{samples[0], blocks(readFile(t, "..", "..", "docs", "reviews.md"), "yaml")[0]} {
		var workflow struct {
			Jobs map[string]struct {
				Steps []step `json:"steps"`
			} `json:"jobs"`
		}
		readYAML(t, "workflow", sample, &workflow)
		if workflow.Jobs["stig"].Steps == nil {
			t.Errorf("no job stig:\n%s", sample)
		}
		for name, job := range workflow.Jobs {
			if fmt.Sprint(job.Steps[0].With["fetch-depth"]) != "0" || !strings.HasPrefix(job.Steps[1].Uses, "OWNER/stig@") {
				t.Errorf("%s: %+v", name, job.Steps)
			}
			for input := range job.Steps[1].With {
				if _, ok := inputs.Inputs[input]; !ok {
					t.Errorf("%s: the action takes no %q", name, input)
				}
			}
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
