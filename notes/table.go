package notes

import "strings"

// Table is a Markdown table found at the top level of a section.
type Table struct {
	Span   // first byte of the header row to the end of the last row's line, newline excluded
	Header Row
	Rows   []Row
}

// Row is one line of a table.
type Row struct {
	Span      // the line without its newline
	Line  int // 1-based line in the document
	Cells []Cell
}

// Cell is one cell. Text is trimmed, with \| read as |. Span covers the
// trimmed raw text; of an empty cell it is the empty place where text goes.
type Cell struct {
	Span
	Text string
}

// Table finds the first table in a section's body; nil when there is none.
//
// A table is a row with a | in it, directly above a row of dashes, and all
// lines below them in the same top-level paragraph; lines above belong to the
// text. Rows may lack the outer pipes and may be shorter or longer than the
// header. A | directly after a backslash is text, in code too.
func (d *Doc) Table(s Section) *Table {
	for _, paragraph := range d.paragraphs {
		if paragraph.Start < s.Body.Start || paragraph.End > s.Body.End {
			continue
		}
		if header, found := headerRow(d.text, paragraph); found {
			return d.table(header, paragraph.End)
		}
	}
	return nil
}

// headerRow is the line of a paragraph that is the header of a table: the
// first that holds a pipe and has a row of dashes below.
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

// isRule tells whether a line is the row of dashes below a header.
func isRule(text string, line Span) bool {
	for _, cell := range split(text, line) {
		dashes := strings.TrimSuffix(strings.TrimPrefix(cell.Text, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return false
		}
	}
	return true
}

func (d *Doc) table(header Span, end int) *Table {
	number, _ := d.Position(header.Start)
	t := &Table{Span: Span{header.Start, end}, Header: Row{header, number, split(d.text, header)}}
	rule := nextLine(d.text, header.End)
	for start := nextLine(d.text, rule); start < end; start = nextLine(d.text, start) {
		line := Span{start, lineEnd(d.text, start)}
		t.Rows = append(t.Rows, Row{line, number + 2 + len(t.Rows), split(d.text, line)})
	}
	return t
}

// spaces are what CommonMark strips around a line and a cell.
const spaces = " \t\r\v\f"

// trim is the span without the blanks at its ends. Of a span of nothing but
// blanks it is the place behind the first.
func trim(text string, span Span) Span {
	raw := text[span.Start:span.End]
	start := len(raw) - len(strings.TrimLeft(raw, spaces))
	if start == len(raw) {
		place := span.Start + min(len(raw), 1)
		return Span{place, place}
	}
	return Span{span.Start + start, span.Start + len(strings.TrimRight(raw, spaces))}
}

// nextPipe is the offset of the first | in the span that separates cells;
// the end of the span when there is none.
func nextPipe(text string, span Span) int {
	for i := span.Start; i < span.End; i++ {
		if text[i] == '|' && (i == 0 || text[i-1] != '\\') {
			return i
		}
	}
	return span.End
}

// split finds the cells of a row. There is at least one.
func split(text string, line Span) []Cell {
	rest, _ := inner(text, line)
	cells := make([]Cell, 0, 1+strings.Count(text[rest.Start:rest.End], "|"))
	for {
		pipe := nextPipe(text, rest)
		span := trim(text, Span{rest.Start, pipe})
		cells = append(cells, Cell{span, strings.ReplaceAll(text[span.Start:span.End], `\|`, "|")})
		if pipe == rest.End {
			return cells
		}
		rest.Start = pipe + 1
	}
}

// inner is a row between its outer pipes, of which each may be missing, and
// whether there is an outer pipe at the end.
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
