package signals

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stig/cue"
	"stig/notes"
)

// Table is a document's live signal table, or the defaults if there is none.
type Table struct {
	present      bool
	line, column int // line of the header, or of the section if it has no table
	cells        [count]cell
	values       [count]string
	findings     []Finding

	section notes.Section
	grid    *notes.Table
	dated   bool // has a third column
}

// Columns of the table, 0-based.
const (
	nameColumn = iota
	valueColumn
	dateColumn
)

// cell is the live row of a signal.
type cell struct {
	found        bool
	row          int // index into grid.Rows
	raw, updated string
	line, column int // span of the value
}

// Read reads the live table, the last one. A nil schema is the embedded one; it is consulted
// only for a value that the constants do not accept, or if it is narrowed.
func Read(d *notes.Doc, schema *Schema) *Table { return new(Reader).Read(d, schema) }

// Reader reads the tables of many documents into reused memory. It belongs to one goroutine.
type Reader struct {
	table Table
	grid  notes.Table
}

// Read is the function Read. The table is valid until the next call; its texts stay valid.
func (r *Reader) Read(d *notes.Doc, schema *Schema) *Table {
	sections := d.Named(Section)
	if len(sections) == 0 {
		return usualTable()
	}
	t := &r.table
	t.readSection(d, sections[len(sections)-1], &r.grid)
	t.judge(schema)
	t.several(d, sections)
	sortByPlace(t.findings)
	return t
}

// usualTable is what is read without a table: the defaults, whatever a narrowed schema says.
var usualTable = sync.OnceValue(func() *Table {
	t := &Table{}
	t.judge(nil)
	return t
})

// readSection reads the table of one section without judging its values.
func readSection(d *notes.Doc, section notes.Section) *Table {
	t := &Table{}
	t.readSection(d, section, &notes.Table{})
	return t
}

// readSection is the function of that name, into existing memory.
func (t *Table) readSection(d *notes.Doc, section notes.Section, grid *notes.Table) {
	*t = Table{section: section, line: section.Line, column: 1}
	if !grid.Read(d, section) {
		t.add(RuleMissing, Error, t.line, t.column, "", "the section "+Section+" has no table")
		return
	}
	t.line = grid.Header.Line
	if !t.columns(d, grid) {
		return
	}
	t.present, t.grid = true, grid
	for i := range grid.Rows {
		t.row(i)
	}
	t.outside(d)
}

// add reports a problem at a place in the notes; signal is "" if it is about the table.
func (t *Table) add(rule string, severity Severity, line, column int, signal, message string) *Finding {
	t.findings = append(t.findings, Finding{
		Rule: rule, Severity: severity, Signal: signal, Line: line, Column: column, Message: message,
	})
	return &t.findings[len(t.findings)-1]
}

// columns checks the header. Without its first two columns nothing can be read; without the
// third there are no dates.
func (t *Table) columns(d *notes.Doc, grid *notes.Table) bool {
	allowed := [][]string{{"signal", "field"}, {"value"}, {"updated", "as-of"}}
	cells := grid.Header.Cells
	for i, names := range allowed {
		found, place := "", grid.Header.End
		if i < len(cells) {
			found, place = cells[i].Text, cells[i].Start
		}
		if slices.Contains(names, strings.ToLower(found)) {
			continue
		}
		if i == dateColumn && len(cells) == dateColumn {
			return true
		}
		line, column := d.Position(place)
		t.add(RuleHeader, Error, line, column, "",
			fmt.Sprintf("column %d must be %s; found %q", i+1, strings.Join(names, " or "), found))
		return i == dateColumn
	}
	t.dated = true
	return true
}

// row reads row i of the grid.
func (t *Table) row(i int) {
	row := t.grid.Rows[i]
	place := func(offset int) (line, column int) { return row.Line, 1 + offset - row.Start }
	text := func(column int) (string, int) {
		if column < len(row.Cells) {
			return row.Cells[column].Text, row.Cells[column].Start
		}
		return "", row.End
	}
	name, start := text(nameColumn)
	line, column := place(start)
	s, known := inTable(name)
	if !known {
		f := t.add(RuleUnknown, Warning, line, column, name, fmt.Sprintf("unknown signal %q", name))
		if s, ok := Named(strings.ToLower(strings.Trim(name, "*_` "))); ok {
			f.Hint = fmt.Sprintf("write %q", s)
		}
		return
	}
	if t.cells[s].found {
		t.add(RuleRepeated, Error, line, column, name,
			fmt.Sprintf("%s: repeated, after line %d; the last one counts", name, t.cells[s].line))
	}
	raw, start := text(valueColumn)
	line, column = place(start)
	t.cells[s] = cell{found: true, row: i, raw: raw, line: line, column: column}
	if !t.dated {
		return
	}
	switch date, start := text(dateColumn); {
	case IsDate(date):
		t.cells[s].updated = date
	case !isNoDate(date):
		line, column := place(start)
		t.add(RuleDate, Warning, line, column, name,
			fmt.Sprintf("%s: updated must be a date (YYYY-MM-DD) or %s; found %q", name, NoDate, date))
	}
}

// outside finds rows of signals that the table lost, mostly to a blank line
// before them: they look like rows and are none.
func (t *Table) outside(d *notes.Doc) {
	text := d.Text()
	for start := t.section.Body.Start; start < t.section.Body.End; {
		line, _, _ := strings.Cut(text[start:], "\n")
		row, piped := strings.CutPrefix(strings.TrimSpace(line), "|")
		if piped && (start < t.grid.Start || start >= t.grid.End) {
			name, _, _ := strings.Cut(row, "|")
			name = strings.TrimSpace(name)
			if _, ok := inTable(name); ok {
				line, column := d.Position(start)
				f := t.add(RuleOutside, Error, line, column, name, fmt.Sprintf("%s: this row is outside the table", name))
				f.Hint = "a blank line ends a table: remove it"
			}
		}
		start += len(line) + 1
	}
}

// judge decides which values are valid.
func (t *Table) judge(schema *Schema) {
	ask := schema != nil && schema.Narrowed()
	for s := range count {
		ask = ask || t.cells[s].found && !accepts(s, t.cells[s].raw)
	}
	var violated [count]bool
	if ask {
		for _, f := range t.violations(schema) {
			if s, ok := Named(f.Signal); ok {
				violated[s] = true
			}
			if t.present {
				t.findings = append(t.findings, f)
			}
		}
	}
	for s := range count {
		t.values[s] = s.Default()
		if t.cells[s].found && !violated[s] {
			t.values[s] = canonical(s, t.cells[s].raw)
		}
	}
}

// violations asks the schema itself about the table as it stands in JSON.
func (t *Table) violations(schema *Schema) []Finding {
	if schema == nil {
		schema = cue.Embedded()
	}
	definition := "#SignalTable"
	if t.HasEvidence() {
		definition = "#SignalTableEvidence"
	}
	var values []cue.Value
	for _, s := range t.Signals() {
		raw := t.Raw(s)
		values = append(values, cue.Value{
			Name: s.Key(), Label: s.String(), Text: raw, Kind: kind(s, raw),
			Line: t.cells[s].line, Column: t.cells[s].column,
		})
	}
	var findings []Finding
	for _, v := range schema.Check(definition, values) {
		findings = append(findings, t.violationFinding(v))
	}
	return findings
}

// Present reports whether there is a table.
func (t *Table) Present() bool { return t.present }

// Has reports whether the table has a row of that signal.
func (t *Table) Has(s Signal) bool { return t.cells[s].found }

// Raw is the value as found; the default where there is no row.
func (t *Table) Raw(s Signal) string {
	if t.cells[s].found {
		return t.cells[s].raw
	}
	return s.Default()
}

// Value is the value in canonical form if it is valid, else the default.
func (t *Table) Value(s Signal) string { return t.values[s] }

// Number is the value of surprise, from 0.0 to 1.0.
func (t *Table) Number() float64 {
	number, err := strconv.ParseFloat(t.values[Surprise], 64)
	if err != nil { // the schema takes nothing but numbers
		return 0
	}
	return number
}

// Updated is the date of a row as YYYY-MM-DD; "" where it is absent or no date.
func (t *Table) Updated(s Signal) string { return t.cells[s].updated }

// Place is where the value of a signal stands in the notes, 1-based, column
// in bytes; 0, 0 where there is no row.
func (t *Table) Place(s Signal) (line, column int) { return t.cells[s].line, t.cells[s].column }

// HasEvidence reports whether there is a row of any evidence signal.
func (t *Table) HasEvidence() bool {
	return slices.ContainsFunc(t.cells[firstEvidence:], func(c cell) bool { return c.found })
}

// Signals lists the signals that the table stands for in canonical order: the
// basic ones, and those of evidence if it has any of them.
func (t *Table) Signals() []Signal {
	if t.HasEvidence() {
		return All()
	}
	return All()[:firstEvidence]
}

// Findings lists what is wrong, in the order of the text.
func (t *Table) Findings() []Finding { return slices.Clone(t.findings) }

// MarshalJSON gives null where there is no table, else Effective.
func (t *Table) MarshalJSON() ([]byte, error) {
	if !t.present {
		return []byte("null"), nil
	}
	return t.Effective()
}

// Effective gives the keys of #SignalTable, or of #SignalTableEvidence if
// the table has an evidence row, in canonical order with the values as found,
// or the defaults, so that cue vet judges what stands in the notes. schema_version
// and surprise are numbers when they are decimals, else strings; an absent
// evidence_freshness is null.
func (t *Table) Effective() ([]byte, error) {
	out := []byte{'{'}
	for i, s := range t.Signals() {
		if i > 0 {
			out = append(out, ',')
		}
		raw := t.Raw(s)
		out = append(out, `"`+s.Key()+`":`...)
		switch kind(s, raw) {
		case cue.Number:
			out = append(out, raw...)
		case cue.Null:
			out = append(out, "null"...)
		default:
			text, err := json.Marshal(raw)
			if err != nil {
				return nil, err
			}
			out = append(out, text...)
		}
	}
	return append(out, '}'), nil
}

// NoTable is what is shown in place of signals where an issue has no table.
const NoTable = "no signals"

// Summary is the table in one line, for briefings: each value behind the name of its
// signal, or behind a shorter word, or alone where it says what it is of.
func (t *Table) Summary() string {
	shorter := map[Signal]string{
		Cynefin: "", Progress: "", Confidence: "",
		PlanningDepth: "depth ", EvidenceFreshness: "freshness ", RegressionGuard: "guard ",
	}
	var words []string
	for _, s := range t.Signals()[SchemaVersion+1:] {
		name, is := shorter[s]
		if !is {
			name = s.String() + " "
		}
		words = append(words, name+t.Value(s))
	}
	return strings.Join(words, " · ")
}
