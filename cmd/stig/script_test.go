package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/testkit/sample"
	"stig/schemas"
)

// programs are those that tests start beside stig, by the names under which this test binary
// then runs. The first is copied for stig itself, see withStig.
var programs = map[string]func(){beside: stigProcess}

const beside = "stig-beside"

// newProcess creates the App of a stig that is a process.
var newProcess = newApp

func stigProcess() { run(newProcess()) }

// TestMain lets scripts run this test binary as a real process named stig, and as the stand-in
// for bd.

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "bd":
		if err := standIn(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		return
	case "stig":
		stigProcess()
		return
	}
	testscript.Main(withStig{m}, programs)
}

// withStig puts stig beside the programs that testscript.Main puts on PATH, where it would
// replace the stig command of scripts.
type withStig struct{ testscript.TestingM }

func (m withStig) Run() int {
	here()
	sample.Overlap()
	program, err := exec.LookPath(beside)
	if err == nil {
		err = os.Link(program, filepath.Join(filepath.Dir(program), "stig"))
	}
	if err == nil {
		forGit, err = sample.CheapGit(filepath.Join(filepath.Dir(filepath.Dir(program)), "template"))
	}
	if err = errors.Join(err, sample.Quick()); err != nil {
		fmt.Fprintln(os.Stderr, "stig for the tests:", err)
		return 1
	}
	return m.TestingM.Run()
}

// here is the directory of this package. Commands that run in this process change the working
// directory, so tests name their files relative to here.
var here = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
})

func fromHere(path ...string) string {
	joined := filepath.Join(path...)
	if filepath.IsAbs(joined) {
		return joined
	}
	return filepath.Join(here(), joined)
}

// forGit are the variables of sample.CheapGit, for scripts.
var forGit []string

// TestScripts runs testdata/script: a script for each behaviour, named command_topic, whose
// first lines say why it exists. Update expected files in place with go test ./cmd/stig
// -update. The scripts of testdata/e2e, which kill and wait, run under the tag e2e.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scriptsIn(t, "script"))
}

// scriptsIn returns the scripts of a folder of testdata.
func scriptsIn(t *testing.T, folder string) testscript.Params {
	dir := fromHere("testdata", folder)
	if found, _ := filepath.Glob(filepath.Join(dir, "*.txtar")); len(found) == 0 {
		t.Fatalf("no scripts in %s", dir)
	}
	return testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup:               setUp,
		Cmds:                scriptCommands(),
		Condition:           condition,
	}
}

// condition adds a condition for script lines: nohup is true if the tests, and so all that they
// start, ignore hangups.
func condition(name string) (bool, error) {
	if name == "nohup" {
		return signal.Ignored(syscall.SIGHUP), nil
	}
	return false, fmt.Errorf("no condition is named %q", name)
}

// setUp gives every script its own home, a fixed clock, and the example store.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	env.Values["listener"] = new(*listener)
	env.Values["forge"] = newForges()
	env.Setenv("HOME", home)
	harbor := fromHere("..", "..", "examples", "harbor")
	env.Setenv("HARBOR", harbor)
	env.Setenv("STIG_NOW", "2026-11-20T09:00:00Z")
	env.Setenv("TZ", "UTC")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Vars = append(env.Vars, forGit...)
	env.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir))
	env.Setenv("SCHEMA", fromHere("..", "..", schemas.File))
	return os.CopyFS(filepath.Join(env.WorkDir, "harbor"), os.DirFS(harbor))
}

// scriptCommands are the commands that scripts need beside the usual ones.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"stig":      stig,
		"exits":     exits,
		"only-line": onlyLine,
		"crlf":      crlf,
		"cut-short": cutShort,
		"at-most":   atMost,
		"keys":      keys,
		"notes":     notesAre,
		"reword":    reword,
		"use-bd":    useBD,
		"serves":    serves,
		"heard":     heard,
		"holds":     holds,
		"quick":     quick,
		"ran":       ran,
		"event":     event,
		"repo":      repo,
		"forge":     forgeOf,
	}
}

// exits runs stig and checks its exit code: exits 3 orient demo-1
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code arguments of stig...")
	}
	if code := runStig(ts, args[1:]); code != args[0] {
		ts.Fatalf("stig %s: exit %s, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// onlyLine checks that two files differ in one line, and writes both forms of it to a third
// file: only-line before after out
func onlyLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: only-line before after out")
	}
	before := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	after := strings.SplitAfter(ts.ReadFile(args[1]), "\n")
	if len(before) != len(after) {
		ts.Fatalf("%d lines became %d", len(before), len(after))
	}
	var changed []string
	for i := range before {
		if before[i] != after[i] {
			changed = append(changed, before[i], after[i])
		}
	}
	if len(changed) != 2 {
		ts.Fatalf("%d lines changed, want 1", len(changed)/2)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(changed, "")), 0o644))
}

// crlf converts the line ends of a file to CR LF.
func crlf(ts *testscript.TestScript, neg bool, args []string) {
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "\n", "\r\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// cutShort writes a file without its last bytes: cut-short file source
func cutShort(ts *testscript.TestScript, neg bool, args []string) {
	text := strings.TrimSuffix(ts.ReadFile(args[1]), "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text[:len(text)-20]), 0o644))
}

// reword changes the description of an issue, as an editor would: reword file id text
func reword(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: reword file id text")
	}
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, `{"id":"`+args[1]+`"`) {
			continue
		}
		before, rest, ok := strings.Cut(line, `"description":"`)
		if !ok {
			ts.Fatalf("%s has no description", args[1])
		}
		lines[i] = before + `"description":"` + args[2] + " " + rest
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "")), 0o644))
}

// notesAre compares notes, which end without a newline, with a file of the script, which must
// end with one: notes stdout want
func notesAre(ts *testscript.TestScript, neg bool, args []string) {
	if got, want := ts.ReadFile(args[0])+"\n", ts.ReadFile(args[1]); got != want {
		if *update {
			ts.Logf("got:\n%s", got)
		}
		ts.Fatalf("the notes are\n%s\nwant\n%s", got, want)
	}
}

// atMost checks that a text has at most this many characters: at-most 2000 file
func atMost(ts *testscript.TestScript, neg bool, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	if n := utf8.RuneCountInString(ts.ReadFile(args[1])); n > most {
		ts.Fatalf("%d characters, want at most %d", n, most)
	}
}

// keys checks that a file is one JSON object with at least these keys: keys file key...
func keys(ts *testscript.TestScript, neg bool, args []string) {
	object := map[string]json.RawMessage{}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &object))
	for _, key := range args[1:] {
		if _, ok := object[key]; !ok {
			ts.Fatalf("no key %q among %v", key, slices.Sorted(maps.Keys(object)))
		}
	}
}
