package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

// TestNamesInOrigins fails where docs/origins.md or docs/swarm.md name a test, a script or a file
// that is not there. TestInlineCommands validates the commands in them.
func TestNamesInOrigins(t *testing.T) {
	var tests strings.Builder
	root := fromHere("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			var text []byte
			text, err = os.ReadFile(path)
			tests.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, name := range spans(readFile(t, root, "docs", "origins.md") + readFile(t, root, "docs", "swarm.md")) {
		var there bool
		switch {
		case regexp.MustCompile(`^Test[A-Z]\w*$`).MatchString(name):
			there = strings.Contains(tests.String(), "func "+name+"(t *testing.T)")
		case strings.HasSuffix(name, ".txtar"):
			_, err := os.Stat(fromHere("testdata", "script", name))
			there = err == nil
		case regexp.MustCompile(`^[a-z]+/[\w./-]+\.(go|cue|md)$`).MatchString(name):
			_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
			there = err == nil
		default:
			continue
		}
		if named++; !there {
			t.Errorf("docs/origins.md or docs/swarm.md names %s, which is not there", name)
		}
	}
	if named < 60 {
		t.Errorf("%d names found", named)
	}
}

// spans are the pieces of inline code of a document.
func spans(source string) (all []string) {
	raw := []byte(source)
	walk(raw, func(n ast.Node) {
		if span, ok := n.(*ast.CodeSpan); ok {
			all = append(all, spanText(span, raw))
		}
	})
	return all
}

// TestMessages fails where docs/troubleshooting.md lists a message that the sample below it
// does not print; TestDocuments runs the sample. A message without a sample stands in the
// source of the program.
func TestMessages(t *testing.T) {
	listed := 0
	for _, section := range strings.Split(readFile(t, "..", "..", "docs", "troubleshooting.md"), "\n### ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		message := strings.Trim(heading, "`")
		listed++
		if printed := consoleBlock.FindString(body); printed != "" {
			if !strings.Contains(unwrapped(printed), unwrapped(message)) {
				t.Errorf("%s: the sample does not print it:\n%s", message, printed)
			}
		} else if !inSource(t, message) {
			t.Errorf("%s: neither a sample nor the source of the program has it", message)
		}
	}
	if listed < 15 {
		t.Errorf("%d messages", listed)
	}
}

func unwrapped(text string) string { return strings.Join(strings.Fields(text), " ") }

func inSource(t *testing.T, message string) (found bool) {
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), message) {
			found = true
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestBeside fails where a cell about another project in docs/beside.md has neither a source,
// which is a file in a commit, nor "not found", or where a column lacks its day.
func TestBeside(t *testing.T) {
	page := readFile(t, "..", "..", "docs", "beside.md")
	sources := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^\[([a-z-]+)\]: https://github\.com/[\w-]+/[\w-]+/blob/[0-9a-f]{40}/\S+$`).FindAllStringSubmatch(page, -1) {
		sources[found[1]] = true
	}
	rows := 0
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 8 || strings.HasPrefix(cells[0], "---") {
			continue
		}
		for _, cell := range cells[2:] {
			cell = strings.TrimSpace(cell)
			source := regexp.MustCompile(`\]\[([a-z-]+)\]`).FindStringSubmatch(cell)
			switch {
			case strings.TrimSpace(cells[0]) == "what":
				if !regexp.MustCompile(`20\d\d-\d\d-\d\d\)$`).MatchString(cell) {
					t.Errorf("%s: a column without its day", cell)
				}
			case cell != "not found" && (source == nil || !sources[source[1]]):
				t.Errorf("%s: %s: no source", cells[0], cell)
			}
		}
		rows++
	}
	if rows < 20 {
		t.Errorf("%d rows", rows)
	}
}
