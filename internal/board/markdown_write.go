package board

import (
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"stig/internal/visible"
)

type parseFunc = func(text.Reader, ...parser.ParseOption) ast.Node

// writer writes a syntax tree as HTML: known tags and escaped text.
type writer struct {
	source []byte
	out    strings.Builder
}

func (w *writer) text(raw []byte) { w.out.WriteString(html.EscapeString(string(raw))) }

// around writes the children of a node between two tags.
func (w *writer) around(tag string, n ast.Node, children func(ast.Node)) {
	w.out.WriteString("<" + tag + ">")
	children(n)
	w.out.WriteString("</" + tag + ">")
}

// blocks writes the blocks of a node.
func (w *writer) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.block(n)
		w.out.WriteString("\n")
	}
}

func (w *writer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Paragraph:
		if rows := rowsOf(n, w.source); rows != nil {
			w.table(rows)
			return
		}
		w.around("p", n, w.inlines)
	case *ast.TextBlock:
		w.inlines(n)
	case *ast.Heading:
		w.around(fmt.Sprintf("h%d", min(n.Level+2, 6)), n, w.inlines) // below the headings of the page
	case *ast.Blockquote:
		w.around("blockquote", n, w.blocks)
	case *ast.List:
		tag := "ul"
		if n.IsOrdered() {
			tag = "ol"
		}
		w.around(tag, n, w.blocks)
	case *ast.ListItem:
		w.around("li", n, w.blocks)
	case *ast.ThematicBreak:
		w.out.WriteString("<hr>")
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		w.around("pre", n, w.lines)
	}
}

// lines writes the lines of a block verbatim.
func (w *writer) lines(n ast.Node) {
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		w.text(line.Value(w.source))
	}
	if block, ok := n.(*ast.HTMLBlock); ok && block.HasClosure() {
		w.text(block.ClosureLine.Value(w.source))
	}
}

// inlines writes the inline nodes of a paragraph or a span.
func (w *writer) inlines(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.inline(n)
	}
}

func (w *writer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		raw := n.Segment.Value(w.source)
		if !n.IsRaw() {
			raw = util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames(raw)))
			raw = []byte(visible.Text(string(raw))) // an entity may decode to a hidden character
		}
		w.text(raw)
		switch {
		case n.SoftLineBreak() && n.Parent().Kind() == ast.KindCodeSpan:
			w.out.WriteString(" ")
		case n.SoftLineBreak() || n.HardLineBreak():
			w.out.WriteString("<br>\n")
		}
	case *ast.String:
		w.text(n.Value)
	case *ast.CodeSpan:
		w.around("code", n, w.inlines)
	case *ast.Emphasis:
		w.around(map[bool]string{true: "em", false: "strong"}[n.Level == 1], n, w.inlines)
	case *ast.Link:
		w.link(string(n.Destination), n)
	case *ast.Image:
		w.link(string(n.Destination), n)
	case *ast.AutoLink:
		to := string(n.URL(w.source))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
			to = "mailto:" + to
		}
		w.linked(to, func() { w.text(n.Label(w.source)) })
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			w.text(s.Value(w.source))
		}
	}
}

func (w *writer) link(to string, n ast.Node) { w.linked(to, func() { w.inlines(n) }) }

// linked writes a link, or only its label if the destination is not allowed.
func (w *writer) linked(to string, label func()) {
	if to = allowed(to); to == "" {
		label()
		return
	}
	w.out.WriteString(`<a href="` + html.EscapeString(to) + `">`)
	label()
	w.out.WriteString("</a>")
}

// rowsOf returns the cells of a paragraph that is a table: its second line has only dashes,
// bars and colons. It returns nil for others.
func rowsOf(n *ast.Paragraph, source []byte) (rows [][]string) {
	if n.Lines().Len() < 2 {
		return nil
	}
	second := n.Lines().At(1)
	dashes := strings.TrimSpace(string(second.Value(source)))
	if !strings.Contains(dashes, "-") || !strings.Contains(dashes, "|") || strings.Trim(dashes, "|-: \t") != "" {
		return nil
	}
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		if i != 1 {
			rows = append(rows, cellsOf(string(line.Value(source))))
		}
	}
	return rows
}

// cellsOf splits a row of a table; \| is a bar in a cell.
func cellsOf(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	const bar = "\x00"
	cells := strings.Split(strings.ReplaceAll(line, `\|`, bar), "|")
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), bar, "|")
	}
	return cells
}

// table writes rows as text cells; the first row is the header.
func (w *writer) table(rows [][]string) {
	w.out.WriteString("<table>\n")
	for i, row := range rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		w.out.WriteString("<tr>")
		for _, cell := range row {
			w.out.WriteString("<" + tag + ">" + html.EscapeString(cell) + "</" + tag + ">")
		}
		w.out.WriteString("</tr>\n")
	}
	w.out.WriteString("</table>")
}
