// Package notes reads the notes of an issue as a lossless document of sections and tables, and
// edits it by splicing.
//
// It keeps the source bytes and only records spans in them. An edit is a list of splices, so
// everything it does not name keeps its bytes: other sections, text between them, blank lines,
// line endings, the final newline or its absence. The structure of the Markdown decides what is
// a section, not a scan for delimiters, because notes quote delimiters in code.
//
// The package does not know what a section means: signals, checkpoints and escalations are only
// names, and it knows nothing of dates, values and stores.
//
//	d := notes.Parse(text)
//	d, err := d.Replace("checkpoint-context", "What remains: the tests")
package notes

import (
	"slices"
	"strings"
)

// Span is a half-open byte range of a text: text[Start:End].
type Span struct{ Start, End int }

// Doc is a notes text with the spans of its sections. It is immutable and safe for concurrent
// use: every edit returns a new Doc.
type Doc struct {
	text       string
	sections   []Section
	malformed  []*Error
	paragraphs []Span // whole lines of the top-level blocks that may contain a table
}

// Parse finds the sections of a text. It never fails: [Doc.Malformed] lists malformed
// delimiters, and the rest is read as far as it is unambiguous.
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

// Text is the whole document. A Doc from Parse returns the parsed text itself.
func (d *Doc) Text() string { return d.text }

// Position returns the 1-based line and column, in bytes, of an offset between 0 and
// len(d.Text()).
func (d *Doc) Position(offset int) (line, column int) { return position(d.text, offset) }

// Malformed lists the unpaired delimiters, in order.
func (d *Doc) Malformed() []*Error { return d.malformed }

// Sections lists the well-formed sections, in order.
func (d *Doc) Sections() []Section { return d.sections }

// Named lists the sections with that name, in order.
func (d *Doc) Named(name string) []Section {
	var named []Section
	for _, s := range d.sections {
		if s.Name == name {
			named = append(named, s)
		}
	}
	return named
}

// Live returns the live section with that name, which is the last one.
func (d *Doc) Live(name string) (Section, bool) {
	for _, s := range slices.Backward(d.sections) {
		if s.Name == name {
			return s, true
		}
	}
	return Section{}, false
}

// Body is the text between a section's delimiter lines, without the last line ending.
func (d *Doc) Body(s Section) string { return d.text[s.Body.Start:s.Body.End] }

// Outside is the text outside sections, trimmed, with one blank line in place of each section.
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

// lineCounter returns line numbers for ascending offsets, counting the text once.
type lineCounter struct {
	text         string
	at, newlines int // an offset, and the number of newlines before it
}

// line returns the 1-based line at an offset.
func (c *lineCounter) line(offset int) int {
	c.newlines += strings.Count(c.text[c.at:offset], "\n")
	c.at = offset
	return 1 + c.newlines
}

// lineStart returns the offset of the first byte of the line at offset.
func lineStart(text string, offset int) int {
	return 1 + strings.LastIndexByte(text[:offset], '\n')
}

// lineEnd returns the end of the line at offset, without its newline (LF or CRLF).
func lineEnd(text string, offset int) int {
	end := nextLine(text, offset)
	return lineStart(text, offset) + len(trimNewline(text[lineStart(text, offset):end]))
}

// nextLine returns the offset of the line after the one at offset; len(text) if there is none.
func nextLine(text string, offset int) int {
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(text)
}

// trimNewline removes one line ending, LF or CRLF.
func trimNewline(line string) string {
	if cut, found := strings.CutSuffix(line, "\n"); found {
		return strings.TrimSuffix(cut, "\r")
	}
	return line
}
