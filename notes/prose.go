package notes

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Line is a stretch of prose on one line of a Markdown text.
type Line struct {
	Span        // its span, without surrounding blanks
	Line int    // 1-based
	Text string // as written, without markers of lists, quotes and headings
}

// Prose lists what of a Markdown text is neither code nor HTML nor blank: the lines of
// paragraphs, list items and headings, in order. A line with inline code yields the stretches
// around it.
func Prose(markdown string) []Line {
	var lines []Line
	source := []byte(markdown)
	_ = ast.Walk(inlineTree(markdown), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || node.Type() != ast.TypeBlock || node.IsRaw() || node.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		code, _ := ticked(node, markdown, source)
		for i := range node.Lines().Len() {
			segment := node.Lines().At(i)
			for len(code) > 0 && code[0].End <= segment.Start {
				code = code[1:]
			}
			lines = append(lines, outside(markdown, Span{segment.Start, segment.Stop}, code)...)
		}
		return ast.WalkSkipChildren, nil
	})
	counter := lineCounter{text: markdown}
	for i := range lines {
		lines[i].Line = counter.line(lines[i].Start)
	}
	return lines
}

// ticked lists the code spans of a block including backticks, and their code.
func ticked(block ast.Node, markdown string, source []byte) (spans []Span, codes []Piece) {
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		code, ok := node.(*ast.CodeSpan)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		found := inlineCode(code, source)
		// Between code and backticks there may be the blank or line ending that CommonMark
		// strips, and the next line's markers.
		last := strings.LastIndexByte(markdown[:found.Start], '`')
		start := len(strings.TrimRight(markdown[:last+1], "`"))
		ticks := markdown[start : last+1]
		end := found.End + strings.Index(markdown[found.End:], ticks) + len(ticks)
		spans, codes = append(spans, Span{start, end}), append(codes, found)
		return ast.WalkSkipChildren, nil
	})
	return spans, codes
}

// outside returns the stretches of a line outside the spans, which are in order and end on or
// after the line.
func outside(markdown string, line Span, spans []Span) []Line {
	var lines []Line
	add := func(start, end int) {
		if span := trim(markdown, Span{start, max(start, end)}); span.Start < span.End {
			text := strings.TrimRight(markdown[span.Start:span.End], "\n"+spaces)
			if text != "" {
				lines = append(lines, Line{Span{span.Start, span.Start + len(text)}, 0, text})
			}
		}
	}
	for _, span := range spans {
		if span.Start >= line.End {
			break
		}
		add(line.Start, span.Start)
		line.Start = min(span.End, line.End)
	}
	add(line.Start, line.End)
	return lines
}
