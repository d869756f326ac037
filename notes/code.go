package notes

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"stig/internal/visible"
)

// Code is a piece of code in a Markdown text.
type Code struct {
	Span          // of the code itself, without fences or backticks
	Text   string // the code with LF line ends: a fence's lines without the indentation of a list, an inline span on one line
	Info   string // info string of a fence, trimmed
	Inline bool   // `span` rather than fence; indented blocks are not listed
	Line   int    // 1-based line where Span starts
}

// FindCode lists fences and inline spans in the order of the text, those in
// lists and block quotes too.
func FindCode(markdown string) []Code {
	var found []Code
	source := []byte(markdown)
	_ = ast.Walk(inlineTree(markdown), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.FencedCodeBlock:
			found = append(found, fence(node, markdown, source))
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			found = append(found, inlineCode(node, source))
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	lines := lineCounter{text: markdown}
	for i := range found {
		found[i].Line = lines.line(found[i].Start)
	}
	return found
}

func fence(node *ast.FencedCodeBlock, markdown string, source []byte) Code {
	var code Code
	if node.Info != nil {
		code.Info = strings.TrimSpace(string(node.Info.Segment.Value(source)))
	}
	code.Span, code.Text = content(node.Lines(), source)
	code.Text = strings.TrimSuffix(code.Text, "\n")
	code.End = max(code.Start, code.Start+len(trimNewline(markdown[code.Start:code.End])))
	if node.Lines().Len() == 0 {
		place := nextLine(markdown, max(node.Pos(), 0))
		code.Span = Span{place, place}
	}
	return code
}

func inlineCode(node *ast.CodeSpan, source []byte) Code {
	segments := text.NewSegments()
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if piece, ok := child.(*ast.Text); ok {
			segments.Append(piece.Segment)
		}
	}
	span, code := content(segments, source)
	return Code{Span: span, Text: strings.ReplaceAll(code, "\n", " "), Inline: true}
}

// content is the text of some segments with LF line ends, and the span from
// the first to the last.
func content(segments *text.Segments, source []byte) (Span, string) {
	if segments.Len() == 0 {
		return Span{}, ""
	}
	var lines strings.Builder
	for i := range segments.Len() {
		segment := segments.At(i)
		lines.Write(segment.Value(source))
	}
	first, last := segments.At(0), segments.At(segments.Len()-1)
	return Span{first.Start, last.Stop}, visible.LF(lines.String())
}
