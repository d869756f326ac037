package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

var repository = filepath.Join("..", "..")

// documents are all Markdown files that people read.
func documents(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		found, err := fs.Glob(os.DirFS(repository), pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// TestLinks follows each link and picture within the repository: the file is there, and so
// is the heading that an anchor names.
func TestLinks(t *testing.T) {
	root := os.DirFS(repository)
	for _, name := range documents(t) {
		p, err := read(root, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range destinations(p) {
			if problem := broken(root, p, to); problem != "" {
				t.Errorf("%s: %s: %s", name, to, problem)
			}
		}
	}
}

// broken says where a link of a document does not lead.
func broken(root fs.FS, p page, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return ""
	}
	file, anchor, hasAnchor := strings.Cut(to, "#")
	target := p
	if file != "" {
		name := path.Join(path.Dir(p.name), file)
		if _, err := fs.Stat(root, name); err != nil {
			return "no such file"
		}
		if !hasAnchor {
			return ""
		}
		var err error
		if target, err = read(root, name); err != nil {
			return err.Error()
		}
	}
	if !slices.Contains(anchors(target), anchor) {
		return "no such heading"
	}
	return ""
}

func anchors(p page) (all []string) {
	each(p.tree, func(n ast.Node) {
		if id, ok := n.AttributeString("id"); ok {
			all = append(all, string(id.([]byte)))
		}
	})
	return all
}

// TestBook validates the HTML: every document of docs is a page, links lead to pages and
// ids that are there, and nothing is loaded from elsewhere.
func TestBook(t *testing.T) {
	book, err := files(os.DirFS(repository))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range documents(t) {
		if strings.HasPrefix(name, "docs/") && book[address(name)] == nil {
			t.Errorf("%s is not in %s", name, contents)
		}
	}
	for name, text := range book {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, found := range regexp.MustCompile(`(href|src)="([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
			attribute, to := found[1], found[2]
			if strings.Contains(to, "://") {
				if attribute == "src" {
					t.Errorf("%s loads %s", name, to)
				}
				continue
			}
			file, anchor, _ := strings.Cut(to, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if book[target] == nil || anchor != "" && !strings.Contains(string(book[target]), ` id="`+anchor+`"`) {
				t.Errorf("%s: %s leads nowhere", name, to)
			}
		}
		if strings.Contains(string(text), "<script") {
			t.Errorf("%s has a script", name)
		}
	}
}

// TestBroken breaks links on purpose.
func TestBroken(t *testing.T) {
	root := os.DirFS(repository)
	p, err := read(root, contents)
	if err != nil {
		t.Fatal(err)
	}
	for to, want := range map[string]string{
		"guide.md": "", "guide.md#the-gate": "", "#recipes": "", "https://example.org": "",
		"guide.html": "no such file", "guide.md#the-gates": "no such heading", "#nothing": "no such heading",
	} {
		if got := broken(root, p, to); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}

// TestSlugs compares ids with those that GitHub gives.
func TestSlugs(t *testing.T) {
	s := slugs{used: map[string]int{}}
	for _, test := range [][2]string{
		{"The gate", "the-gate"}, {"bd 1.0.5 with Dolt (ran, 2026-11-22)", "bd-105-with-dolt-ran-2026-11-22"},
		{"beads_rust, `br` (read, not run)", "beads_rust-br-read-not-run"}, {"The gate", "the-gate-1"},
	} {
		if got := string(s.Generate([]byte(test[0]), ast.KindHeading)); got != test[1] {
			t.Errorf("%s: %s, want %s", test[0], got, test[1])
		}
	}
}
