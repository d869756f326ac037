package notes

import (
	"iter"
	"slices"
	"strings"
)

// Table is a Markdown table at the top level of a section.
type Table struct {
	Span   // from the first byte of the header row to the end of the last row's line, without newline
	Header Row
	Rows   []Row

	cells []Cell // of all rows, in sequence
}

// Row is one line of a table.
type Row struct {
	Span      // the line without newline
	Line  int // 1-based line in the document
	Cells []Cell
}

// Text is the text of the cell in a column, 0-based; "" if the row has none.
func (r Row) Text(column int) string {
	if column < len(r.Cells) {
		return r.Cells[column].Text
	}
	return ""
}

// Cell is one cell. Text is trimmed, with \| decoded to |. Span covers the trimmed raw text, or
// for an empty cell the empty range where text goes.
type Cell struct {
	Span
	Text string
}

// Table finds the first table in a section's body; nil if there is none.
//
// A table is a row with a | in it, directly above a row of dashes, and all lines below them in
// the same top-level paragraph; lines above are text. Rows may lack the outer pipes and may be
// shorter or longer than the header. A | directly after a backslash is text, even in code.
func (d *Doc) Table(s Section) *Table {
	t := &Table{}
	if !t.Read(d, s) {
		return nil
	}
	return t
}

// Read is Doc.Table into an existing table, whose rows and cells it overwrites; it reports
// whether there is one.
func (t *Table) Read(d *Doc, s Section) bool {
	for _, paragraph := range d.paragraphs {
		if paragraph.Start < s.Body.Start || paragraph.End > s.Body.End {
			continue
		}
		if header, found := headerRow(d.text, paragraph); found {
			t.read(d, header, paragraph.End)
			return true
		}
	}
	return false
}

// headerRow returns the line of a paragraph that is a table header: the first one that contains
// a pipe and has a row of dashes below.
func headerRow(text string, paragraph Span) (Span, bool) {
	above := Span{paragraph.Start, lineEnd(text, paragraph.Start)}
	for above.End < paragraph.End {
		start := nextLine(text, above.End)
		line := Span{start, lineEnd(text, start)}
		if nextPipe(text, above) < above.End && isRule(text, line) {
			return above, true
		}
		above = line
	}
	return Span{}, false
}

// isRule reports whether a line is the row of dashes below a header.
func isRule(text string, line Span) bool {
	for cell := range cells(text, line) {
		dashes := strings.TrimSuffix(strings.TrimPrefix(text[cell.Start:cell.End], ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return false
		}
	}
	return true
}

func (t *Table) read(d *Doc, header Span, end int) {
	number, _ := d.Position(header.Start)
	rule := nextLine(d.text, header.End)
	first := min(nextLine(d.text, rule), end)
	lines := 1 + strings.Count(d.text[first:end], "\n")
	t.Span, t.Rows = Span{header.Start, end}, slices.Grow(t.Rows[:0], lines)
	t.cells = split(t.cells[:0], d.text, header)
	width := len(t.cells)
	t.cells = slices.Grow(t.cells, lines*width) // enough if no row is longer than the header
	t.Header = Row{header, number, t.cells[:width:width]}
	for start := first; start < end; start = nextLine(d.text, start) {
		line, before := Span{start, lineEnd(d.text, start)}, len(t.cells)
		t.cells = split(t.cells, d.text, line)
		t.Rows = append(t.Rows, Row{line, number + 2 + len(t.Rows), t.cells[before:len(t.cells):len(t.cells)]})
	}
}

// spaces are what CommonMark strips around a line and a cell.
const spaces = " \t\r\v\f"

// trim returns the span without surrounding blanks; for nothing but blanks the empty range
// after the first.
func trim(text string, span Span) Span {
	start, end := span.Start, span.End
	for start < end && isSpace(text[start]) {
		start++
	}
	if start == end {
		place := span.Start + min(end-span.Start, 1)
		return Span{place, place}
	}
	for isSpace(text[end-1]) {
		end--
	}
	return Span{start, end}
}

// isSpace reports whether a byte is one of spaces.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' && c != '\n' }

// nextPipe returns the offset of the first | in the span that separates cells; the end of the
// span if there is none.
func nextPipe(text string, span Span) int {
	for i := span.Start; i < span.End; i++ {
		if text[i] == '|' && (i == 0 || text[i-1] != '\\') {
			return i
		}
	}
	return span.End
}

// split appends the cells of a row, at least one.
func split(list []Cell, text string, line Span) []Cell {
	for cell := range cells(text, line) {
		list = append(list, Cell{cell, strings.ReplaceAll(text[cell.Start:cell.End], `\|`, "|")})
	}
	return list
}

// cells iterates over the cells of a row, at least one.
func cells(text string, line Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		rest, _ := inner(text, line)
		for {
			pipe := nextPipe(text, rest)
			if !yield(trim(text, Span{rest.Start, pipe})) || pipe == rest.End {
				return
			}
			rest.Start = pipe + 1
		}
	}
}

// inner is a row between its optional outer pipes, and whether there is a trailing one.
func inner(text string, line Span) (cells Span, ended bool) {
	cells = trim(text, line)
	if cells.Start < cells.End && text[cells.Start] == '|' {
		cells.Start++
	}
	last := cells.End - 1
	if cells.Start <= last && nextPipe(text, Span{last, cells.End}) == last {
		return Span{cells.Start, last}, true
	}
	return cells, false
}
