//go:build e2e && linux

package hosts_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// presets are the programs that stig work has a preset for, with what its runs say that they
// used. Codex runs there in its own sandbox, which needs more of the kernel than a test can ask
// for: its command line is the same with another sandbox.
var presets = map[string]string{
	"claude":   `, ≈0\.[0-9]+ USD, [0-9.]+k? tokens$`,
	"codex":    `, cost unknown, [0-9.]+k? tokens$`,
	"gemini":   `, cost unknown, [0-9.]+k? tokens$`,
	"opencode": `, cost unknown, [0-9.]+k? tokens$`,
}

// TestLoop lets stig work run each program for one issue. The model does what the
// issue asks for and leaves a checkpoint; the loop merges that, runs the criteria, and closes.
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
