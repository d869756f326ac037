package notes

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"stig/internal/visible"
)

// Leaf is a stretch of a Markdown text without inner blocks: a fence, a heading, a paragraph or
// the text of a list item. Indented code and HTML are not leaves.
type Leaf struct {
	Kind   BlockKind // CodeBlock, HeadingBlock or ParagraphBlock
	Pieces []Piece   // one for a fence, else prose and inline code in order
}

// Piece is a piece of code, or the prose around it.
type Piece struct {
	Span        // of the piece itself, without fences or backticks
	Text string // prose as written; a fence's lines without a list's indentation; inline code on one line; LF line endings
	Info string // trimmed info string of a fence
	Code bool
	Line int // 1-based line of Span's start
}

// Leaves lists fences, headings and paragraphs in order, including those in lists and quotes.
func Leaves(markdown string) []Leaf {
	var found []Leaf
	source := []byte(markdown)
	_ = ast.Walk(inlineTree(markdown), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		fenced, isFence := node.(*ast.FencedCodeBlock)
		switch {
		case !entering || node.Type() != ast.TypeBlock:
			return ast.WalkContinue, nil
		case isFence:
			found = append(found, Leaf{CodeBlock, []Piece{fence(fenced, markdown, source)}})
			return ast.WalkSkipChildren, nil
		case node.IsRaw() || node.Lines().Len() == 0:
			return ast.WalkContinue, nil
		}
		leaf := Leaf{ParagraphBlock, pieces(node, markdown, source)}
		if heading, ok := node.(*ast.Heading); ok && !isTable(markdown, heading) {
			leaf.Kind = HeadingBlock
		}
		found = append(found, leaf)
		return ast.WalkSkipChildren, nil
	})
	lines := lineCounter{text: markdown}
	for _, leaf := range found {
		for i := range leaf.Pieces {
			leaf.Pieces[i].Line = lines.line(leaf.Pieces[i].Start)
		}
	}
	return found
}

// pieces splits the lines of a block into prose and code.
func pieces(block ast.Node, markdown string, source []byte) (found []Piece) {
	spans, code := ticked(block, markdown, source)
	var prose strings.Builder
	began, at := 0, 0
	read := func(end int) {
		if prose.Len() == 0 {
			began = at
		}
		prose.WriteString(markdown[at:max(at, end)])
		at = max(at, end)
	}
	flush := func() {
		if prose.Len() > 0 {
			found = append(found, Piece{Span: Span{began, at}, Text: visible.LF(prose.String())})
			prose.Reset()
		}
	}
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		for at = max(at, line.Start); len(spans) > 0 && spans[0].Start < line.Stop; spans, code = spans[1:], code[1:] {
			read(spans[0].Start)
			flush()
			found, at = append(found, code[0]), spans[0].End
		}
		read(line.Stop)
	}
	flush()
	return found
}

func fence(node *ast.FencedCodeBlock, markdown string, source []byte) Piece {
	code := Piece{Code: true}
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

func inlineCode(node *ast.CodeSpan, source []byte) Piece {
	segments := text.NewSegments()
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if piece, ok := child.(*ast.Text); ok {
			segments.Append(piece.Segment)
		}
	}
	span, code := content(segments, source)
	return Piece{Span: span, Text: strings.ReplaceAll(code, "\n", " "), Code: true}
}

// content returns the text of some segments with LF line endings, and the span from the first
// to the last.
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
