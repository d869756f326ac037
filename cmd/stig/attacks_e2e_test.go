//go:build e2e && unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/cmd/stig/cli"
	"stig/internal/process"
	"stig/internal/workspace"
)

// The outcomes of an attack, best first.
const (
	prevented = "prevented"     // the harm was not done
	atOnce    = "found at once" // it was done, and the next output of stig names it
	inCI      = "found in CI"   // it was done, and stig check fails on the server
	notFound  = "not found"
)

// TestAttacks performs each attack of testdata/attacks.txt and compares the lists in
// docs/security.md with the outcomes; -update rewrites them. A slip must never end as notFound.
func TestAttacks(t *testing.T) {
	list := readAttacks(t)
	base := newAttackBase(t)
	outcomes := make([]string, len(list))
	t.Run("all", func(t *testing.T) {
		for i, a := range list {
			t.Run(a.name, func(t *testing.T) {
				stage := newStage(t, base) // before any other runs: a program that is still open for writing cannot be started
				t.Parallel()
				outcomes[i] = stage.perform(a)
				t.Logf("%s:\n%s", outcomes[i], stage.said.String())
				if a.slip && outcomes[i] == notFound {
					t.Error("a slip, and not found")
				}
			})
		}
	})
	if slices.Contains(outcomes, "") {
		return // -run selected some, or one could not be performed
	}
	compareTable(t, fromHere("..", "..", "docs", "security.md"), "attacks", attacksByOutcome(list, outcomes))
}

// attacksByOutcome returns the lists for docs/security.md: a table of how many attacks ended in
// which outcome, and a list for each outcome, worst first.
func attacksByOutcome(list []attack, outcomes []string) string {
	var table, lists strings.Builder
	table.WriteString("| outcome | slips | attacks |\n|---|---:|---:|\n")
	for _, outcome := range []string{notFound, inCI, atOnce, prevented} {
		fmt.Fprintf(&lists, "\n### %s\n\n", strings.ToUpper(outcome[:1])+outcome[1:])
		var slips, attacks int
		for i, a := range list {
			switch {
			case outcomes[i] != outcome:
			case a.slip:
				slips++
				fmt.Fprintf(&lists, "- slip: %s\n", a.name)
			default:
				attacks++
				fmt.Fprintf(&lists, "- %s\n", a.name)
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %d |\n", outcome, slips, attacks)
	}
	return table.String() + lists.String()
}

// attack is one entry of testdata/attacks.txt.
type attack struct {
	name  string
	slip  bool // done without meaning harm
	steps []attackStep
}

// attackStep is a line of an attack: a verb and its arguments.
type attackStep struct{ verb, text string }

// readAttacks parses testdata/attacks.txt, which describes its own format.
func readAttacks(t *testing.T) (list []attack) {
	text, err := os.ReadFile(fromHere("testdata", "attacks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var common []attackStep
	for n, line := range strings.Split(string(text), "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		indented := strings.HasPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case indented && len(list) > 0 && slices.Contains([]string{"before", "env", "call", "does", "$", "%", "says", "harm"}, verb):
			last := &list[len(list)-1]
			last.steps = append(last.steps, attackStep{verb, rest})
		case !indented && verb == "harm":
			common = []attackStep{{verb, rest}}
		case !indented && (verb == "slip" || verb == "attack"):
			list = append(list, attack{name: rest, slip: verb == "slip", steps: slices.Clone(common)})
		default:
			t.Fatalf("attacks.txt:%d: %q", n+1, line)
		}
	}
	return list
}

// attackBase is the starting point of all attacks: a repository in which stig is set up for
// Claude Code, with a commit named base, and the output of stig check there.
type attackBase struct {
	dir   string
	hooks map[string][]attackHook
}

// attackHook is a hook in settings.json.
type attackHook struct {
	Matcher string
	Hooks   []struct{ Command string }
}

func newAttackBase(t *testing.T) *attackBase {
	s := &stage{t: t, dir: filepath.Join(t.TempDir(), "repo")}
	if err := os.CopyFS(s.dir, os.DirFS(fromHere("testdata", "attacked"))); err != nil {
		t.Fatal(err)
	}
	s.setEnv()
	for _, command := range []string{"git init -q -b main", "chmod +x ../repo/tools/*", "git add -A", "git commit -qm begin"} {
		s.mustShell(command)
	}
	for _, target := range []string{"claude", "git"} {
		if code, out := s.stig("", "setup", target); code != 0 {
			t.Fatalf("setup %s: %s", target, out)
		}
	}
	s.mustShell("git add -A && git commit -qm 'set stig up' && git tag base")
	if why := s.server(); why != "" {
		t.Fatalf("the base fails in CI: %s", why)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, ".claude", "settings.json"))
	var settings struct{ Hooks map[string][]attackHook }
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &attackBase{dir: filepath.Dir(s.dir), hooks: settings.Hooks}
}

// stage is the place where one attack is performed.
type stage struct {
	*attackBase
	t      *testing.T
	dir    string   // the repository
	env    []string // of everything that runs in it
	said   strings.Builder
	told   bool   // stig reported the harm
	denied bool   // the output of the last call
	began  bool   // the session's id
	last   string // the tool being called
}

func newStage(t *testing.T, base *attackBase) *stage {
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(base.dir)); err != nil {
		t.Fatal(err)
	}
	s := &stage{attackBase: base, t: t, dir: filepath.Join(root, "repo")}
	s.setEnv()
	return s
}

// setEnv builds the environment: a home beside the repository, programs from tools, and nothing
// else that could name a person or an assistant.
func (s *stage) setEnv() {
	root := filepath.Dir(s.dir)
	s.env = append(slices.Clone(forGit), "HOME="+root, "PWD="+s.dir, "TZ=UTC", "STIG_NOW=2026-11-20T09:00:00Z", "STIG_TRUST=1",
		"PATH="+filepath.Join(s.dir, "tools")+":"+os.Getenv("PATH"), "CLAUDE_ENV_FILE="+filepath.Join(root, "claude-env"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(s.dir, "gitconfig"), "GIT_CEILING_DIRECTORIES="+root)
}

// perform runs the steps of an attack and classifies how it ended.
func (s *stage) perform(a attack) string {
	harm := ""
	for _, step := range a.steps {
		switch step.verb {
		case "env":
			s.env = append(s.env, step.text)
		case "before":
			s.mustShell(step.text + " && git add -A && git commit -qm before && git tag -f base")
		case "%":
			s.shell(step.text)
		case "$":
			s.tool("Bash", map[string]any{"command": step.text}, func() { s.shell(step.text) })
		case "call":
			name, input, _ := strings.Cut(step.text, " ")
			s.tool(name, json.RawMessage(strings.ReplaceAll(input, "$PWD", s.dir)), nil)
		case "does":
			if !s.denied {
				s.shell(step.text)
				s.hook("PostToolUse", map[string]any{"tool_name": s.last})
			}
		case "says":
			s.told = s.told || regexp.MustCompile(step.text).MatchString(s.said.String())
		case "harm":
			harm = step.text
		}
	}
	if !s.shellOK(harm) {
		return prevented
	}
	if s.told {
		return atOnce
	}
	if s.server() != "" {
		return inCI
	}
	return notFound
}

// begin starts the assistant's session.
func (s *stage) begin() {
	if !s.began {
		s.began = true
		s.hook("SessionStart", map[string]any{"source": "startup"})
		s.said.Reset()
	}
}

// tool calls a tool as the assistant does: the hooks named in settings.json run before and
// after it.
func (s *stage) tool(name string, input any, run func()) {
	s.begin()
	s.last = name
	reply := s.hook("PreToolUse", map[string]any{"tool_name": name, "tool_input": input})
	s.denied = strings.Contains(reply, `"deny"`)
	if s.denied || run == nil {
		return
	}
	run()
	s.hook("PostToolUse", map[string]any{"tool_name": name, "tool_input": input})
}

// hook sends an event to the hooks whose matcher fits, and returns their replies.
func (s *stage) hook(event string, fields map[string]any) (replies string) {
	fields["hook_event_name"], fields["session_id"], fields["cwd"] = event, "5e55", s.dir
	text, err := json.Marshal(fields)
	if err != nil {
		s.t.Fatal(err)
	}
	tool, _ := fields["tool_name"].(string)
	for _, h := range s.hooks[event] {
		if !regexp.MustCompile(h.Matcher).MatchString(tool) {
			continue
		}
		for _, one := range h.Hooks {
			_, command, _ := strings.Cut(one.Command, "|| stig ")
			_, out := s.stig(string(text), strings.Fields(command)...)
			replies += out
		}
	}
	s.said.WriteString(replies)
	s.told = s.told || event == "PostToolUse" && replies != ""
	return replies
}

// stig runs stig in this process and returns its exit code and output.
func (s *stage) stig(in string, args ...string) (int, string) {
	var out bytes.Buffer
	both := &oneAtATime{to: &out}
	env := s.environ()
	home := func() (string, error) { return lookUp(env)("HOME"), nil }
	config := func() (string, error) { return filepath.Join(lookUp(env)("HOME"), ".config"), nil }
	a := cli.Front(strings.NewReader(in), both, both, &workspace.Run{
		Getenv: lookUp(env), Env: func() []string { return env }, HomeDir: home, ConfigDir: config, Now: time.Now, Schema: embedded(),
		Ancestors: assistantAbove,
	})
	code := a.Execute(s.t.Context(), command(a), append([]string{"-C", s.dir}, args...))
	return code, out.String()
}

// assistantAbove returns this process as the assistant that starts stig. Child processes have
// it as an ancestor too.
func assistantAbove() []process.Ancestor {
	self, ok := process.Self()
	if !ok {
		return nil
	}
	self.Name = "assistant"
	return []process.Ancestor{self}
}

// environ returns the environment, including what the session's hook wrote to its file.
func (s *stage) environ() []string {
	env := slices.Clone(s.env)
	text, _ := os.ReadFile(lookUp(env)("CLAUDE_ENV_FILE"))
	for line := range strings.Lines(string(text)) {
		if variable, ok := strings.CutPrefix(strings.TrimSpace(line), "export "); ok {
			env = append(env, strings.ReplaceAll(variable, `"`, ""))
		}
	}
	return env
}

// stigAlone matches a command line that starts stig and no other program.
var stigAlone = regexp.MustCompile(`^stig (?:[^'"$;&|<>(){}\\*` + "`" + `]|'[^']*')+$`)

// shell runs a command line and keeps its output. A plain stig command runs in this process,
// which costs a tenth.
func (s *stage) shell(line string) error {
	if stigAlone.MatchString(line) {
		var args []string
		for _, word := range regexp.MustCompile(`'[^']*'|[^ ']+`).FindAllString(line, -1) {
			args = append(args, strings.Trim(word, "'"))
		}
		code, out := s.stig("", args[1:]...)
		s.said.WriteString(out)
		if code != 0 {
			return fmt.Errorf("exit status %d", code)
		}
		return nil
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.environ()
	out, err := cmd.CombinedOutput()
	s.said.Write(out)
	return err
}

func (s *stage) mustShell(line string) {
	s.t.Helper()
	if err := s.shell(line); err != nil {
		s.t.Fatalf("%s: %v: %s", line, err, s.said.String())
	}
}

func (s *stage) shellOK(line string) bool { return s.shell(line) == nil }

// server commits what is there and checks it as a CI server does, without the state of this
// clone or home. It returns "" if nothing is found.
func (s *stage) server() string {
	s.mustShell("git add -A && git commit -qm work --allow-empty && git clean -qfdX && rm -rf .git/stig")
	s.env = append(slices.DeleteFunc(s.env, func(v string) bool { return strings.HasPrefix(v, "STIG_TRUST") || strings.HasPrefix(v, "CLAUDE") }), "HOME="+s.t.TempDir())
	code, out := s.stig("", "check", "--strict", "--against", "base", "--verify")
	s.said.WriteString(out)
	if code == 0 {
		return ""
	}
	return out
}
