package hosttest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runLimit is how long one session may take; the slowest takes about 5 s.
const runLimit = 90 * time.Second

// run runs a whole session with the script of that name.
func (s *session) run(t *testing.T, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.executable(), s.program.command(s, prompt(script))...)
	cmd.Dir, cmd.Env = s.dir, s.environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if killed := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); killed != nil && !errors.Is(killed, syscall.ESRCH) {
		t.Error(killed)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", s.program.name, err, out)
	}
	t.Logf("%s: %.1f s, %d requests", script, time.Since(start).Seconds(), len(s.model.requests))
	if os.Getenv("STIG_TEST_HOSTS_LOG") != "" {
		t.Logf("%s", out)
		if logs, _ := filepath.Glob(filepath.Join(s.home, ".local/share/opencode/log/*")); len(logs) > 0 {
			t.Logf("%s", s.read(logs[0]))
		}
		for _, r := range s.model.requests {
			t.Logf("%s [%s %d] %s", r.path, r.script, r.step, r.body)
		}
	}
}

// TestHosts runs each program that STIG_TEST_HOSTS holds.
func TestHosts(t *testing.T) {
	if os.Getenv(hostsVariable) == "" {
		t.Skip(hostsVariable + " names no folder")
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Run("control", func(t *testing.T) { control(t, p) })
			t.Run("work", func(t *testing.T) { work(t, p) })
		})
	}
}

// control: without hooks the close runs, so that a denial means something.
func control(t *testing.T, p program) {
	s := newSession(t, p, closing)
	s.run(t, "close")
	s.wantClosings(t, "close demo-1\n")
}

var closing = scripts{"close": {shell("bd close demo-1"), say("Closed.")}}

// wantClosings compares what the bd of the session recorded.
func (s *session) wantClosings(t *testing.T, want string) {
	t.Helper()
	if got := s.read(filepath.Join(s.bin, "bd.log")); got != want {
		t.Errorf("bd recorded %q, want %q", got, want)
	}
}

// work is a whole session with stig set up: the briefing at the start, a call over
// MCP, a claim, a close that is denied, in a subagent too, and the reminder at the end.
func work(t *testing.T, p program) {
	s := newSession(t, p, scripts{
		"work": {
			mcpTool("orient", object{"id": "demo-2"}),
			shell("stig claim demo-1"),
			shell("bd close demo-1"),
			agent("help"),
			shell("for i in $(seq 100); do test -e helped && break; sleep 0.1; done"),
			say("Done."),
		},
		"help": {shell("bd close demo-2"), shell("touch helped"), say("Helped.")},
	})
	s.connect(t)
	s.run(t, "work")
	s.wantClosings(t, "")
	for _, want := range []struct {
		what, script string
		step         int
		text         string
	}{
		{"the survey at the start", "work", 0, "stig claim demo-1"},
		{"the briefing over MCP", "work", 1, "the primer is on"},
		{"the denial", "work", 3, "nothing shows that demo-1 is done"},
		{"the denial to the subagent", "help", 1, "nothing shows that demo-2 is done"},
		{reminder, "work", 5, "demo-1: claimed, and has no checkpoint of today"},
	} {
		if want.what == reminder && p.ends {
			if marks, _ := filepath.Glob(filepath.Join(s.dir, ".git", "stig", "sessions", "*")); len(marks) != 1 {
				t.Errorf("reminded %d sessions", len(marks))
			}
			continue
		}
		if !s.model.saw(want.script, want.step, want.text) {
			t.Errorf("the model was not told %s: %q", want.what, want.text)
		}
	}
	if text := s.read(filepath.Join(s.dir, ".beads", "issues.jsonl")); !strings.Contains(text, `"status":"in_progress"`) {
		t.Errorf("not claimed:\n%s", text)
	}
}

const reminder = "the reminder at the end"

// connect sets stig up in the project, and approves its hooks where a person has to.
func (s *session) connect(t *testing.T) {
	t.Helper()
	s.must(t, "stig", "setup", s.program.name)
	s.must(t, "stig", "skill", "install")
	if s.program.trust != nil {
		s.program.trust(t, s)
	}
}
