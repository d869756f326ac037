package notes

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// BlockKind is the kind of a Markdown block.
type BlockKind int

const (
	OtherBlock BlockKind = iota // a quote, HTML, a rule, a link reference definition
	HeadingBlock
	ParagraphBlock
	ListBlock
	ItemBlock // of a list
	CodeBlock // fenced or indented
)

// Block is a block of a Markdown text.
type Block struct {
	Span   // without trailing blank lines; an item with its marker
	Kind   BlockKind
	Level  int     // of a heading, 1 to 6
	Blocks []Block // a list's items, an item's content
}

// Blocks lists the blocks of a text in order, except those in quotes.
func Blocks(markdown string) []Block {
	return blocksIn(tree(markdown), markdown, Span{0, len(markdown)})
}

// blocksIn lists the blocks in a container at an offset.
func blocksIn(container ast.Node, markdown string, place Span) []Block {
	var blocks []Block
	end := place.End
	for node := container.LastChild(); node != nil; node = node.PreviousSibling() {
		at := min(max(node.Pos(), place.Start), end)
		start := max(lineStart(markdown, at), place.Start)
		own := strings.TrimRight(markdown[start:end], spaces+"\n")
		blocks = append(blocks, blockOf(node, markdown, Span{start, start + len(own)}))
		end = start
	}
	slices.Reverse(blocks)
	return blocks
}

func blockOf(node ast.Node, markdown string, place Span) Block {
	block := Block{Span: place}
	switch node := node.(type) {
	case *ast.Heading:
		if block.Kind, block.Level = HeadingBlock, node.Level; isTable(markdown, node) {
			block.Kind, block.Level = ParagraphBlock, 0
		}
	case *ast.Paragraph, *ast.TextBlock:
		block.Kind = ParagraphBlock
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		block.Kind = CodeBlock
	case *ast.List:
		block.Kind, block.Blocks = ListBlock, blocksIn(node, markdown, place)
	case *ast.ListItem:
		block.Kind = ItemBlock
		if first := node.FirstChild(); first != nil {
			place.Start = min(max(first.Pos(), place.Start), place.End)
		}
		block.Blocks = blocksIn(node, markdown, place)
	}
	return block
}
