//go:build e2e && linux

package hosts_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unattended are the arguments with which a program reads what to do from standard
// input, and asks nobody. docs/workers.md has them, those of codex with its sandbox,
// which needs more of the kernel than a test can ask for.
var unattended = map[string][]string{
	"claude":   {"-p", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,Edit"},
	"codex":    {"exec", "--dangerously-bypass-approvals-and-sandbox", "--disable", "plugins", "--disable", "apps", "--disable", "remote_plugin", "-"},
	"gemini":   {"--approval-mode", "yolo", "--skip-trust", "-m", "gemini-2.5-flash"},
	"opencode": {"run", "--auto"},
}

// TestLoop lets stig work run each program for one issue. The model does what the
// issue asks for and leaves a checkpoint; the loop merges that, runs the criteria, and closes.
func TestLoop(t *testing.T) {
	for _, p := range programs {
		if args, ok := unattended[p.name]; ok {
			t.Run(p.name, func(t *testing.T) { loop(t, p, args) })
		}
	}
}

func loop(t *testing.T, p program, args []string) {
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
	cmd := exec.CommandContext(ctx, s.stig, append([]string{"work", "--once", "--actor", "night", "--", s.executable()}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.environ()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("stig work: %v", err)
	}
	log, _ := s.output("stig", "actor", "log", "night")
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
