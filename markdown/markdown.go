// Package markdown gives the Markdown of issues as HTML that is safe to show: the text is
// hostile. Raw HTML is shown as text, links lead to http, https, mailto and within,
// pictures are links, and a text that would take long is shown as it stands. The package
// knows no page.
//
//	html, more := markdown.HTML(record.Text(beads.Description), markdown.Most)
package markdown

import (
	"bytes"
	"html"
	"net/url"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// Most is how much of a text is rendered, in bytes.
	Most = 256 << 10
	// marks is how many characters of a text may open or close something: what the
	// library takes for them grows with their square.
	marks = 4000
)

// HTML renders a text. Of more than most bytes it renders the beginning, and reports that
// there is more.
func HTML(source string, most int) (shown string, more bool) {
	if most = min(most, Most); len(source) > most {
		source, more = strings.ToValidUTF8(source[:most], ""), true
	}
	if isTangled(source) {
		return "<pre>" + html.EscapeString(source) + "</pre>\n", more
	}
	var out bytes.Buffer
	if err := converter().Convert([]byte(source), &out); err != nil { // it writes to memory: this does not happen
		return "<pre>" + html.EscapeString(source) + "</pre>\n", more
	}
	return out.String(), more
}

// isTangled reports whether a text would take the library long.
func isTangled(text string) bool {
	n := 0
	for _, mark := range []string{"*", "_", "[", "`", "<", ">", "|"} {
		n += strings.Count(text, mark)
	}
	return n > marks
}

var converter = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(safe{}, 100))),
		goldmark.WithRendererOptions(goldhtml.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(rawText{}, 10))),
	)
})

// safe takes the destinations away that are not allowed, and makes pictures links.
type safe struct{}

func (safe) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var pictures []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function below gives no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = allowed(n.Destination)
		case *ast.Image:
			pictures = append(pictures, n)
		}
		return ast.WalkContinue, nil
	})
	for _, p := range pictures {
		link := ast.NewLink()
		link.Destination = allowed(p.Destination)
		for c := p.FirstChild(); c != nil; c = p.FirstChild() {
			link.AppendChild(link, c)
		}
		p.Parent().ReplaceChild(p.Parent(), p, link)
	}
}

// allowed gives a destination that may be followed; "" for any other.
func allowed(destination []byte) []byte {
	u, err := url.Parse(strings.TrimSpace(string(destination)))
	if err != nil {
		return nil
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "mailto":
		return destination
	case "":
		// Browsers take //host and /\host for another host.
		if to := strings.TrimSpace(string(destination)); !strings.HasPrefix(to, "//") && !strings.ContainsAny(to, "\\\t\r\n") {
			return destination
		}
	}
	return nil
}

// rawText shows raw HTML as the text that it is.
type rawText struct{}

func (rawText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		raw := n.(*ast.RawHTML)
		for i := 0; entering && i < raw.Segments.Len(); i++ {
			s := raw.Segments.At(i)
			_, _ = w.WriteString(html.EscapeString(string(s.Value(source)))) // an error comes again when it is flushed
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		block := n.(*ast.HTMLBlock)
		if !entering {
			return ast.WalkContinue, nil
		}
		_, _ = w.WriteString("<pre>")
		for i := range block.Lines().Len() {
			s := block.Lines().At(i)
			_, _ = w.WriteString(html.EscapeString(string(s.Value(source))))
		}
		if block.HasClosure() {
			_, _ = w.WriteString(html.EscapeString(string(block.ClosureLine.Value(source))))
		}
		_, _ = w.WriteString("</pre>\n")
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		link := n.(*ast.AutoLink)
		if !entering {
			return ast.WalkContinue, nil
		}
		label := html.EscapeString(string(link.Label(source)))
		to := string(link.URL(source))
		if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
			to = "mailto:" + to
		}
		if to := allowed([]byte(to)); to != nil {
			label = `<a href="` + html.EscapeString(string(to)) + `">` + label + "</a>"
		}
		_, _ = w.WriteString(label)
		return ast.WalkContinue, nil
	})
}
