package notes

import (
	"strings"

	"github.com/yuin/goldmark/ast"

	"stig/internal/visible"
)

// Part is a heading of a Markdown text with everything below it, up to the next heading of the
// same or a higher level.
type Part struct {
	Level   int    // 1 to 6
	Heading string // plain text
	Span           // including the heading line
	Body    string // without the heading line, and trimmed of blank lines
}

// Parts lists the top-level headings (ATX and setext) in order. The part of a heading includes
// those of lower headings below it.
func Parts(markdown string) []Part {
	var parts []Part
	var bodies []int // start of each part's body
	source := []byte(markdown)
	for block := inlineTree(markdown).FirstChild(); block != nil; block = block.NextSibling() {
		heading, ok := block.(*ast.Heading)
		if !ok || isTable(markdown, heading) {
			continue
		}
		part := Part{Level: heading.Level, Heading: visible.OneLine(plain(heading, source))}
		part.Start = lineStart(markdown, max(heading.Pos(), 0))
		part.End = len(markdown)
		parts = append(parts, part)
		bodies = append(bodies, headingEnd(markdown, heading))
	}
	for i := range parts {
		for _, next := range parts[i+1:] {
			if next.Level <= parts[i].Level {
				parts[i].End = next.Start
				break
			}
		}
		parts[i].Body = trimBlankLines(markdown[bodies[i]:parts[i].End])
	}
	return parts
}

// isTable reports whether a heading is in fact a table with a rule directly below.
func isTable(markdown string, heading *ast.Heading) bool {
	n := heading.Lines().Len()
	if n < 2 {
		return false
	}
	first, last := heading.Lines().At(0), heading.Lines().At(n-1)
	_, found := headerRow(markdown, Span{lineStart(markdown, first.Start), lineEnd(markdown, last.Start)})
	return found
}

// headingEnd returns the offset of the line below a heading. A setext heading ends with a line
// of dashes, which is not among its lines.
func headingEnd(markdown string, heading *ast.Heading) int {
	start := lineStart(markdown, max(heading.Pos(), 0))
	first := strings.TrimLeft(markdown[start:lineEnd(markdown, start)], " ")
	marks := len(first) - len(strings.TrimLeft(first, "#"))
	rest := first[marks:]
	if marks == heading.Level && (rest == "" || strings.ContainsAny(rest[:1], spaces)) {
		return nextLine(markdown, start)
	}
	last := heading.Lines().At(heading.Lines().Len() - 1)
	return nextLine(markdown, nextLine(markdown, last.Start))
}

// plain is the text of an inline tree without markup.
func plain(node ast.Node, source []byte) string {
	var text strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			text.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				text.WriteByte(' ')
			}
		case *ast.AutoLink:
			text.Write(n.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return text.String()
}

// trimBlankLines removes blank lines at both ends; the indentation of the first remaining line
// stays.
func trimBlankLines(text string) string {
	for blankAt(text, 0) {
		text = text[nextLine(text, 0):]
	}
	return strings.TrimRight(text, spaces+"\n")
}
