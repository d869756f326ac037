package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// TestLinks follows each link and picture within the repository: the file must exist, and so
// must the heading that an anchor names.
func TestLinks(t *testing.T) {
	for _, name := range append(documents(t), "CHANGELOG.md", "SECURITY.md") {
		for _, to := range destinations(readFile(t, "..", "..", name)) {
			if problem := broken(t, name, to); problem != "" {
				t.Errorf("%s: %s: %s", name, to, problem)
			}
		}
	}
}

// TestContents fails if docs/README.md does not lead to every document of docs.
func TestContents(t *testing.T) {
	listed := destinations(readFile(t, "..", "..", "docs", "README.md"))
	for _, name := range documents(t) {
		below, isDoc := strings.CutPrefix(name, "docs/")
		if isDoc && below != "README.md" && !slices.Contains(listed, below) {
			t.Errorf("docs/README.md does not link to %s", below)
		}
	}
}

// TestBroken breaks links on purpose.
func TestBroken(t *testing.T) {
	for to, want := range map[string]string{
		"guide.md": "", "guide.md#closing": "", "#documentation": "", "https://example.org": "",
		"guide.html": "no such file", "guide.md#closings": "no such heading", "#nothing": "no such heading",
	} {
		if got := broken(t, "docs/README.md", to); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}

// TestSlugs compares anchors with those of GitHub.
func TestSlugs(t *testing.T) {
	got := slugs("## The gate\n## bd 1.0.5 with Dolt (ran, 2026-11-22)\n## beads_rust, `br` (read, not run)\n## The gate\n")
	want := []string{"the-gate", "bd-105-with-dolt-ran-2026-11-22", "beads_rust-br-read-not-run", "the-gate-1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// broken returns what is wrong with the target of a document's link.
func broken(t *testing.T, name, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return ""
	}
	file, anchor, hasAnchor := strings.Cut(to, "#")
	if file != "" {
		name = path.Join(path.Dir(name), file)
	}
	if _, err := os.Stat(fromHere("..", "..", name)); err != nil {
		return "no such file"
	}
	if hasAnchor && !slices.Contains(slugs(readFile(t, "..", "..", name)), anchor) {
		return "no such heading"
	}
	return ""
}

// destinations returns the link and picture targets of a document, unresolved.
func destinations(source string) (all []string) {
	walk([]byte(source), func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			all = append(all, string(n.Destination))
		case *ast.Image:
			all = append(all, string(n.Destination))
		}
	})
	return all
}

// slugs returns the anchors of a document's headings as GitHub builds them: letters and digits
// in lower case, "-" for spaces, and -1 on the second of a name.
func slugs(source string) (all []string) {
	used := map[string]int{}
	walk([]byte(source), func(n ast.Node) {
		heading, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(string(heading.Lines().Value([]byte(source)))))
		if used[slug]++; used[slug] > 1 {
			slug = fmt.Sprintf("%s-%d", slug, used[slug]-1)
		}
		all = append(all, slug)
	})
	return all
}

// TestNamesInOrigins fails if docs/origins.md or docs/workers.md names a test, script or file
// that does not exist. TestInlineCommands validates the commands in them.
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
	for _, name := range spans(readFile(t, root, "docs", "origins.md") + readFile(t, root, "docs", "workers.md")) {
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
			t.Errorf("docs/origins.md or docs/workers.md names %s, which is not there", name)
		}
	}
	if named < 60 {
		t.Errorf("%d names found", named)
	}
}

// spans returns the pieces of inline code of a document.
func spans(source string) (all []string) {
	raw := []byte(source)
	walk(raw, func(n ast.Node) {
		if span, ok := n.(*ast.CodeSpan); ok {
			all = append(all, spanText(span, raw))
		}
	})
	return all
}

// messageRow matches a row of the message table in docs/guide.md.
var messageRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\|$")

// TestMessages fails if docs/guide.md lists a message that the program does not have.
func TestMessages(t *testing.T) {
	_, table, _ := strings.Cut(readFile(t, "..", "..", "docs", "guide.md"), "\n| message |")
	rows := messageRow.FindAllStringSubmatch(table, -1)
	for _, row := range rows {
		if !inSource(t, row[1]) {
			t.Errorf("%s: the source of the program does not have it", row[1])
		}
	}
	if len(rows) < 15 {
		t.Errorf("%d messages", len(rows))
	}
}

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
