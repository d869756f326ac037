package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// documents hold samples that are run: each console block is a session on a
// fresh copy of the example store, and what stands below a command is what it
// prints. A line that is an export alone holds from there to the end of the
// document, as in a reader's shell. Sh blocks of README are set-up commands; see TestSetUp.
var documents = []string{"README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/gate.md", "docs/assistants.md", "docs/traces.md", "docs/workers.md"}

// TestDocuments runs the samples of the documents, and with -update writes
// what they print.
func TestDocuments(t *testing.T) {
	program := program(t)
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join("..", "..", name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var exported []string
			ran := consoleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
				return session(t, program, block, &exported)
			})
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

// A block that shows a fence is itself fenced by four backticks.
var consoleBlock = regexp.MustCompile("(?ms)^````console\n.*?^````\n|^```console\n.*?^```\n")

// exportLine is an export of one variable, and nothing else.
var exportLine = regexp.MustCompile(`^export (\w+=\S+)$`)

// session runs the commands of a console block one after the other and gives
// the block as it should be. A block whose commands show no output keeps none:
// it is run all the same, and every command of it must succeed. What it exports
// is added to exported, for this block and those behind it.
func session(t *testing.T, program, block string, exported *[]string) string {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(block, "\n"), "\n")
	opener, closer := lines[0], lines[len(lines)-1]
	lines = lines[1 : len(lines)-1]
	shows := false
	for _, line := range lines {
		shows = shows || line != "" && !strings.HasPrefix(line, "$ ")
	}
	var out strings.Builder
	out.WriteString(opener + "\n")
	for _, line := range lines {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		if found := exportLine.FindStringSubmatch(command); found != nil {
			*exported = append(*exported, found[1])
		}
		printed, err := shell(dir, program, command, *exported...)
		if err != nil && !shows {
			t.Errorf("%s: %v\n%s", command, err, printed)
		}
		out.WriteString(line + "\n")
		if printed = bytes.TrimRight(printed, "\n"); shows && len(printed) > 0 {
			out.Write(append(printed, '\n'))
		}
	}
	out.WriteString(closer + "\n")
	return out.String()
}

// shell runs a command as a reader would, years after the story of the example store,
// with stig on PATH and what the samples exported.
func shell(dir, program, command string, exported ...string) ([]byte, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+dir, "TZ=UTC", "STIG_NOW=2029-03-03T09:00:00Z", "BEADS_DIR=", "STIG_ACTOR=", "BD_ACTOR=",
		"XDG_STATE_HOME=", "STIG_TRUST=")
	cmd.Env = append(cmd.Env, exported...)
	return cmd.CombinedOutput()
}

// program is stig for samples and for tests of the whole process; see withStig.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("stig")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSetUp runs the two set-up commands of README, the test command apart,
// which is running now.
func TestSetUp(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "```sh\ngo run ./cmd/stig -C examples/harbor orient\ngo test ./...\n```"
	if !strings.Contains(string(text), want) {
		t.Fatalf("README.md does not hold the set-up commands\n%s", want)
	}
	cmd := exec.Command("sh", "-c", "go run ./cmd/stig -C examples/harbor orient")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "## Ready") {
		t.Fatalf("%v\n%s", err, out)
	}
}
