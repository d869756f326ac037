package notes

import (
	"fmt"
	"strings"
)

// The limits within which a text is parsed as Markdown. The parser takes time quadratic in each
// of these, or a stack that grows with the first.
const (
	maxNesting    = 100     // lists and quotes inside each other
	maxNested     = 1 << 18 // lines times nesting: each enclosing list examines each line
	maxEmphasis   = 1 << 12 // runs of * and _ in one paragraph
	maxReferences = 1 << 12 // lines that may define a link
	maxLinks      = 1 << 24 // bytes between the beginnings of links and the ends of their lines
	maxMarkdown   = 1 << 20 // bytes in all
)

// Tangled says which limit of Markdown parsing a text exceeds, "" for none. A tangled text has
// no blocks, code, headings or sections. It takes one pass, since hostile text may be built to
// keep a parser busy.
func Tangled(markdown string) string {
	if len(markdown) > maxMarkdown {
		return fmt.Sprintf("it has %d bytes; at most %d are read", len(markdown), maxMarkdown)
	}
	var lines, nesting, emphasis, references, links int
	crowded := isCrowded(markdown)
	for line := range strings.Lines(markdown) {
		depth, begins, rest := containers(line)
		lines, nesting = lines+1, max(nesting, depth)
		if crowded {
			if rest == "" || begins {
				emphasis = 0
			}
			emphasis, links = emphasis+emphases(rest), links+behindLinks(rest)
			if strings.Contains(rest, "]:") {
				references++
			}
		}
		switch {
		case nesting > maxNesting:
			return fmt.Sprintf("its lists and quotes nest more than %d levels deep", maxNesting)
		case emphasis > maxEmphasis:
			return fmt.Sprintf("a paragraph has more than %d emphasis marks", maxEmphasis)
		case references > maxReferences:
			return fmt.Sprintf("more than %d lines may define links", maxReferences)
		case links > maxLinks:
			return fmt.Sprintf("its lines are too long for their %d links", strings.Count(markdown, "]("))
		}
	}
	if nesting*lines > maxNested {
		return fmt.Sprintf("its lists nest %d levels deep in more than %d lines", nesting, maxNested/nesting)
	}
	return ""
}

// isCrowded reports whether a text has so many marks that they must be counted one by one; few
// do.
func isCrowded(text string) bool {
	return strings.Count(text, "*")+strings.Count(text, "_") > maxEmphasis || strings.Count(text, "]:") > maxReferences ||
		strings.Count(text, "](")*len(text) > maxLinks
}

// containers parses the beginning of a line: how deep in lists and quotes it may be, and
// whether it certainly begins a list item; rest is what follows, "" for blanks.
func containers(line string) (depth int, begins bool, rest string) {
	columns, marks := 0, 0
	for rest = line; rest != ""; {
		switch c := rest[0]; {
		case c == ' ' && marks == 0:
			columns++
		case c == '\t' && marks == 0:
			columns += 4 - columns%4
		case c == ' ', c == '\t', c == '\r', c == '\n':
		case c == '>':
			marks++
		default:
			size := mark(rest)
			if size == 0 {
				if marks > 0 {
					depth = columns/2 + marks // an item is indented by at least two columns more than its parent
				}
				return depth, marks > 0 && columns < 4, rest
			}
			marks, rest = marks+1, rest[size-1:]
		}
		rest = rest[1:]
	}
	return columns/2*min(marks, 1) + marks, false, ""
}

// mark returns the size of the list marker at the start of a text; 0 for none.
func mark(text string) int {
	digits := 0
	for digits < len(text) && digits < 10 && '0' <= text[digits] && text[digits] <= '9' {
		digits++
	}
	if digits == len(text) || !strings.ContainsRune(map[bool]string{false: "-+*", true: ".)"}[digits > 0], rune(text[digits])) {
		return 0
	}
	if size := digits + 1; size == len(text) || strings.ContainsRune(" \t\r\n", rune(text[size])) {
		return size
	}
	return 0
}

// emphases counts the runs of * and _ that may begin or end emphasis.
func emphases(line string) (n int) {
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c != '*' && c != '_' || i > 0 && line[i-1] == c {
			continue
		}
		within := c == '_' && i > 0 && i+1 < len(line) && isWord(line[i-1]) && isWord(line[i+1])
		if !within {
			n++
		}
	}
	return n
}

func isWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}

// behindLinks adds up how much of a line follows each beginning of a link destination, which
// the parser scans for its end.
func behindLinks(line string) (n int) {
	for rest := line; ; {
		_, after, found := strings.Cut(rest, "](")
		if !found {
			return n
		}
		n, rest = n+len(after), after
	}
}
