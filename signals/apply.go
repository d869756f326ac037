package signals

import (
	"fmt"
	"slices"
	"strings"

	"stig/notes"
)

// Change is one signal changed by an edit.
type Change struct {
	Signal   Signal
	From, To string // the values before and after, as in the notes
}

// Update is what to set, and how.
type Update struct {
	Set      map[Signal]string // PlanningDepth may be Auto
	Today    string            // YYYY-MM-DD
	Reaffirm bool              // update the date even of unchanged rows
	Evidence bool              // a new table also gets the evidence rows
}

// Auto as a planning depth stands for the default of the Cynefin domain.
const Auto = "auto"

// Apply writes an Update into the document and validates the result. It returns the changes,
// and warnings such as a planning depth that was kept.
//
// It writes only the Value and Updated cells of rows whose value changes. A missing row that
// changes is inserted at its canonical place, the evidence rows all together. Without a table,
// one is created at the beginning of the notes. A new Cynefin domain also sets its planning
// depth, unless the current depth differs from the old domain's default.
//
// It refuses malformed notes (*notes.Error), a table that cannot be written safely, and a
// result that the schema rejects, because of the update or of an existing value
// (*InvalidError): setting that signal fixes it. A repeated row does not prevent writing the
// last one.
func Apply(d *notes.Doc, u Update, schema *Schema) (*notes.Doc, []Change, []string, error) {
	if malformed := d.Malformed(); len(malformed) > 0 {
		return nil, nil, nil, malformed[0]
	}
	if !IsDate(u.Today) {
		return nil, nil, nil, fmt.Errorf("today must be a date (YYYY-MM-DD); found %q", u.Today)
	}
	t := Read(d, schema)
	if err := t.writable(); err != nil {
		return nil, nil, nil, err
	}
	p, warnings, err := u.plan(t)
	if err != nil {
		return nil, nil, nil, err
	}
	result, err := p.write(d, t)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := p.verify(result, schema); err != nil {
		return nil, nil, nil, err
	}
	return result, p.changes(t), warnings, nil
}

// writable refuses a table that cannot be written safely.
func (t *Table) writable() error {
	var refused []Finding
	for _, f := range t.findings {
		ofAnother := f.Rule == RuleVersion && isDecimal(t.Raw(SchemaVersion))
		if ofAnother || slices.Contains(unwritable, f.Rule) {
			refused = append(refused, f)
		}
	}
	if len(refused) > 0 {
		return &InvalidError{refused}
	}
	return nil
}

// plan is the intended content of the table.
type plan struct {
	Update
	given [count]bool   // signals to set, by request or derivation
	want  [count]string // their canonical values
}

func (u Update) plan(t *Table) (plan, []string, error) {
	p := plan{Update: u}
	for s, text := range u.Set {
		if s < 0 || s >= count {
			return p, nil, fmt.Errorf("no signal has the number %d", s)
		}
		value, err := typed(s, text)
		if err != nil {
			return p, nil, err
		}
		p.given[s], p.want[s] = true, value
	}
	return p, p.derive(t), nil
}

// derive sets the planning depth that a new domain implies.
func (p *plan) derive(t *Table) []string {
	old, domain := t.Value(Cynefin), t.Value(Cynefin)
	if p.given[Cynefin] {
		domain = p.want[Cynefin]
	}
	depth := t.Raw(PlanningDepth)
	switch {
	case p.given[PlanningDepth]:
		if p.want[PlanningDepth] == Auto {
			p.want[PlanningDepth] = Depth(domain)
		}
	case Complexity(domain) < 0 || domain == old || depth == Depth(domain):
	case depth == Depth(old):
		p.given[PlanningDepth], p.want[PlanningDepth] = true, Depth(domain)
	default:
		return []string{fmt.Sprintf("planning-depth: kept %q, which was set by hand (%s implies %s); --depth auto resets it",
			depth, domain, Depth(domain))}
	}
	return nil
}

// differs reports whether the value of a signal changes.
func (p *plan) differs(t *Table, s Signal) bool {
	return p.given[s] && canonical(s, t.Raw(s)) != p.want[s]
}

// dates reports whether a signal's row gets today's date.
func (p *plan) dates(t *Table, s Signal) bool {
	_, asked := p.Set[s]
	return p.differs(t, s) || asked && p.Reaffirm
}

func (p *plan) changes(t *Table) []Change {
	var changes []Change
	for s := range count {
		if p.differs(t, s) {
			changes = append(changes, Change{s, t.Raw(s), p.want[s]})
		}
	}
	return changes
}

func (p *plan) write(d *notes.Doc, t *Table) (*notes.Doc, error) {
	if !t.present {
		return d.Prepend(Section, p.render(t))
	}
	var splices []notes.Splice
	for s := range count {
		texts := make(map[int]string)
		if p.differs(t, s) {
			texts[valueColumn] = p.want[s]
		}
		if p.dates(t, s) && t.dated {
			texts[dateColumn] = p.Today
		}
		if t.Has(s) && len(texts) > 0 {
			splices = append(splices, t.grid.SetCells(d, t.cells[s].row, texts))
		}
	}
	for _, s := range p.missing(t) {
		splices = append(splices, t.grid.InsertRow(d, t.place(s), p.row(t, s)...))
	}
	if len(splices) == 0 {
		return d, nil
	}
	return d.Apply(splices...)
}

// missing lists the rows to insert, in canonical order.
func (p *plan) missing(t *Table) []Signal {
	var rows []Signal
	evidence := false
	for s := range count {
		if !t.Has(s) && p.dates(t, s) {
			rows = append(rows, s)
			evidence = evidence || s.Evidence()
		}
	}
	if !evidence || t.HasEvidence() {
		return rows
	}
	rows = slices.DeleteFunc(rows, Signal.Evidence)
	return append(rows, All()[firstEvidence:]...)
}

// place returns the index of the row before which a missing row belongs: after the nearest
// signal that precedes it in canonical order, else before the nearest that follows.
func (t *Table) place(s Signal) int {
	for before := s - 1; before >= 0; before-- {
		if t.Has(before) {
			return t.cells[before].row + 1
		}
	}
	for after := s + 1; after < count; after++ {
		if t.Has(after) {
			return t.cells[after].row
		}
	}
	return len(t.grid.Rows)
}

// row formats a new row of the table.
func (p *plan) row(t *Table, s Signal) []string {
	value, date := s.Default(), NoDate
	if p.given[s] {
		value = p.want[s]
	}
	if p.dates(t, s) {
		date = p.Today
	}
	if t.present && !t.dated {
		return []string{s.String(), value}
	}
	return []string{s.String(), value, date}
}

// render formats a new table. Its basic rows are dated, since somebody now answers for them; an
// unasked question and missing evidence have no date.
func (p *plan) render(t *Table) string {
	rows := All()
	evidence := p.Evidence
	for _, s := range rows[firstEvidence:] {
		evidence = evidence || p.given[s]
	}
	if !evidence {
		rows = rows[:firstEvidence]
	}
	lines := []string{"| Signal | Value | Updated |", "|---|---|---|"}
	for _, s := range rows {
		cells := p.row(t, s)
		if _, asked := p.Set[s]; asked || s < Escalation || s == PlanningDepth {
			cells[2] = p.Today
		}
		for i, text := range cells {
			cells[i] = strings.ReplaceAll(text, "|", `\|`)
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	return strings.Join(lines, "\n")
}

// verify reads the result back and lets the schema judge it.
func (p *plan) verify(result *notes.Doc, schema *Schema) error {
	t := Read(result, schema)
	findings := t.violations(schema)
	for i, f := range findings {
		if s, ok := Named(f.Signal); ok && p.given[s] {
			// The result has no place: it is discarded.
			findings[i].Line, findings[i].Column, findings[i].Fix = 0, 0, ""
		}
	}
	if len(findings) > 0 {
		return &InvalidError{findings}
	}
	if err := t.writable(); err != nil {
		return err
	}
	for s := range count {
		if p.given[s] && t.Value(s) != p.want[s] {
			return fmt.Errorf("%s: %q was written and reads back as %q", s, p.want[s], t.Raw(s))
		}
	}
	return nil
}
