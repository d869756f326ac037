// Package notes reads the notes of an issue as a lossless document of
// sections and tables, and edits it by splicing.
//
// The source bytes are kept; parsing only records spans in them. An edit is a
// list of splices, so everything that it does not name keeps its bytes: other
// sections, text between them, blank lines, line ends, the final newline or
// its absence. What is a section is decided by the structure of the Markdown
// and not by a scan for delimiters, because notes quote delimiters in code.
//
// The package does not know what a section is for: signals, checkpoints and
// escalations are names to it, and dates, values and stores are unknown here.
//
//	d := notes.Parse(text)
//	d, err := d.Replace("checkpoint-context", "What remains: the tests")
package notes

import (
	"slices"
	"strings"
)

// Span is a half-open range of bytes in a text: text[Start:End].
type Span struct{ Start, End int }

// Doc is a notes text with the places of its sections. It is immutable and
// safe for concurrent use: every edit gives a new Doc.
type Doc struct {
	text       string
	sections   []Section
	malformed  []*Error
	paragraphs []Span // whole lines of the top-level blocks that may hold a table
}

// Parse records where the sections of a text are. It never fails: what is
// malformed is listed by [Doc.Malformed], and reading goes on with what is
// unambiguous.
//
// A delimiter is an HTML comment that is a top-level block of one line, with a
// name and nothing else on it: <!-- NAME --> opens, <!-- /NAME --> closes. A
// section is an opener whose next delimiter is its own closer; the names are
// compared byte for byte. Every other delimiter is malformed:
//
//   - An opener with no closer of its name after it is never closed. Openers
//     that follow are not part of it and may well form sections.
//   - An opener whose closer comes after other delimiters is malformed, because
//     it could have been meant to end before them (nested). A section wholly
//     inside is well formed and readable.
//   - An opener inside such a pair without a closer of its own there is never
//     closed; its closer further down closes nothing.
//   - Notes that are Tangled are malformed as a whole, and no section of them is read.
//   - A closer while no opener of its name is open is malformed: closed twice
//     when the same name was closed before with no opener since, else never
//     opened. The section before a second closer stays readable.
func Parse(text string) *Doc {
	d := &Doc{text: text}
	if !strings.Contains(text, "<!--") || d.quick() {
		return d
	}
	if why := Tangled(text); why != "" {
		d.malformed = []*Error{{Line: 1, Column: 1, Section: "all", Problem: "not read: " + why}}
		return d
	}
	var delimiters []delimiter
	delimiters, d.paragraphs = scan(text)
	d.sections, d.malformed = pair(text, delimiters)
	return d
}

// Text is the whole document. Of a Doc that Parse returned it is the very text
// that was parsed.
func (d *Doc) Text() string { return d.text }

// Position gives the 1-based line and the 1-based column, in bytes, of a byte
// offset between 0 and len(d.Text()).
func (d *Doc) Position(offset int) (line, column int) { return position(d.text, offset) }

// Malformed lists the delimiters that do not pair, in the order of the text.
func (d *Doc) Malformed() []*Error { return d.malformed }

// Sections lists the well-formed sections in the order of the text.
func (d *Doc) Sections() []Section { return d.sections }

// Named lists the sections of that name in the order of the text.
func (d *Doc) Named(name string) []Section {
	var named []Section
	for _, s := range d.sections {
		if s.Name == name {
			named = append(named, s)
		}
	}
	return named
}

// Live gives the live section of that name, which is the last one.
func (d *Doc) Live(name string) (Section, bool) {
	for _, s := range slices.Backward(d.sections) {
		if s.Name == name {
			return s, true
		}
	}
	return Section{}, false
}

// Body is the text between a section's delimiter lines, with the line ends
// of the document and without the last one.
func (d *Doc) Body(s Section) string { return d.text[s.Body.Start:s.Body.End] }

// Outside is the text outside of sections, without the white space around them
// and with one blank line in place of each.
func (d *Doc) Outside() string {
	var parts []string
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	end := 0
	for _, s := range d.sections {
		add(d.text[end:s.Start])
		end = s.End
	}
	add(d.text[end:])
	return strings.Join(parts, "\n\n")
}

func position(text string, offset int) (line, column int) {
	before := text[:offset]
	return 1 + strings.Count(before, "\n"), offset - strings.LastIndexByte(before, '\n')
}

// lineCounter numbers the lines of a text at offsets that never fall, so that
// the text is counted once however many are asked for.
type lineCounter struct {
	text         string
	at, newlines int // an offset, and the newlines before it
}

// line is the 1-based line that holds offset.
func (c *lineCounter) line(offset int) int {
	c.newlines += strings.Count(c.text[c.at:offset], "\n")
	c.at = offset
	return 1 + c.newlines
}

// lineStart is the offset of the first byte of the line that holds offset.
func lineStart(text string, offset int) int {
	return 1 + strings.LastIndexByte(text[:offset], '\n')
}

// lineEnd is the offset at which the line that holds offset ends, its newline
// (LF or CRLF) excluded.
func lineEnd(text string, offset int) int {
	end := nextLine(text, offset)
	return lineStart(text, offset) + len(trimNewline(text[lineStart(text, offset):end]))
}

// nextLine is the offset of the line after the one that holds offset;
// len(text) when there is none.
func nextLine(text string, offset int) int {
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// trimNewline removes one line end, LF or CRLF.
func trimNewline(line string) string {
	if cut, found := strings.CutSuffix(line, "\n"); found {
		return strings.TrimSuffix(cut, "\r")
	}
	return line
}
