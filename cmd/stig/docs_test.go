package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// documents returns the names of the documents: the book in docs, and the pages beside the
// code. Each console block in them is a session on a fresh copy of the example store, with the
// output below each command. "console empty" starts in an empty directory; "console continued"
// continues the block before it. A line with only an export applies to the rest of the
// document, as in a reader's shell. fences_test.go covers all other blocks.
func documents(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "examples/*/README.md"} {
		found, err := filepath.Glob(fromHere("..", "..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			name, err := filepath.Rel(fromHere("..", ".."), path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(name))
		}
	}
	return names
}

// TestDocuments runs the samples of the documents; -update writes their output.
func TestDocuments(t *testing.T) {
	t.Parallel()
	program := program(t)
	for _, name := range documents(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := fromHere("..", "..", name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r := reader{T: t, program: program}
			if r.clone = slices.Contains(asMara, name); r.clone {
				r.exported = mara
			}
			ran := consoleBlock.ReplaceAllStringFunc(string(text), r.session)
			if ran == string(text) {
				return
			}
			if !*update {
				t.Fatalf("run go test ./cmd/stig -update:\n%s", diff.Diff(name, text, "what its samples print", []byte(ran)))
			}
			if err := os.WriteFile(path, []byte(ran), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestNightIsShown compares the night shown in docs/workers.md with the script that runs it:
// except for headings and omissions, the script expects each line.
func TestNightIsShown(t *testing.T) {
	t.Parallel()
	shown := 0
	var expects []*regexp.Regexp
	for _, found := range regexp.MustCompile("(?m)^stdout '(.*)'$").FindAllStringSubmatch(readFile(t, "testdata", "script", "night_walk.txtar"), -1) {
		expects = append(expects, regexp.MustCompile("(?m)"+found[1]))
	}
	for _, b := range codeBlocks(readFile(t, "..", "..", "docs", "workers.md")) {
		if b.info != "text" {
			continue
		}
		left := b.text
		for _, e := range expects {
			left = e.ReplaceAllString(left, "…")
		}
		for line := range strings.Lines(left) {
			shown++
			if line = strings.TrimSpace(line); strings.Contains(line, " ") && !strings.HasSuffix(line, "…") && line != "Waits for you" && line != "To land" {
				t.Errorf("night_walk.txtar expects no such line: %s", line)
			}
		}
	}
	if shown < 10 {
		t.Errorf("%d lines are shown", shown)
	}
}

// asMara lists the documents whose reader is mara, in a git repository. Her set-up before
// reading is in no sample.
var asMara = []string{"README.md", "docs/quickstart.md", "docs/guide.md"}

var mara = []string{"STIG_ACTOR=mara", "GIT_CONFIG_COUNT=3",
	"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=mara",
	"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=mara@harbor.example",
	"GIT_CONFIG_KEY_2=init.defaultBranch", "GIT_CONFIG_VALUE_2=main"}

var (
	duration = regexp.MustCompile(`\b\d+\.\d+s\b`)
	logFile  = regexp.MustCompile(`(Z-\d+)-\d+\.log\b`)
)

// steady replaces what differs between runs: how long a check took, and the log that has its
// output.
func steady(printed []byte) []byte {
	return logFile.ReplaceAll(duration.ReplaceAll(printed, []byte("0.0s")), []byte("$1.log"))
}

// A block that shows a fence is fenced by four backticks.
var consoleBlock = regexp.MustCompile("(?ms)^````console( empty| continued)?\n.*?^````\n|^```console( empty| continued)?\n.*?^```\n")

// exportLine matches an export of one variable alone.
var exportLine = regexp.MustCompile(`^export (\w+=\S+)$`)

// reader reads a document from its beginning.
type reader struct {
	*testing.T
	program, dir string
	clone        bool     // the example store is in a git repository
	exported     []string // by the blocks so far
}

// session runs the commands of a console block in order and returns the block as it should be.
// A block that shows no output keeps none, but every command in it must succeed. If stig prints
// nothing where readers might think that output was omitted, the block says so.
func (r *reader) session(block string) string {
	first, _, _ := strings.Cut(block, "\n")
	switch {
	case !strings.HasSuffix(first, " continued"):
		r.dir = r.TempDir()
		if strings.HasSuffix(first, " empty") {
			break
		}
		if err := os.CopyFS(r.dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
			r.Fatal(err)
		}
		if r.clone {
			if said, err := shell(r.dir, r.program, "git init -q && git add .beads && git commit -qm harbor", r.exported...); err != nil {
				r.Fatalf("%v\n%s", err, said)
			}
		}
	case r.dir == "":
		r.Fatalf("%s: no block stands before it", first)
	}
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	opener, closer := lines[0], lines[len(lines)-1]
	lines = lines[1 : len(lines)-1]
	shows := false
	for i := 0; i < len(lines); i++ {
		if joined := withInput(lines[i:]); joined > 1 {
			lines = slices.Replace(lines, i, i+joined, strings.Join(lines[i:i+joined], "\n"))
		}
		shows = shows || lines[i] != "" && lines[i] != printsNothing && !strings.HasPrefix(lines[i], "$ ")
	}
	ran, silent := []string{opener}, true
	for _, line := range lines {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		command = strings.ReplaceAll(strings.ReplaceAll(command, "\n>\n", "\n\n"), "\n> ", "\n")
		if found := exportLine.FindStringSubmatch(command); found != nil {
			r.exported = append(r.exported, found[1])
		}
		printed, err := shell(r.dir, r.program, command, r.exported...)
		if err != nil && !shows {
			r.Errorf("%s: %v\n%s", command, err, printed)
		}
		ran = append(ran, line)
		printed = bytes.ReplaceAll(printed, []byte(r.dir), []byte("/home/mara/harbor"))
		printed = bytes.ReplaceAll(printed, []byte(filepath.Dir(r.dir)), []byte("/home/mara"))
		printed = bytes.TrimRight(steady(printed), "\n")
		silent = silent && len(printed) == 0
		switch {
		case len(printed) == 0 && strings.HasPrefix(command, "stig ") && !strings.Contains(command, ">"):
			ran = append(ran, printsNothing)
		case shows && len(printed) > 0:
			ran = append(ran, string(printed))
		}
	}
	if !shows && !silent {
		ran = slices.DeleteFunc(ran, func(line string) bool { return line == printsNothing })
	}
	return strings.Join(append(ran, closer), "\n") + "\n"
}

// printsNothing marks a sample's command that prints nothing.
const printsNothing = "# prints nothing"

// withInput returns how many lines a command takes: after << it continues on lines with the
// prompt "> ".
func withInput(lines []string) int {
	n := 1
	if strings.HasPrefix(lines[0], "$ ") && strings.Contains(lines[0], "<<") {
		for n < len(lines) && strings.HasPrefix(lines[n], ">") {
			n++
		}
	}
	return n
}

// shell runs a command as a reader would, two days after the story of the example store ends,
// with stig on PATH and the variables that the samples exported.
func shell(dir, program, command string, exported ...string) ([]byte, error) {
	env := append(os.Environ(),
		"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+dir, "TZ=UTC", "STIG_NOW=2026-11-20T09:00:00Z", "BEADS_DIR=", "STIG_ACTOR=", "BD_ACTOR=",
		"XDG_STATE_HOME=", "STIG_TRUST=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2026-11-20T09:00:00Z", "GIT_COMMITTER_DATE=2026-11-20T09:00:00Z")
	env = append(env, exported...)
	if args, plain := plainArgs(command); plain {
		var out bytes.Buffer
		if code := runInside(dir, env, &out, &out, args...); code != 0 {
			return out.Bytes(), fmt.Errorf("exit status %d", code)
		}
		return out.Bytes(), nil
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = dir, env
	return cmd.CombinedOutput()
}

// program builds stig for samples and for tests of the whole process; see withStig.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("stig")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSetUp runs the two set-up commands of README, except the test command, which is running
// now.
func TestSetUp(t *testing.T) {
	text, err := os.ReadFile(fromHere("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "```sh\ngo run ./cmd/stig -C examples/harbor orient\ngo test ./...\n```"
	if !strings.Contains(string(text), want) {
		t.Fatalf("README.md does not hold the set-up commands\n%s", want)
	}
	cmd := exec.Command("sh", "-c", "go run ./cmd/stig -C examples/harbor orient")
	cmd.Dir = fromHere("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "## Ready") {
		t.Fatalf("%v\n%s", err, out)
	}
}
