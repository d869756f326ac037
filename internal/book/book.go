// The program book writes the documents of the repository as HTML: a page for each, in the
// order of docs/README.md, with one style sheet and no scripts.
//
//	go run ./internal/book -o DIR
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io/fs"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed book.css
var style []byte

// contents is the document that names the others in their order.
const contents = "docs/README.md"

// page is a document, as a tree.
type page struct {
	name   string // of the Markdown, from the root of the repository
	title  string
	source []byte
	tree   ast.Node
}

// address is where the HTML of a document is, from the root of the book.
func address(name string) string {
	if name == contents {
		return "index.html"
	}
	return strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md") + ".html"
}

func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// read parses a document. Its headings have the ids that GitHub gives them.
func read(root fs.FS, name string) (page, error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return page{}, err
	}
	ids := parser.NewContext(parser.WithIDs(&slugs{used: map[string]int{}}))
	p := page{name: name, title: name, source: source, tree: markdown().Parser().Parse(text.NewReader(source), parser.WithContext(ids))}
	if first, ok := p.tree.FirstChild().(*ast.Heading); ok {
		p.title = plain(first, source)
	}
	return p, nil
}

// pages reads the contents and all documents of docs that it links to, in its order.
func pages(root fs.FS) (all []page, err error) {
	first, err := read(root, contents)
	if err != nil {
		return nil, err
	}
	all = append(all, first)
	seen := map[string]bool{contents: true}
	for _, to := range destinations(first) {
		name := path.Join("docs", to)
		if !strings.HasSuffix(name, ".md") || !strings.HasPrefix(name, "docs/") || seen[name] {
			continue
		}
		p, err := read(root, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", contents, err)
		}
		seen[name] = true
		all = append(all, p)
	}
	return all, nil
}

// destinations are where the links and pictures of a document lead, as they stand there.
func destinations(p page) (all []string) {
	each(p.tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			all = append(all, string(n.Destination))
		case *ast.Image:
			all = append(all, string(n.Destination))
		}
	})
	return all
}

// files gives the book: its pages, its pictures and its style sheet, by their addresses.
func files(root fs.FS) (map[string][]byte, error) {
	all, err := pages(root)
	if err != nil {
		return nil, err
	}
	book := map[string][]byte{"book.css": style}
	for i, p := range all {
		for _, to := range destinations(p) {
			if name := path.Join(path.Dir(p.name), to); isPicture(to) {
				if book[strings.TrimPrefix(name, "docs/")], err = fs.ReadFile(root, name); err != nil {
					return nil, err
				}
			}
		}
		if book[address(p.name)], err = render(all, i); err != nil {
			return nil, err
		}
	}
	return book, nil
}

func isPicture(to string) bool {
	return strings.HasSuffix(to, ".svg") || strings.HasSuffix(to, ".png")
}

// render writes the page with a number.
func render(all []page, number int) ([]byte, error) {
	p := all[number]
	relink(all, p)
	var body bytes.Buffer
	if err := markdown().Renderer().Render(&body, p.source, p.tree); err != nil {
		return nil, err
	}
	up := strings.Repeat("../", strings.Count(address(p.name), "/"))
	var out bytes.Buffer
	fmt.Fprintf(&out, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="stylesheet" href="%sbook.css">
</head>
<body>
%s<main>
%s</main>
%s</body>
</html>
`, html.EscapeString(p.title), up, steps(all, number, up, "at the top"), wide(body.String()), steps(all, number, up, "at the bottom"))
	return out.Bytes(), nil
}

// wide lets a table or a block that is wider than the screen be moved sideways by itself,
// with keys too.
func wide(body string) string {
	return strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`).Replace(body)
}

// steps are the links to the contents, and to the pages before and after.
func steps(all []page, number int, up, place string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<nav aria-label=\"pages, %s\">\n", place)
	link := func(i int, mark string) {
		fmt.Fprintf(&out, "<a href=\"%s%s\">%s</a>\n", up, address(all[i].name), fmt.Sprintf(mark, html.EscapeString(all[i].title)))
	}
	link(0, "%s")
	if number > 1 {
		link(number-1, "← %s")
	}
	if number+1 < len(all) {
		link(number+1, "%s →")
	}
	out.WriteString("</nav>\n")
	return out.String()
}

// relink has links between documents lead to their pages. What is no page of the book, such
// as a file of the code, becomes its text alone.
func relink(all []page, p page) {
	var gone []*ast.Link
	each(p.tree, func(n ast.Node) {
		link, ok := n.(*ast.Link)
		if !ok || strings.Contains(string(link.Destination), "://") || strings.HasPrefix(string(link.Destination), "#") {
			return
		}
		to, anchor, found := strings.Cut(string(link.Destination), "#")
		name := path.Join(path.Dir(p.name), to)
		for _, other := range all {
			if other.name == name {
				up := strings.Repeat("../", strings.Count(address(p.name), "/"))
				if found {
					anchor = "#" + anchor
				}
				link.Destination = []byte(up + address(name) + anchor)
				return
			}
		}
		gone = append(gone, link)
	})
	for _, link := range gone {
		for c := link.FirstChild(); c != nil; c = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, c)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
}

func each(tree ast.Node, visit func(ast.Node)) {
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// plain is the text of a heading, without marks.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	each(n, func(n ast.Node) {
		if t, ok := n.(*ast.Text); ok {
			out.Write(t.Segment.Value(source))
		}
	})
	return out.String()
}
