package notes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/notes"
)

// codes lists code as "line info|text" for fences, "line `text`" for spans.
var codes = []struct {
	name, text string
	want       []string
}{
	{"fence", "a\n\n```sh\nls -l\n\n  cd x\n```\n", []string{"4 sh|ls -l\n\n  cd x"}},
	{"tilde fence without info", "~~~\nls\n~~~", []string{"2 |ls"}},
	{"info of several words", "```  bash  title=x \nls\n```", []string{"2 bash  title=x|ls"}},
	{"empty fence", "x\n```verify\n```\ny", []string{"3 verify|"}},
	{"empty fence at the end", "x\n```verify", []string{"2 verify|"}},
	{"fence never closed", "```\nls\n\nmore", []string{"2 |ls\n\nmore"}},
	{"fence in a list", "1. do\n\n   ```bash\n   a\n     b\n   ```\n2. `c d`", []string{"4 bash|a\n  b", "7 `c d`"}},
	{"fence in a quote", "> ```\n> a\n> b\n> ```", []string{"2 |a\nb"}},
	{"longer fence holds a shorter", "````\n```\nx\n```\n````", []string{"2 |```\nx\n```"}},
	{"CRLF fence", "```sh\r\na\r\nb\r\n```\r\n`c`\r\n", []string{"2 sh|a\nb", "5 `c`"}},
	{"inline spans in order", "Run `a b` and ``c ` d``, then\n**`e`**.", []string{"1 `a b`", "1 `c ` d`", "2 `e`"}},
	{"inline span over two lines", "x `a\n  b` y", []string{"1 `a b`"}},
	{"one blank is stripped", "`` `x` ``, ` y`", []string{"1 ``x``", "1 ` y`"}},
	{"heading and task", "# Run `a`\n\n- [ ] `b c` passes\n", []string{"1 `a`", "3 `b c`"}},
	{"indented code is not listed", "x\n\n    ls `y`\n", nil},
	{"escaped backtick", "\\`x` y", nil},
	{"HTML is not listed", "<pre>\n`x`\n</pre>\n\n<!-- `y` -->\n", nil},
}

// findCode lists the code in a text, and whether each piece is inline.
func findCode(text string) (code []notes.Piece, inline []bool) {
	for _, leaf := range notes.Leaves(text) {
		for _, piece := range leaf.Pieces {
			if piece.Code {
				code, inline = append(code, piece), append(inline, leaf.Kind != notes.CodeBlock)
			}
		}
	}
	return code, inline
}

func TestCode(t *testing.T) {
	for _, c := range codes {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			found, inline := findCode(c.text)
			for i, code := range found {
				if inline[i] {
					got = append(got, fmt.Sprintf("%d `%s`", code.Line, code.Text))
				} else {
					got = append(got, fmt.Sprintf("%d %s|%s", code.Line, code.Info, code.Text))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
			}
			checkMarkdown(t, c.text)
		})
	}
}

// A leaf is all of a paragraph, item or heading, in order and without markers.
func TestLeaves(t *testing.T) {
	for text, want := range map[string][]string{
		"Run `a b` and\n``c``.":             {"paragraph Run |`a b`| and\n|`c`|."},
		"- [ ] one `a`\n  two\n- `b`":       {"paragraph [ ] one |`a`|\ntwo", "paragraph `b`"},
		"# H `a`\n\n> q `b\n> c` d":         {"heading H |`a`", "paragraph q |`b c`| d"},
		"x\n\n```sh\nls `y`\n```\n":         {"paragraph x", "code `ls `y``"},
		"| a | `b` |\n|---|---|\n| 1 | 2 |": {"paragraph | a | |`b`| |\n|---|---|\n| 1 | 2 |"},
	} {
		var got []string
		for _, leaf := range notes.Leaves(text) {
			var parts []string
			for _, piece := range leaf.Pieces {
				if piece.Code {
					piece.Text = "`" + piece.Text + "`"
				}
				parts = append(parts, piece.Text)
			}
			kind := map[notes.BlockKind]string{notes.CodeBlock: "code", notes.HeadingBlock: "heading", notes.ParagraphBlock: "paragraph"}[leaf.Kind]
			got = append(got, kind+" "+strings.TrimRight(strings.Join(parts, "|"), "\n"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"intro\n\n# One\n\na\n\n## Two *b*\n\nc\n\n# Three", []string{"1 One|a\n\n## Two *b*\n\nc", "2 Two b|c", "1 Three|"}},
		{"One\ntwo\n===\na\n\nThree\n---\n\n    b\n", []string{"1 One two|a\n\nThree\n---\n\n    b", "2 Three|    b"}},
		{"#One\n---\na", []string{"2 #One|a"}},
		{"####### One\n---\na", []string{"2 ####### One|a"}},
		{"#\n## `x y` ##\r\n\r\na\r\n", []string{"1 |## `x y` ##\r\n\r\na", "2 x y|a"}},
		{"```\n# no\n```\n- # no\n\n> # no", nil},
		{"## Acceptance criteria\n- a\n### Detail\nb\n## Next\nc", []string{"2 Acceptance criteria|- a\n### Detail\nb", "3 Detail|b", "2 Next|c"}},
		{"| a | b |\n|---|---|\n| 1 | 2 |\n---\n", nil},
	} {
		var got []string
		for _, p := range notes.Parts(c.text) {
			got = append(got, fmt.Sprintf("%d %s|%s", p.Level, p.Heading, p.Body))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
		checkMarkdown(t, c.text)
	}
}

func TestProse(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"One\ntwo  \n\n- [ ] three\n- > four\n", []string{"1 One", "2 two", "4 [ ] three", "5 four"}},
		{"# Head #\n\nRun `a b` and ``c``\nthen `d\ne` f.\r\n", []string{"1 Head", "3 Run", "3 and", "4 then", "5 f."}},
		{"> x `\n> y\n> ` z", []string{"1 x", "3 z"}},
		{"```\na\n```\n\n    b\n\n<div>\nc\n</div>\n\n<!-- d -->\ne", []string{"12 e"}},
		{"1) x\n\n   y", []string{"1 x", "3 y"}},
	} {
		var got []string
		for _, l := range notes.Prose(c.text) {
			got = append(got, fmt.Sprintf("%d %s", l.Line, l.Text))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
		checkMarkdown(t, c.text)
	}
}

// checkMarkdown checks that spans are inside the text and ordered.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	lineOf := func(offset int) int { return 1 + strings.Count(text[:offset], "\n") }
	end := 0
	pieces, _ := findCode(text)
	for _, c := range pieces {
		if c.Start < end || c.End < c.Start || c.End > len(text) || c.Line != lineOf(c.Start) {
			t.Fatalf("code %+v after %d in %q", c, end, text)
		}
		end = c.End
	}
	end = 0
	for _, p := range notes.Parts(text) {
		if p.Start < end || p.End < p.Start || p.End > len(text) || !strings.Contains(text[p.Start:p.End], p.Body) {
			t.Fatalf("part %+v in %q", p, text)
		}
		end = p.Start
	}
	end = 0
	for _, l := range notes.Prose(text) {
		if l.Start < end || l.Text != text[l.Start:l.End] || l.Text == "" || l.Line != lineOf(l.Start) {
			t.Fatalf("line %+v after %d in %q", l, end, text)
		}
		end = l.End
	}
}
