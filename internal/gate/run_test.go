//go:build unix

package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/gate"
	"stig/internal/testkit/ended"
)

// job is a job that runs scripts in a directory outside any repository.
func job(t *testing.T, scripts ...string) gate.Job {
	t.Helper()
	j := gate.Job{
		Issue: "reef-1", Criteria: strings.Join(scripts, "\n"), Root: t.TempDir(), Actor: "mara",
		Env: append(os.Environ(), "GIT_CEILING_DIRECTORIES="+os.TempDir()), Logs: filepath.Join(t.TempDir(), "logs"), Time: time.Now(), Now: time.Now,
	}
	for i, script := range scripts {
		j.Checks = append(j.Checks, gate.Check{Text: script, Origin: gate.Fence, Class: gate.Runnable, Line: i + 1})
	}
	return j
}

// runJob runs a job under a deadline that no test should reach.
func runJob(t *testing.T, j gate.Job) *gate.Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	v, err := gate.Run(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// one runs a script and returns its outcome and its log.
func one(t *testing.T, j gate.Job) (gate.Outcome, string) {
	t.Helper()
	v := runJob(t, j)
	o := v.Outcomes()[0]
	if v.Passed() != (o.Exit == 0) {
		t.Errorf("passed is %v with %+v", v.Passed(), o)
	}
	text, err := os.ReadFile(o.Log)
	if err != nil {
		t.Fatal(err)
	}
	return o, string(text)
}

// Each fence runs as one script, and stops at its first failure.
func TestVerifyScripts(t *testing.T) {
	for _, c := range []struct {
		name, script string
		exit         int
		log          string
	}{
		{"success", "echo calm", 0, "calm\n"},
		{"a later command fails", "true\nfalse\ntrue", 1, ""},
		{"an early command fails", "false\necho never", 1, ""},
		{"exit code", "exit 7", 7, ""},
		{"signal", "kill -KILL $$", 137, ""},
		{"here-document", "cat <<'END'\na `b` $c\nEND\n", 0, "a `b` $c\n"},
		{"loop", "for buoy in 1 2 3; do\n  echo $buoy\ndone", 0, "1\n2\n3\n"},
		{"loop that fails", "for buoy in 1 2 3; do\n  test $buoy -lt 2\n  echo $buoy\ndone", 1, "1\n"},
		{"cd", "mkdir bay\ncd bay\nbasename \"$PWD\"", 0, "bay\n"},
		{"variables", "depth=12\necho $((depth * 2))", 0, "24\n"},
		{"unset variable", "echo $NO_SUCH_DEPTH_AT_ALL", 1, ""},
		{"a pipe fails early", "false | cat", 1, ""},
		{"condition", "if false; then exit 9; fi", 0, ""},
		{"reads stdin", "cat; read -r line || echo none", 0, "none\n"},
		{"both outputs in order", "echo a; echo b >&2; echo c", 0, "a\nb\nc\n"},
		{"bytes", `printf '\t"\0'"'"'\377\303\r\n\033[1m'`, 0, "\t\"\x00'\xff\xc3\r\n\x1b[1m"},
		{"issue", "echo $STIG_ISSUE", 0, "reef-1\n"},
		{"no such program", "no-such-program-at-all", 127, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := job(t, c.script)
			o, log := one(t, j)
			if o.Exit != c.exit || o.Reason != "" && c.exit != gate.ExitMissing {
				t.Errorf("exit %d, reason %q; want %d", o.Exit, o.Reason, c.exit)
			}
			if c.log != "" && log != c.log {
				t.Errorf("log %q, want %q", log, c.log)
			}
			if c.exit == 1 && strings.Contains(log, "never") {
				t.Error("went on after a failure")
			}
		})
	}
}

func TestVerifyTail(t *testing.T) {
	j := job(t, `seq 1 200000; printf 'last \377 word'; exit 3`)
	var out bytes.Buffer
	j.Out = &out
	var before, after runtime.MemStats
	j.Out = nil
	runtime.ReadMemStats(&before)
	o, log := one(t, j)
	runtime.ReadMemStats(&after)
	lines := strings.Split(o.Tail, "\n")
	if o.Exit != 3 || len(lines) != 20 || lines[0] != "199982" || lines[19] != "last \uFFFD word" {
		t.Errorf("exit %d, tail %q", o.Exit, o.Tail)
	}
	if strings.Count(log, "\n") != 200000 || !strings.HasPrefix(log, "1\n2\n") || !strings.HasSuffix(log, "200000\nlast \xff word") {
		t.Errorf("the log has %d bytes", len(log))
	}
	// The test reads the 1.3 MB log twice.
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes of memory for a long output", used)
	}
	o, _ = one(t, job(t, "head -c 100000 /dev/zero | tr '\\0' x"))
	if len(o.Tail) != 8<<10 {
		t.Errorf("the tail of a long line has %d bytes", len(o.Tail))
	}
	if o, _ = one(t, job(t, "true")); o.Tail != "" {
		t.Errorf("the tail of nothing is %q", o.Tail)
	}
}

// Commands are shown before they run, and their output as it comes.
func TestVerifyShows(t *testing.T) {
	t.Parallel()
	var out writes
	j := job(t, "echo one; sleep 0.3; printf two", "echo \x1b[2Jthree\u202e\n# \xff\ttide")
	j.Out = &out
	runJob(t, j)
	want := "+ echo one; sleep 0.3; printf two\none\ntwo\n" + `+ echo \x1b[2Jthree\u202e` + "\n" + `> # \xff` + "\ttide\n\x1b[2Jthree\u202e\n"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if gap := out.at("two").Sub(out.at("one")); gap < 200*time.Millisecond {
		t.Errorf("the output came together, within %v", gap)
	}
	if strings.Contains(out.String(), "\x1b[K") {
		t.Error("a line for terminals is in a file")
	}
}

// writes records what is written, and when.
type writes struct {
	mu    sync.Mutex
	texts []string
	times []time.Time
}

func (w *writes) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts, w.times = append(w.texts, string(b)), append(w.times, time.Now())
	return len(b), nil
}

func (w *writes) String() string { return strings.Join(w.texts, "") }

func (w *writes) at(text string) time.Time {
	for i, t := range w.texts {
		if strings.HasPrefix(t, text) {
			return w.times[i]
		}
	}
	return time.Time{}
}

func TestVerifyTellsTheTimeOnATerminal(t *testing.T) {
	t.Parallel()
	var out writes
	j := job(t, "printf 'a prompt '; sleep 1.2; echo; sleep 1.2; echo end")
	j.Out, j.Terminal = &out, true
	runJob(t, j)
	_, shown, _ := strings.Cut(out.String(), "\n")
	if want := "a prompt \n\r\x1b[K2s of 10m0s\r\x1b[Kend\n"; shown != want {
		t.Errorf("got  %q\nwant %q", shown, want)
	}
}

func TestVerifyStops(t *testing.T) {
	j := job(t, "true", "exit 3", "touch reached", "exit 4")
	v := runJob(t, j)
	got := []int{}
	for _, o := range v.Outcomes() {
		got = append(got, o.Exit)
	}
	if v.Passed() || len(got) != 4 || got[0] != 0 || got[1] != 3 || got[2] != gate.ExitNotRun || got[3] != gate.ExitNotRun {
		t.Errorf("got %v", got)
	}
	if o := v.Outcomes()[2]; o.Reason != "not run: the previous check failed" || o.Passed() {
		t.Errorf("got %+v", o)
	}
	if _, err := os.Stat(filepath.Join(j.Root, "reached")); err == nil {
		t.Error("went on after a failure")
	}
	j.KeepGoing = true
	v = runJob(t, j)
	if o := v.Outcomes(); v.Passed() || o[2].Exit != 0 || o[3].Exit != 4 {
		t.Errorf("got %+v", o)
	}
	if _, err := os.Stat(filepath.Join(j.Root, "reached")); err != nil {
		t.Error("stopped although it was to keep going")
	}
}

// What cannot or must not run has failed; what is not a command does not count.
func TestVerifyWithoutRunning(t *testing.T) {
	touch := "touch reached"
	for _, c := range []struct {
		name   string
		check  gate.Check
		allow  bool
		exit   int
		reason string
	}{
		{"destructive span", gate.Check{Class: gate.Refused, Reason: "rm -r"}, true, 126, "rm -r; runs only in a fence marked verify, with --allow-destructive"},
		{"destructive fence", gate.Check{Class: gate.Refused, Reason: "rm -r", Verify: true}, false, 126, "rm -r; not run without --allow-destructive"},
		{"does not parse", gate.Check{Class: gate.Refused, Broken: true, Reason: "1:1: no end"}, true, 2, "1:1: no end"},
	} {
		j := job(t, touch)
		c.check.Text = touch
		j.Checks, j.AllowDestructive = []gate.Check{c.check}, c.allow
		var out bytes.Buffer
		j.Out = &out
		v := runJob(t, j)
		if o := v.Outcomes(); v.Passed() || len(o) != 1 || o[0].Exit != c.exit || o[0].Reason != c.reason || o[0].Log != "" {
			t.Errorf("%s: got %+v", c.name, o)
		}
		if want := "+ touch reached\n" + c.reason + "\n"; out.String() != want {
			t.Errorf("%s: showed %q", c.name, out.String())
		}
		if _, err := os.Stat(filepath.Join(j.Root, "reached")); err == nil {
			t.Errorf("%s: it ran", c.name)
		}
	}
	j := job(t, touch)
	j.Checks[0].Class, j.Checks[0].Verify, j.Checks[0].Reason, j.AllowDestructive = gate.Refused, true, "rm -r", true
	if o, _ := one(t, j); o.Exit != 0 || o.Reason != "" {
		t.Errorf("what is allowed gives %+v", o)
	}
	j.Checks = []gate.Check{{Text: touch, Class: gate.Manual, Reason: "is prose"}}
	if v := runJob(t, j); v.Passed() || len(v.Outcomes()) != 0 {
		t.Errorf("nothing to run gives %+v", v.Outcomes())
	}
	if v := runJob(t, job(t)); v.Passed() {
		t.Error("no check at all passed")
	}
}

func TestVerifyTimeout(t *testing.T) {
	const short = 300 * time.Millisecond
	for name, c := range map[string]struct {
		script string
		limit  time.Duration
	}{
		"never ends":                  {"while :; do sleep 0.05; done", time.Second},
		"ends with success when told": {"trap 'exit 0' TERM; while :; do sleep 0.05; done", short},
		"ignores SIGTERM":             {"trap '' TERM; while :; do sleep 0.05; done", short},
		"writes without end":          {"while :; do echo spray; done", short},
		"in a group of its own":       {"set -m; sleep 300 & wait", short},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := job(t, "echo $$ >pid\n"+c.script, "touch reached")
			pid := filepath.Join(j.Root, "pid")
			for limit, began := c.limit, false; !began; limit *= 2 { // on a busy machine it may end before the check has begun
				j.Timeout = limit
				start := time.Now()
				v := runJob(t, j)
				took := time.Since(start)
				o := v.Outcomes()
				if v.Passed() || o[0].Exit != gate.ExitTimeout || o[0].Reason != "timed out after "+limit.String() || o[1].Exit != gate.ExitNotRun {
					t.Fatalf("got %+v", o)
				}
				if took < limit || took > limit+20*time.Second {
					t.Errorf("took %v", took)
				}
				info, err := os.Stat(pid)
				began = err == nil && info.Size() > 0
			}
			ended.Wait(t, pid)
		})
	}
}

func TestVerifyDeadline(t *testing.T) {
	t.Parallel()
	j := job(t, "true", "sleep 300", "true")
	j.Deadline, j.KeepGoing = 300*time.Millisecond, true
	o := runJob(t, j).Outcomes()
	for o[0].Exit == gate.ExitTimeout && j.Deadline < 20*time.Second { // on a busy machine
		j.Deadline *= 2
		o = runJob(t, j).Outcomes()
	}
	if o[0].Exit != 0 || o[1].Exit != gate.ExitTimeout || o[1].Reason != "timed out: all checks together had "+j.Deadline.String() ||
		o[2].Exit != gate.ExitNotRun || o[2].Reason != "not run: all checks together had "+j.Deadline.String() {
		t.Errorf("got %+v", o)
	}
}

// An interrupt ends the running check, and is distinguished from a failure.
func TestVerifyInterrupted(t *testing.T) {
	t.Parallel()
	j := job(t, "true", "trap 'exit 0' TERM; echo $$ >pid; while :; do sleep 0.05; done", "touch reached")
	j.KeepGoing = true
	pid := filepath.Join(j.Root, "pid")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupt")
	go func() {
		for info, err := os.Stat(pid); err != nil || info.Size() == 0; info, err = os.Stat(pid) {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(why)
	}()
	v, err := gate.Run(ctx, j)
	if !errors.Is(err, why) || v.Passed() {
		t.Fatalf("got %v", err)
	}
	o := v.Outcomes()
	if o[0].Exit != 0 || o[1].Exit != gate.ExitInterrupt || o[1].Reason != "interrupted" || o[2].Exit != gate.ExitNotRun || o[2].Reason != "not run: interrupted" {
		t.Errorf("got %+v", o)
	}
	ended.Wait(t, pid)
}

// Processes left behind by a check neither block stig nor change the outcome.
func TestVerifyDaemon(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"holds the output": "sleep 300 & echo $! >pid",
		"in a session":     "setsid sleep 300 & echo $! >pid",
	} {
		if _, err := exec.LookPath("setsid"); err != nil && strings.Contains(script, "setsid") {
			continue
		}
		j := job(t, script, "true")
		start := time.Now()
		v := runJob(t, j)
		if took := time.Since(start); !v.Passed() || took > 10*time.Second {
			t.Errorf("%s: took %v: %+v", name, took, v.Outcomes())
		}
		if runtime.GOOS == "linux" || !strings.Contains(script, "setsid") {
			ended.Wait(t, filepath.Join(j.Root, "pid"))
		}
	}
}

func TestVerifyEnvironment(t *testing.T) {
	dropped := []string{
		"REEF_TOKEN", "reef_token", "TOKENS_OF_REEF", "REEF_SECRET", "SECRET_REEF", "MyPassword", "REEF_KEY", "reef_key", "REEF_CREDENTIALS",
		"REEFKEY", "GITHUB_PAT", "REEF_PASS", "SSHPASS", "PGPASSFILE", "REEF_PWD", "MYSQL_PWD", "DATABASE_URL", "REEF_DATABASE_URL", "SLACK_WEBHOOK_URL", "SENTRY_DSN",
		"SSH_AUTH_SOCK", "DOCKER_AUTH_CONFIG", "DOCKER_CONFIG", "NPM_CONFIG__AUTH", "npm_config__auth", "PASSPHRASE",
		"PROMPT_COMMAND", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_SSH_KEY",
		"BASH_ENV", "ENV", "BASHOPTS", "BASH_FUNC_git%%", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "STIG_NOW",
	}
	kept := []string{"REEF", "KEYBOARD", "REEF_KEY_ID", "KEYS", "GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL", "STIG_TRUST", "PASS_REEF_TOKEN", "PATHEXT", "REEF_PATH", "AUTHOR", "COMPASS_URL"}
	j := job(t, "env")
	j.Env = []string{"PATH=" + os.Getenv("PATH"), "STIG_ISSUE=other-1", "GIT_CEILING_DIRECTORIES=" + os.TempDir()}
	for _, name := range append(append([]string(nil), dropped...), kept...) {
		j.Env = append(j.Env, name+"=x=y")
	}
	j.Pass = []string{"PASS_REEF_TOKEN", "LD_PRELOAD", "GIT_SSH_KEY", "BASH_ENV", "PROMPT_COMMAND", "STIG_NOW"}
	// The git that examines the tree must not be misled either way.
	j.Env = without(j.Env, "GIT_DIR=", "GIT_WORK_TREE=", "GIT_COMMON_DIR=", "GIT_INDEX_FILE=")
	_, log := one(t, j)
	lines := strings.Split(log, "\n")
	has := func(line string) bool {
		return slices.Contains(lines, line)
	}
	for _, name := range dropped {
		if has(name + "=x=y") {
			t.Errorf("%s was inherited", name)
		}
	}
	for _, name := range kept {
		if !has(name + "=x=y") {
			t.Errorf("%s was not inherited", name)
		}
	}
	if !has("STIG_ISSUE=reef-1") || has("STIG_ISSUE=other-1") {
		t.Errorf("got %s", log)
	}
}

func without(env []string, prefixes ...string) []string {
	var left []string
next:
	for _, variable := range env {
		for _, prefix := range prefixes {
			if strings.HasPrefix(variable, prefix) {
				continue next
			}
		}
		left = append(left, variable)
	}
	return left
}

// Under a git hook a check that creates a repository must not affect ours.
func TestVerifyGitVariables(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	j := job(t, "mkdir inner; cd inner; git init -q; git rev-parse --absolute-git-dir | grep -q inner/.git")
	j.Root = dir
	j.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+filepath.Join(dir, ".git", "index"))
	if o, log := one(t, j); o.Exit != 0 {
		t.Errorf("%+v %s", o, log)
	}
}

// Instructions to the shell in the environment must not make a check pass.
func TestVerifyShellVariables(t *testing.T) {
	j := job(t, "false")
	quiet := filepath.Join(t.TempDir(), "quiet")
	if err := os.WriteFile(quiet, []byte("exit 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"SHELLOPTS=noexec", "BASH_ENV=" + quiet, "BASH_FUNC_false%%=() { :; }"} {
		j.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+os.TempDir(), variable)
		if o, _ := one(t, j); o.Exit != 1 {
			t.Errorf("%s: exit %d", variable, o.Exit)
		}
	}
}

// A failure for lack of a credential names it, and how to pass it.
func TestVerifyCredentials(t *testing.T) {
	j := job(t, `echo "$REEF_TOKEN"`)
	j.Env = append(j.Env, "REEF_TOKEN=shell", "OTHER_TOKEN=sand")
	o, log := one(t, j)
	if o.Exit != 1 || !strings.HasPrefix(o.Reason, "REEF_TOKEN looks like a credential") || !strings.Contains(o.Reason, "gate.env") {
		t.Errorf("%+v %s", o, log)
	}
	for script, want := range map[string]string{
		"printf 'REEF_%s' TOKEN; exit 3": "REEF_TOKEN looks like a credential", // only in its output
		"exit 3":                         "",
		`echo "${REEF_TOKEN:-none}"`:     "", // passes
	} {
		j.Checks[0].Text = script
		if o, _ := one(t, j); !strings.HasPrefix(o.Reason, want) || want == "" && o.Reason != "" {
			t.Errorf("%s: reason %q, want %q", script, o.Reason, want)
		}
	}
	j.Checks[0].Text = `echo "$REEF_TOKEN"`
	j.Pass = []string{"REEF_TOKEN"}
	if o, log := one(t, j); o.Exit != 0 || log != "shell\n" {
		t.Errorf("%+v %s", o, log)
	}
}

// Criteria that verify their own issue would recurse forever.
func TestVerifyWithin(t *testing.T) {
	j := job(t, "echo $STIG_VERIFYING")
	j.Env = append(j.Env, "STIG_VERIFYING=kelp-1 kelp-2")
	if _, log := one(t, j); log != "kelp-1 kelp-2 reef-1\n" {
		t.Errorf("got %q", log)
	}
	j.Env = append(j.Env[:len(j.Env)-1], "STIG_VERIFYING=reef-1 kelp-2")
	if v, err := gate.Run(t.Context(), j); err == nil || v.Passed() || !strings.Contains(err.Error(), "reef-1: its criteria") {
		t.Errorf("got %v", err)
	}
}

// Without bash no check runs: another shell would accept a failing pipe.
func TestVerifyWithoutBash(t *testing.T) {
	j := job(t, "true")
	t.Setenv("PATH", t.TempDir())
	if v, err := gate.Run(t.Context(), j); err == nil || v.Passed() || !strings.HasPrefix(err.Error(), "bash: not found; ") {
		t.Errorf("got %v", err)
	}
}

func TestVerifyFails(t *testing.T) {
	j := job(t, "true")
	j.Root = filepath.Join(j.Root, "missing")
	if _, err := gate.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("no root: %v", err)
	}
	j = job(t, "true")
	j.Root = os.Args[0]
	if _, err := gate.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("a file as root: %v", err)
	}
	j = job(t, "true")
	j.Checks[0].Text = "rm -r '" + j.Logs + "'"
	j.Checks = append(j.Checks, gate.Check{Text: "true", Class: gate.Runnable})
	if v, err := gate.Run(t.Context(), j); err == nil || v.Passed() || !strings.Contains(err.Error(), "logs: ") {
		t.Errorf("logs that are gone meanwhile: %v", err)
	}
	j = job(t, "true")
	if err := os.WriteFile(j.Logs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "logs: ") {
		t.Errorf("no directory for logs: %v", err)
	}
	_, j = workTree(t, "true")
	write(t, "no index", j.Root, ".git", "index")
	if v, err := gate.Run(t.Context(), j); err == nil || v.Passed() {
		t.Errorf("a repository that git cannot read: %v", err)
	}
	j = job(t, "true # "+strings.Repeat("x", 3<<20))
	if v, err := gate.Run(t.Context(), j); err == nil || v.Passed() || len(err.Error()) > 4<<20 {
		t.Error("a script that no shell takes did not fail")
	}
	j = job(t, "echo tide")
	for _, c := range []struct{ class, text string }{{gate.Runnable, "tide"}, {gate.Runnable, "+ echo tide"}, {gate.Runnable, "+ echo tide"}} {
		j.Checks[0].Class, j.Out = c.class, full(c.text)
		if v, err := gate.Run(t.Context(), j); err == nil || v.Passed() || !strings.Contains(err.Error(), "no room") {
			t.Errorf("%s: %q that cannot be shown gives %v", c.class, c.text, err)
		}
	}
}

// full fails to write anything that begins with a text, and shows the rest.
type full string

func (f full) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), string(f)) {
		return 0, errors.New("no room")
	}
	return len(b), nil
}

// Old logs are removed; each check has its own.
func TestVerifyLogs(t *testing.T) {
	j := job(t, "echo one", "echo two")
	j.Issue = "reef/1 ü"
	if err := os.MkdirAll(j.Logs, 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for i := range 250 {
		path := filepath.Join(j.Logs, "old-"+string(rune('a'+i/26))+string(rune('a'+i%26))+".log")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, old, old.Add(time.Duration(i)*time.Second))); err != nil {
			t.Fatal(err)
		}
	}
	foreign := filepath.Join(j.Logs, "notes.txt")
	if err := errors.Join(os.WriteFile(foreign, nil, 0o600), os.Chtimes(foreign, old, old)); err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(j.Logs, "huge.log")
	if err := errors.Join(os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 2<<30), os.Chtimes(huge, old, old.Add(-time.Hour))); err != nil {
		t.Fatal(err)
	}
	v := runJob(t, j)
	entries, err := os.ReadDir(j.Logs)
	if err != nil || len(entries) != 200+2+1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	if _, err := os.Stat(filepath.Join(j.Logs, "old-aa.log")); err == nil {
		t.Error("the oldest log is still there")
	}
	for i, want := range []string{"one\n", "two\n"} {
		log := v.Outcomes()[i].Log
		text, err := os.ReadFile(log)
		if err != nil || string(text) != want || !strings.HasPrefix(filepath.Base(log), "reef%2F1%20%C3%BC-") {
			t.Errorf("%s: %q, %v", log, text, err)
		}
	}
	j.Logs = ""
	if v := runJob(t, j); !v.Passed() || v.Outcomes()[0].Log != "" || v.Outcomes()[0].Tail != "one" {
		t.Errorf("without logs: %+v", v.Outcomes())
	}
}

func TestVerdictTells(t *testing.T) {
	j := job(t, "printf 'a\\0\"\\377'", "exit 3", "ls")
	j.Time = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	j.Now = func() time.Time { return time.Time{} }
	v := runJob(t, j)
	if log := filepath.Base(v.Outcomes()[0].Log); !strings.HasPrefix(log, "reef-1-20261120T090000Z-1-") {
		t.Errorf("log %s", log)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	checks := got["checks"].([]any)
	first := checks[0].(map[string]any)
	if got["id"] != "reef-1" || got["passed"] != false || got["actor"] != "mara" || got["criteria_hash"] != gate.Hash(j.Criteria) ||
		got["time"] != "2026-11-20T09:00:00Z" || len(checks) != 3 || first["tail"] != "a\x00\"\uFFFD" || first["exit"] != 0.0 || first["origin"] != gate.Fence {
		t.Errorf("got %s", text)
	}
	if got, want := v.Summary(), `1 passed, 1 failed, 1 not run [printf 'a\0"\377' 0.0s; exit 3 exit 3; ls not run]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	j = job(t, "true\n"+strings.Repeat("# more\n", 3), ": "+strings.Repeat("ü", 100), ": "+strings.Repeat("ü", 58), ": \x1b[2J", ":", ":", ":", ":", ":")
	clock := time.Time{}
	j.Now = func() time.Time { clock = clock.Add(1500 * time.Millisecond); return clock }
	v = runJob(t, j)
	if got, want := v.Summary(), "9/9 [true … 1.5s; : "+strings.Repeat("ü", 58)+" … 1.5s; : "+strings.Repeat("ü", 58)+` 1.5s; : \x1b[2J 1.5s; `+strings.Repeat(": 1.5s; ", 4)+"…]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if text, err := json.Marshal(v); err != nil || !strings.Contains(string(text), `"passed":true`) {
		t.Errorf("got %s, %v", text, err)
	}
	if text, err := json.Marshal(runJob(t, job(t))); err != nil || !strings.Contains(string(text), `"checks":[]`) {
		t.Errorf("without a check: %s, %v", text, err)
	}
}
