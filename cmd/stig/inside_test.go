package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/cmd/stig/cli"
	"stig/cue"
	"stig/internal/service/traces"
	"stig/internal/workspace"
)

// stig runs a command line of a script in this process, which costs a tenth of a process: stig
// orient demo-1. It starts a process, as exec stig always does, in scripts of testdata/e2e, for
// commands that wait, and if the script sets a terminal, or variables that Go reads once for
// each process.
func stig(ts *testscript.TestScript, neg bool, args []string) {
	switch code := runStig(ts, args); {
	case neg && code == "0":
		ts.Fatalf("unexpected command success")
	case !neg && code != "0":
		ts.Fatalf("unexpected command failure: exit status %s", code)
	}
}

// embedded is compiled once for all scripts.
var embedded = sync.OnceValue(cue.Embedded)

// waits reports whether a command line waits for programs, people or a clock. Commands in this
// process wait for each other.
func waits(args []string) bool {
	first := strings.Join(args[:min(1, len(args))], "")
	return first == "watch" || first == "work" || first == "escalate" && slices.Contains(args, "--wait") || slices.Equal(args[:min(2, len(args))], []string{"swarm", "run"})
}

// runStig runs stig for a script and returns its exit code.
func runStig(ts *testscript.TestScript, args []string) string {
	var env []string
	for list := scriptField(ts, "env"); len(env) < list.Len(); {
		env = append(env, list.Index(len(env)).String())
	}
	if !waits(args) && !needsProcess(ts, lookUp(env)) {
		stdin := scriptField(ts, "stdin")
		text := strings.NewReader(stdin.String())
		reflect.NewAt(stdin.Type(), unsafe.Pointer(stdin.UnsafeAddr())).Elem().SetString("") // for this command only
		return strconv.Itoa(runReading(text, ts.MkAbs("."), env, ts.Stdout(), ts.Stderr(), args...))
	}
	if err := ts.Exec("stig", args...); err != nil {
		return strings.TrimPrefix(err.Error(), "exit status ")
	}
	return "0"
}

// plainLine matches a stig command line that needs no shell, plainWord a word of it.
var (
	plainLine = regexp.MustCompile(`^stig( ([\w@.,:/=-]+|'[^']*'|"[^"$` + "`" + `\\]*"))+$`)
	plainWord = regexp.MustCompile(`[\w@.,:/=-]+|'[^']*'|"[^"]*"`)
)

// plainArgs returns the arguments of a stig command line that can run in this process.
func plainArgs(line string) (args []string, plain bool) {
	if !plainLine.MatchString(line) {
		return nil, false
	}
	for _, word := range plainWord.FindAllString(line, -1)[1:] {
		args = append(args, strings.Trim(word, `'"`))
	}
	return args, !waits(args)
}

// needsProcess reports whether a command of a script must be a process.
func needsProcess(ts *testscript.TestScript, getenv func(string) string) bool {
	dir := getenv("XDG_CONFIG_HOME")
	return getenv(inProcesses) != "" ||
		scriptField(ts, "ttyin").Len() > 0 || scriptField(ts, "stdinPty").Bool() ||
		getenv("PATH") != os.Getenv("PATH") || getenv("TZ") != "UTC" || getenv("GODEBUG") != os.Getenv("GODEBUG") ||
		!filepath.IsAbs(getenv("HOME")) || dir != "" && !filepath.IsAbs(dir)
}

// inProcesses is the variable set for scripts of testdata/e2e: each stig is a process.
const inProcesses = "STIG_IN_PROCESSES"

// onScriptStore makes a run open other stores than those at its place.
var onScriptStore = func(*workspace.Run) {}

// directory is locked while the working directory of this process is that of a command.
var directory sync.Mutex

// runInside runs a command line in this process, in a directory and an environment in which
// HOME is absolute, and returns its exit code. Tests that call it must not run in parallel with
// tests that read files by relative paths.
func runInside(dir string, env []string, out, err io.Writer, args ...string) int {
	return runReading(strings.NewReader(""), dir, env, out, err, args...)
}

// runReading is runInside with a standard input.
func runReading(in io.Reader, dir string, env []string, out, err io.Writer, args ...string) int {
	getenv := lookUp(env)
	home := func() (string, error) { return getenv("HOME"), nil }
	config := func() (string, error) {
		return cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(getenv("HOME"), ".config")), nil
	}
	cache := func() (string, error) {
		return cmp.Or(getenv("XDG_CACHE_HOME"), filepath.Join(getenv("HOME"), ".cache")), nil
	}
	environ := func() []string { return append(slices.Clone(env), "PWD="+dir) }
	a := cli.Front(in, &oneAtATime{to: out}, &oneAtATime{to: err},
		&workspace.Run{Getenv: getenv, Env: environ, HomeDir: home, ConfigDir: config, CacheDir: cache, Now: time.Now, Schema: embedded(), Inbox: traces.CountInbox})
	onScriptStore(a.Run)
	directory.Lock()
	defer directory.Unlock()
	back, failed := os.Getwd()
	if failed == nil {
		failed = os.Chdir(dir)
	}
	if failed != nil {
		panic(failed)
	}
	defer func() { _ = os.Chdir(back) }()
	return a.Execute(context.Background(), command(a), args)
}

// lookUp looks up a variable in an environment, in which the last one counts.
func lookUp(env []string) func(string) string {
	return func(name string) (value string) {
		for _, variable := range env {
			if v, ok := strings.CutPrefix(variable, name+"="); ok {
				value = v
			}
		}
		return value
	}
}

// scriptField returns what a script keeps for its next command, which package testscript passes
// only to processes.
func scriptField(ts *testscript.TestScript, name string) reflect.Value {
	return reflect.ValueOf(ts).Elem().FieldByName(name)
}

// oneAtATime is a stream that is safe for concurrent writes.
type oneAtATime struct {
	mu sync.Mutex
	to io.Writer
}

func (w *oneAtATime) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
