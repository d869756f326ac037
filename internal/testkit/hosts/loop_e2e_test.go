//go:build e2e && linux

package hosts_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// presets are the programs that stig work has a preset for, with the usage that their runs
// report. Here Codex runs in its own sandbox, which needs more of the kernel than a test can
// expect: its command line is the same with another sandbox.
var presets = map[string]string{
	"claude":   `, ≈0\.[0-9]+ USD, [0-9.]+k? tokens$`,
	"codex":    `, cost unknown, [0-9.]+k? tokens$`,
	"gemini":   `, cost unknown, [0-9.]+k? tokens$`,
	"opencode": `, cost unknown, [0-9.]+k? tokens$`,
}

// TestLoop lets stig work run each program for one issue. The model does the work and leaves a
// checkpoint; the loop merges it, runs the criteria, and closes.
func TestLoop(t *testing.T) {
	for _, p := range programs {
		if cost, ok := presets[p.name]; ok {
			t.Run(p.name, func(t *testing.T) { loop(t, p, cost) })
		}
	}
}

func loop(t *testing.T, p program, cost string) {
	s := newSession(t, p, scripts{"gate": {
		shell("stig show demo-1"),
		shell("echo open >gate.txt"),
		shell("stig checkpoint demo-1 --progress verifying --surprise 0.1 --done 'the gate stands open'"),
		say("Done."),
	}})
	s.write(t, filepath.Join(s.dir, ".beads", "issues.jsonl"), strings.Replace(store, `"status"`, `"description":"`+prompt("gate")+`","status"`, 1))
	s.must(t, "git", "add", "-A")
	s.must(t, "git", "commit", "-qm", "what the program reads")
	s.must(t, "stig", "trust")
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.stig, "work", "--once", "--"+p.name)
	s.path = filepath.Dir(s.executable()) + ":" + s.path
	cmd.Dir, cmd.Env = s.dir, s.environ()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("stig work: %v", err)
	}
	log, _ := s.output("stig", "actor", "log", "--follow", p.name+"-1")
	if !regexp.MustCompile("(?m)" + cost).Match(out) {
		t.Errorf("no cost as %s in\n%s", cost, out)
	}
	if !strings.Contains(log, "echo open >gate.txt") || strings.Contains(log, `{"`) {
		t.Errorf("the log does not read\n%s", log)
	}
	if !s.model.saw("gate", 0, "you run in a worker loop") {
		t.Error("the briefing did not reach the model")
	}
	issue, _ := s.output("stig", "show", "demo-1")
	for _, want := range []string{"closed", "Verified: the gate stands open"} {
		if !strings.Contains(issue, want) {
			t.Errorf("no %q in\n%s\nthe loop said:\n%s\nthe program said:\n%s", want, issue, out, log)
		}
	}
	if text := s.must(t, "git", "show", "stig/work:gate.txt"); text != "open\n" {
		t.Errorf("stig/work holds %q", text)
	}
	if text := s.must(t, "git", "status", "--porcelain", "--untracked-files=all", "--", ".", ":!.beads"); text != "" {
		t.Errorf("the work tree of the user changed:\n%s", text)
	}
}

// TestNights lets three loops of each program work on twelve issues. Every issue is closed
// once, with its cost. If several OpenCodes start at once in an empty home, some fail because
// their database does not exist yet: those runs are repeated.
func TestNights(t *testing.T) {
	for _, p := range programs {
		if cost, ok := presets[p.name]; ok && p.name != "gemini" { // its start alone takes seconds
			t.Run(p.name, func(t *testing.T) { night(t, p, cost) })
		}
	}
}

func night(t *testing.T, p program, cost string) {
	const issues = 12
	answers, lines := scripts{}, ""
	for i := range issues {
		name := "gate-" + string(rune('a'+i))
		answers[name] = []step{shell("echo open >" + name), shell("git add " + name + " && git commit -qm 'open " + name + "' || true"), say("Done.")}
		lines += fmt.Sprintf(`{"id":"demo-%d","title":"Open %s","status":"open","priority":1,"issue_type":"task","description":%q,"acceptance_criteria":"~~~verify\ntest -f %[2]s\n~~~"}`, i+1, name, prompt(name)) + "\n"
	}
	s := newSession(t, p, answers)
	s.write(t, filepath.Join(s.dir, ".beads", "issues.jsonl"), lines)
	s.must(t, "git", "add", "-A")
	s.must(t, "git", "commit", "-qm", "twelve gates")
	s.must(t, "stig", "trust")
	s.path = filepath.Dir(s.executable()) + ":" + s.path
	start := time.Now()
	out, err := s.output("timeout", "600", "stig", "work", "--"+p.name, "3", "--until-empty")
	t.Logf("%s: %.1f s\n%s", p.name, time.Since(start).Seconds(), out)
	if err != nil {
		t.Errorf("stig work: %v", err)
	}
	if n := len(regexp.MustCompile(`(?m): closed, [0-9ms]+`+cost).FindAllString(out, -1)); n != issues {
		t.Errorf("%d issues closed with their cost", n)
	}
	if !regexp.MustCompile(`(?m)^12 closed .*; 1[2-5] runs, .*` + strings.TrimPrefix(cost, ", ")).MatchString(out) {
		t.Error("no summary")
	}
	if files := strings.Fields(s.must(t, "git", "ls-tree", "--name-only", "stig/work")); len(files) < issues {
		t.Errorf("stig/work holds %q", files)
	}
}
