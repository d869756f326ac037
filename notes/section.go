package notes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Section is one well-formed section.
type Section struct {
	Name string
	Span      // whole lines: from the start of the opener's line to the end of the closer's, without its newline
	Body Span // the text between the delimiter lines, without the last newline
	Line int  // 1-based line of the opener
}

// Error is one malformed delimiter, with its place in the notes. [Doc.Apply], [Doc.Replace] and
// [Doc.Prepend] return it, and [Doc.Malformed] lists it.
type Error struct {
	Line, Column int    // 1-based; columns count bytes
	Section      string // name in the delimiter
	Problem      string // begins with "never closed", "never opened", "closed twice", "nested" or "not read"
}

func (e *Error) Error() string {
	return fmt.Sprintf("notes:%d:%d: %s: %s", e.Line, e.Column, e.Section, e.Problem)
}

// delimiter is one line that opens or closes a section.
type delimiter struct {
	name    string
	closing bool
	line    Span // the whole line without newline
	at      int  // offset of the "<"
	number  int  // 1-based number of the line
}

func (d delimiter) String() string {
	if d.closing {
		return closer(d.name)
	}
	return opener(d.name)
}

func opener(name string) string { return "<!-- " + name + " -->" }
func closer(name string) string { return "<!-- /" + name + " -->" }

// blanks are allowed around the words of a delimiter, including a line's CR.
const blanks = " \t\r"

// readDelimiter parses the line at offset start, known to be a top-level HTML comment, as a
// delimiter.
func readDelimiter(text string, start int) (delimiter, bool) {
	d := delimiter{line: Span{start, lineEnd(text, start)}}
	line := text[d.line.Start:d.line.End]
	comment := strings.Trim(line, blanks)
	d.at = start + strings.Index(line, comment)
	inner, opened := strings.CutPrefix(comment, "<!--")
	inner, closed := strings.CutSuffix(inner, "-->")
	name := strings.Trim(inner, blanks)
	// The blanks on both sides are part of the syntax: <!--note--> is a remark.
	if !opened || !closed || strings.TrimLeft(inner, blanks) == inner || strings.TrimRight(inner, blanks) == inner {
		return delimiter{}, false
	}
	d.name, d.closing = strings.CutPrefix(name, "/")
	return d, validName(d.name)
}

// validName reports whether a section may have that name: a letter or digit, then letters,
// digits, blanks, ".", "_", "-", not ending in a blank.
func validName(name string) bool {
	if name == "" || strings.HasSuffix(name, " ") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		alphanumeric := '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
		if !alphanumeric && (i == 0 || !strings.ContainsRune(" ._-", rune(c))) {
			return false
		}
	}
	return true
}

// pair applies the rules in the comment of Parse.
func pair(text string, delimiters []delimiter) ([]Section, []*Error) {
	var (
		sections  []Section
		malformed []*Error
		open      []int              // indices of the unclosed openers, outermost first
		closed    = map[string]int{} // line of the last closer of a name, unless it was reopened
		report    = func(d delimiter, format string, args ...any) {
			malformed = append(malformed, &Error{d.number, 1 + d.at - d.line.Start, d.name, fmt.Sprintf(format, args...)})
		}
	)
	for i, d := range delimiters {
		if !d.closing {
			open = append(open, i)
			delete(closed, d.name)
			continue
		}
		depth := lastNamed(open, delimiters, d.name)
		if first, twice := closed[d.name]; depth < 0 && twice {
			report(d, "closed twice: the first %s is on line %d", d, first)
			continue
		}
		if depth < 0 {
			report(d, "never opened: no %s is open here", opener(d.name))
			continue
		}
		for _, inner := range open[depth+1:] {
			report(delimiters[inner], "never closed before %s on line %d", d, d.number)
		}
		from := open[depth]
		if from == i-1 {
			sections = append(sections, section(text, delimiters[from], d))
		} else {
			inside := delimiters[from+1]
			report(delimiters[from], "nested: %s on line %d comes before its closer on line %d", inside, inside.number, d.number)
		}
		open, closed[d.name] = open[:depth], d.number
	}
	for _, i := range open {
		report(delimiters[i], "never closed: no %s follows", closer(delimiters[i].name))
	}
	slices.SortFunc(malformed, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	return sections, malformed
}

// lastNamed returns the index in open of the innermost opener with that name, or -1.
func lastNamed(open []int, delimiters []delimiter, name string) int {
	for depth := len(open) - 1; depth >= 0; depth-- {
		if delimiters[open[depth]].name == name {
			return depth
		}
	}
	return -1
}

func section(text string, from, to delimiter) Section {
	start := nextLine(text, from.line.End)
	return Section{
		Name: from.name,
		Span: Span{from.line.Start, to.line.End},
		Body: Span{start, start + len(trimNewline(text[start:to.line.Start]))},
		Line: from.number,
	}
}

// closerStart returns the offset of the line that closes s.
func (d *Doc) closerStart(s Section) int { return lineStart(d.text, s.End) }
