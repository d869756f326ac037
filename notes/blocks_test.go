package notes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/notes"
)

// outline shows blocks as kind and text, each followed by the blocks in it.
func outline(markdown string, blocks []notes.Block, indent string) (lines []string) {
	names := []string{"other", "heading", "paragraph", "list", "item", "code"}
	for _, b := range blocks {
		lines = append(lines, fmt.Sprintf("%s%s %q", indent, names[b.Kind], markdown[b.Start:b.End]))
		lines = append(lines, outline(markdown, b.Blocks, indent+"\t")...)
	}
	return lines
}

func TestBlocks(t *testing.T) {
	const markdown = "Pump\nquay:\n- a\n  b\n\n  ```sh\n  c\n  ```\n- - d\n\n> e\n\n    f\n\n---\n## G\n\n| h |\n|---|\n"
	want := []string{
		`paragraph "Pump\nquay:"`,
		`list "- a\n  b\n\n  ` + "```sh\\n  c\\n  ```" + `\n- - d"`,
		`	item "- a\n  b\n\n  ` + "```sh\\n  c\\n  ```" + `"`,
		`		paragraph "a\n  b"`,
		`		code "  ` + "```sh\\n  c\\n  ```" + `"`,
		`	item "- - d"`,
		`		list "- d"`,
		`			item "- d"`,
		`				paragraph "d"`,
		`other "> e"`,
		`code "    f"`,
		`other "---"`,
		`heading "## G"`,
		`paragraph "| h |\n|---|"`,
	}
	if got := outline(markdown, notes.Blocks(markdown), ""); !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// FuzzBlocks checks that blocks are ordered, disjoint, and inside their container.
func FuzzBlocks(f *testing.F) {
	f.Add("- a\n  - b\n\n1. c\n\n> d\n\n# e\n\t- f\n-\n\n  g\n")
	f.Fuzz(func(t *testing.T, markdown string) {
		checkBlocks(t, markdown, notes.Blocks(markdown), notes.Span{End: len(markdown)})
	})
}

func checkBlocks(t *testing.T, markdown string, blocks []notes.Block, place notes.Span) {
	at := place.Start
	for _, b := range blocks {
		if b.Start < at || b.End < b.Start || b.End > place.End {
			t.Fatalf("%q: a block at %v, behind %d in %v", markdown, b.Span, at, place)
		}
		checkBlocks(t, markdown, b.Blocks, b.Span)
		at = b.End
	}
}
