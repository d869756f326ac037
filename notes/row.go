package notes

import (
	"slices"
	"strings"
)

// SetCells is the splice that sets columns (0-based) of row r (an index into Rows) to new
// texts, trimmed and with | escaped. Missing columns are appended, with blanks between. An
// unchanged text changes nothing; an empty text for a missing column adds none.
//
// A row without a leading pipe gets one if its first column changes or columns are added,
// because the line could otherwise begin a list or a heading. SetCells panics if a text
// contains a newline, which would end the row.
func (t *Table) SetCells(d *Doc, r int, texts map[int]string) Splice {
	row := t.Rows[r]
	line := trim(d.text, row.Span)
	var edits []Splice
	for c, cell := range row.Cells {
		if text, set := texts[c]; set && escape(cell.Text) != cellText(text) {
			edits = append(edits, Splice{cell.Span, padded(d.text, cell, cellText(text))})
		}
	}
	if added := addedCells(d.text, row, texts); added != "" {
		edits = append(edits, Splice{Span{line.End, line.End}, added})
	}
	if len(edits) == 0 {
		return Splice{Span: Span{line.End, line.End}}
	}
	first, last := edits[0], edits[len(edits)-1]
	if d.text[line.Start] != '|' && (first.Start == line.Start || last.Start == line.End) {
		edits = slices.Insert(edits, 0, Splice{Span{line.Start, line.Start}, "| "})
	}
	all := Span{edits[0].Start, edits[len(edits)-1].End}
	return Splice{all, join(d.text, all, edits)}
}

// padded adds the blanks that a cell's text needs: around it in an empty cell, and between a
// backslash and a pipe.
func padded(text string, cell Cell, value string) string {
	empty := cell.Start == cell.End
	if empty && text[cell.Start-1] == '|' {
		value = " " + value
	}
	if strings.HasPrefix(text[cell.End:], "|") && (empty || strings.HasSuffix(value, `\`)) {
		value += " "
	}
	return value
}

// addedCells is what is appended to a row for missing columns.
func addedCells(text string, row Row, texts map[int]string) string {
	last := -1
	for c, value := range texts {
		if cellText(value) != "" {
			last = max(last, c)
		}
	}
	var added strings.Builder
	for c := len(row.Cells); c <= last; c++ {
		if _, ended := inner(text, row.Span); added.Len() == 0 && !ended {
			added.WriteString(" |")
		}
		added.WriteString(" " + cellText(texts[c]) + " |")
	}
	return added.String()
}

// InsertRow is the splice that inserts a row before Rows[at] (at == len(Rows): after the last),
// written as "| a | b | c |". Several insertions at one place keep the order given to Apply.
func (t *Table) InsertRow(d *Doc, at int, cells ...string) Splice {
	place := nextLine(d.text, t.End)
	if at < len(t.Rows) {
		place = t.Rows[at].Start
	}
	var row strings.Builder
	for _, cell := range cells {
		row.WriteString("| " + cellText(cell) + " ")
	}
	row.WriteString("|" + d.Newline())
	return Splice{Span{place, place}, row.String()}
}

// DropRow is the splice that removes row r (an index into Rows) and its line.
func (t *Table) DropRow(d *Doc, r int) Splice {
	return Splice{Span: Span{t.Rows[r].Start, nextLine(d.text, t.Rows[r].Start)}}
}

// cellText escapes a text for a cell.
func cellText(text string) string {
	if strings.Contains(text, "\n") {
		panic("notes: newline in the text of a table cell")
	}
	return escape(strings.Trim(text, spaces))
}

func escape(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
