package notes

import (
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// blockParser finds the blocks of a text and ignores inline text, which is all that sections
// need. It is built on first use: most runs of the program read few notes or none.
var blockParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// inlineParser finds blocks and the inline structure of their lines.
var inlineParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// tree is the block tree of a text without inline structure; empty if the text is Tangled.
func tree(source string) ast.Node { return parsed(source, blockParser) }

// inlineTree is the tree of a text with code spans, links and so on.
func inlineTree(source string) ast.Node { return parsed(source, inlineParser) }

func parsed(source string, with func() parser.Parser) ast.Node {
	if Tangled(source) != "" {
		return ast.NewDocument()
	}
	return with().Parse(text.NewReader([]byte(source)))
}

// scan lists the delimiters of a text, and the whole lines of every top-level block that may
// contain a table: paragraphs, and headings that are a paragraph with a line of dashes directly
// below (a table followed by a rule).
func scan(source string) (delimiters []delimiter, paragraphs []Span) {
	counter := lineCounter{text: source}
	for block := tree(source).FirstChild(); block != nil; block = block.NextSibling() {
		lines := block.Lines()
		switch block.(type) {
		case *ast.HTMLBlock:
			// A comment that ends on its first line is a one-line block.
			if found, ok := readDelimiter(source, lineStart(source, lines.At(0).Start)); ok {
				found.number = counter.line(found.at)
				delimiters = append(delimiters, found)
			}
		case *ast.Paragraph, *ast.Heading:
			if n := lines.Len(); n >= 2 {
				first, last := lines.At(0), lines.At(n-1)
				paragraphs = append(paragraphs, Span{lineStart(source, first.Start), lineEnd(source, last.Start)})
			}
		}
	}
	return delimiters, paragraphs
}

// blockAt returns the offset and kind of the top-level block at an offset. It serves to say
// what swallowed a delimiter.
func blockAt(source string, offset int) (start int, kind string) {
	var holder ast.Node
	for block := tree(source).FirstChild(); block != nil; block = block.NextSibling() {
		if block.Pos() > offset {
			break
		}
		holder = block
	}
	if holder == nil {
		return offset, "text"
	}
	switch block := holder.(type) {
	case *ast.FencedCodeBlock:
		kind = "a code fence that is never closed"
	case *ast.HTMLBlock:
		kind = "an HTML block that does not end"
		if block.HTMLBlockType == ast.HTMLBlockType2 {
			kind = "an HTML comment that does not end"
		}
	case *ast.List:
		kind = "a list that includes the line after it"
	default:
		kind = "a block that includes the line after it"
	}
	return max(holder.Pos(), 0), kind
}
