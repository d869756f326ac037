//go:build e2e && linux

package hosts_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runLimit is the timeout of one session: the slowest takes about 5 s on an idle machine, and
// ten times that on a busy one.
const runLimit = 3 * time.Minute

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
	if cmd.Process == nil {
		t.Fatalf("%s is not in %s: %v", s.program.name, os.Getenv(hostsVariable), err)
	}
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

// TestHosts runs each program that STIG_TEST_HOSTS contains.
func TestHosts(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Run("control", func(t *testing.T) { control(t, p) })
			t.Run("work", func(t *testing.T) { work(t, p) })
			for _, o := range p.off {
				t.Run("off", func(t *testing.T) { off(t, p, o) })
			}
		})
	}
}

// control: without hooks the close runs, so that a denial proves something.
func control(t *testing.T, p program) {
	s := newSession(t, p, closing)
	s.run(t, "close")
	s.wantClosings(t, "close demo-1\n")
}

var closing = scripts{"close": {shell("bd close demo-1"), say("Closed.")}}

// wantClosings compares the calls that the session's bd recorded.
func (s *session) wantClosings(t *testing.T, want string) {
	t.Helper()
	if got := s.read(filepath.Join(s.bin, "bd.log")); got != want {
		t.Errorf("bd recorded %q, want %q", got, want)
	}
}

// work is a whole session with stig set up: its name and the survey at the start, a call over
// MCP, a claim, a close that is denied, also in a subagent, a note overwritten by a script,
// which is found after the call, and the reminder at the end.
func work(t *testing.T, p program) {
	s := newSession(t, p, scripts{
		"work": {
			mcpTool("orient", object{"id": "demo-2"}),
			shell("stig claim demo-1"),
			shell("bd close demo-1"),
			agent("help"),
			shell("sh wait.sh"), // if subagents run beside their session
			shell("sh overwrite.sh"),
			say("Done."),
		},
		"help": {shell("bd close demo-2"), shell("touch helped"), say("Helped.")},
	})
	s.write(t, filepath.Join(s.dir, "overwrite.sh"), "sed 's/\"notes\":\".*\"/\"notes\":\"all done\"/' .beads/issues.jsonl >new && mv new .beads/issues.jsonl\n")
	s.write(t, filepath.Join(s.dir, "wait.sh"), "for i in $(seq 100); do test -e helped && break; sleep 0.1; done; sleep 1\n")
	s.connect(t)
	s.run(t, "work")
	s.wantClosings(t, "")
	for _, want := range []struct {
		what, script string
		step         int
		text         string
	}{
		{"its name", "work", 0, "stig knows this session as ann/" + p.name + "-"},
		{"the skill", "work", 0, "Briefs you, keeps findings, runs criteria"},
		{"the skill's other name", "work", 0, "The skill stig under its other name"},
		{"the survey at the start", "work", 0, "stig claim demo-1"},
		{"the briefing over MCP", "work", 1, "the primer is on"},
		{"the denial", "work", 3, "nothing shows that demo-1 is done"},
		{"the denial to the subagent", "help", 1, "nothing shows that demo-2 is done"},
		{"what the script overwrote", "work", 6, "stig recover demo-2"},
		{reminder, "work", 6, "stig checkpoint demo-1"},
	} {
		if want.what == reminder && p.ends {
			continue
		}
		if !s.model.saw(want.script, want.step, want.text) {
			t.Errorf("the model was not told %s: %q", want.what, want.text)
		}
	}
	if p.agents && !s.model.saw("help", 0, "a subagent of ann/"+p.name+"-") {
		t.Error("the subagent was not told its name")
	}
	if text := s.read(filepath.Join(s.dir, ".beads", "issues.jsonl")); !strings.Contains(text, `"assignee":"ann/`+p.name+`-`) {
		t.Errorf("not claimed by the session:\n%s", text)
	}
}

const reminder = "the reminder at the end"

// connect sets stig up in the project, and approves its hooks if a person must.
func (s *session) connect(t *testing.T) {
	t.Helper()
	s.must(t, "stig", "setup", s.program.name)
	if s.program.trust != nil {
		s.program.trust(t, s)
	}
}

// obstacle prevents a program from running the hooks in its settings.
type obstacle struct {
	make func(t *testing.T, s *session)
	want string // stig's message about it
}

// off: the program runs none of stig's hooks, the close runs, and setup, setup --check and
// doctor say why.
func off(t *testing.T, p program, o obstacle) {
	s := newSession(t, p, closing)
	s.must(t, "stig", "setup", p.name)
	o.make(t, s)
	s.run(t, "close")
	s.wantClosings(t, "close demo-1\n")
	for _, args := range [][]string{{"setup", p.name}, {"setup", p.name, "--check"}, {"doctor"}} {
		if out, _ := s.output("stig", args...); !strings.Contains(strings.Join(strings.Fields(out), " "), o.want) { // doctor breaks lines
			t.Errorf("stig %s: no %q in\n%s", strings.Join(args, " "), o.want, out)
		}
	}
}

// TestPublished installs the plugin of this repository from its marketplace, as a user
// of Claude Code or Codex would.
func TestPublished(t *testing.T) {
	repository, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for name, commands := range map[string][]string{
		"claude": {"plugin validate --strict " + repository, "plugin validate " + filepath.Join(repository, "internal", "assistant", "plugin"), "plugin marketplace add " + repository, "plugin install stig@stig"},
		"codex":  {"plugin marketplace add " + repository, "plugin add stig@stig"},
	} {
		p := programs[slices.IndexFunc(programs, func(p program) bool { return p.name == name })]
		s := newSession(t, p, nil)
		for _, command := range commands {
			s.must(t, s.executable(), strings.Fields(command)...)
		}
		out := s.must(t, s.executable(), "plugin", "list")
		if !strings.Contains(out, "stig@stig") || !strings.Contains(out, "enabled") {
			t.Errorf("%s plugin list: %s", name, out)
		}
	}
}
