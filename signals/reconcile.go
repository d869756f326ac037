package signals

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/notes"
)

// Reconcile merges the signal tables of a document into one, in place of the last, and says
// what it did, one sentence each.
//
// For each row, including unknown ones, the newer Updated wins; a missing date is older than
// any, ties go to the later table, and an invalid value loses to a valid one. The tables before
// the last are removed, and so are the lines of three dashes with which a merge joined the
// notes. Of several sections of a Newer kind the newest is kept, the later on a tie. Those of a
// Parts kind are united in the last one, their parts in order of date, each once. All other
// text stays, even if a merge doubled it; blank lines around removed text are closed up.
//
// A document with at most one table is returned as is. Values that are invalid in every table
// stay: Apply fixes them. It refuses malformed notes (*notes.Error) and tables that cannot be
// written safely (*InvalidError).
func Reconcile(d *notes.Doc, schema *Schema) (*notes.Doc, []string, error) {
	if malformed := d.Malformed(); len(malformed) > 0 {
		return nil, nil, malformed[0]
	}
	sections := d.Named(Section)
	if len(sections) < 2 {
		return d, nil, nil
	}
	r := reconciler{doc: d}
	if err := r.read(sections, schema); err != nil {
		return nil, nil, err
	}
	r.dropTables(sections)
	united := map[string]string{} // bodies of sections, by name
	for _, k := range kinds {
		switch k.Union {
		case Newer:
			r.keepNewest(k.Name)
		case Parts:
			united[k.Name] = r.uniteParts(k.Name)
		}
	}
	result, err := r.apply()
	if err != nil {
		return nil, nil, err
	}
	for _, k := range kinds {
		if body := united[k.Name]; body != "" {
			if result, err = result.Replace(k.Name, body); err != nil {
				return nil, nil, err
			}
		}
	}
	return result, r.done, r.verify(result)
}

// reconciler collects what to change and what was done.
type reconciler struct {
	doc     *notes.Doc
	tables  []*Table // in text order
	winners []contender
	removed []notes.Span
	done    []string
}

// contender is a row that competes for a name: one of each name wins.
type contender struct {
	name, value, date string
	table             int // index in tables
}

func (r *reconciler) say(format string, args ...any) {
	r.done = append(r.done, fmt.Sprintf(format, args...))
}

func (r *reconciler) read(sections []notes.Section, schema *Schema) error {
	for _, section := range sections {
		t := readSection(r.doc, section)
		t.judge(schema)
		if err := t.writable(); err != nil {
			return err
		}
		r.tables = append(r.tables, t)
	}
	for i, t := range r.tables {
		for _, row := range t.rows() {
			r.enter(i, row)
		}
	}
	return nil
}

// rows lists the rows of a table in order; of a repeated name only the last, which counts.
func (t *Table) rows() []contender {
	var rows []contender
	for _, row := range t.grid.Rows {
		w := contender{name: row.Text(nameColumn), value: row.Text(valueColumn)}
		if date := row.Text(dateColumn); t.dated && IsDate(date) {
			w.date = date
		}
		rows = slices.DeleteFunc(rows, func(other contender) bool { return other.name == w.name })
		rows = append(rows, w)
	}
	return rows
}

// enter lets the rows of table i compete with those of earlier tables.
func (r *reconciler) enter(i int, w contender) {
	w.table = i
	at := slices.IndexFunc(r.winners, func(other contender) bool { return other.name == w.name })
	if at < 0 {
		r.winners = append(r.winners, w)
		return
	}
	old := r.winners[at]
	valid, was := r.valid(w), r.valid(old)
	if valid && !was || valid == was && w.date >= old.date {
		r.winners[at] = w
	}
}

func (r *reconciler) valid(w contender) bool {
	t := r.tables[w.table]
	return !slices.ContainsFunc(t.findings, func(f Finding) bool {
		return f.Signal == w.name && (f.Rule == RuleValue || f.Rule == RuleVersion)
	})
}

// dropTables plans the removal of all tables but the last, and of the separators between them.
func (r *reconciler) dropTables(sections []notes.Section) {
	for i, s := range sections[:len(sections)-1] {
		r.remove(s.Span)
		if separator, joined := separatorBetween(r.doc, s, sections[i+1]); joined {
			r.remove(separator)
		}
		r.say("removed the signal table at line %d", s.Line)
	}
}

// keepNewest plans the removal of all sections with a name but the latest, the later one on a
// tie.
func (r *reconciler) keepNewest(name string) {
	sections := r.doc.Named(name)
	if len(sections) < 2 {
		return
	}
	kept, newest := 0, ""
	for i, s := range sections {
		if date := headingDate(r.doc.Body(s)); date >= newest {
			kept, newest = i, date
		}
	}
	for i, s := range sections {
		if i != kept {
			r.remove(s.Span)
			r.say("removed the section %s at line %d, kept the one at line %d", name, s.Line, sections[kept].Line)
		}
	}
}

// headingDate is the date in the first heading that has one; "" for none.
func headingDate(body string) string {
	for _, part := range notes.Parts(body) {
		if date := dateIn(part.Heading); date != "" {
			return date
		}
	}
	return ""
}

// uniteParts plans the removal of all sections with a name but the last and returns that one's
// new body; "" if there is nothing to unite.
func (r *reconciler) uniteParts(name string) string {
	sections := r.doc.Named(name)
	if len(sections) < 2 {
		return ""
	}
	var passages []Passage
	for _, s := range sections {
		for _, p := range Passages(r.doc.Body(s)) {
			if !slices.ContainsFunc(passages, func(other Passage) bool { return other.Text == p.Text }) {
				passages = append(passages, p)
			}
		}
	}
	slices.SortStableFunc(passages, func(a, b Passage) int { return strings.Compare(a.Date, b.Date) })
	for _, s := range sections[:len(sections)-1] {
		r.remove(s.Span)
		r.say("united the section %s at line %d with the one at line %d", name, s.Line, sections[len(sections)-1].Line)
	}
	var texts []string
	for _, p := range passages {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// remove plans the removal of whole lines.
func (r *reconciler) remove(s notes.Span) { r.removed = append(r.removed, s) }

// apply fills the last table with the winners and makes the planned removals.
func (r *reconciler) apply() (*notes.Doc, error) {
	live := r.tables[len(r.tables)-1]
	d, err := live.take(r.doc, r.winners)
	if err != nil {
		return nil, err
	}
	// The live table is after all other tables but not after everything that is removed, so
	// spans after it move when it grows.
	growth := len(d.Text()) - len(r.doc.Text())
	spans := slices.Clone(r.removed)
	for i, s := range spans {
		if s.Start >= live.section.End {
			spans[i] = notes.Span{Start: s.Start + growth, End: s.End + growth}
		}
	}
	return removeLines(d, spans)
}

// take sets the table's rows to the winners. A missing or invalid date stays if the winner has
// none.
func (t *Table) take(d *notes.Doc, winners []contender) (*notes.Doc, error) {
	own := make(map[string]int)
	for i, row := range t.grid.Rows {
		own[row.Text(nameColumn)] = i
	}
	var splices []notes.Splice
	for _, w := range winners {
		row, has := own[w.name]
		if !has {
			continue
		}
		texts := map[int]string{valueColumn: w.value}
		if t.dated && w.date != "" {
			texts[dateColumn] = w.date
		}
		splices = append(splices, t.grid.SetCells(d, row, texts))
	}
	return d.Apply(append(splices, t.insertions(d, winners, own)...)...)
}

// insertions puts signals at their canonical places, other rows at the end.
func (t *Table) insertions(d *notes.Doc, winners []contender, own map[string]int) []notes.Splice {
	byName := make(map[string]contender)
	var others []contender
	for _, w := range winners {
		if _, has := own[w.name]; has {
			continue
		}
		byName[w.name] = w
		if _, known := inTable(w.name); !known {
			others = append(others, w)
		}
	}
	var splices []notes.Splice
	insert := func(at int, w contender) {
		cells := []string{w.name, w.value}
		if t.dated {
			cells = append(cells, cmp.Or(w.date, NoDate))
		}
		splices = append(splices, t.grid.InsertRow(d, at, cells...))
	}
	for s := range count {
		if w, ok := byName[s.String()]; ok {
			insert(t.place(s), w)
		}
	}
	for _, w := range others {
		insert(len(t.grid.Rows), w)
	}
	return splices
}

// removeLines removes the lines of spans, and the blank lines on one side of each, so that the
// distances of the rest stay.
func removeLines(d *notes.Doc, spans []notes.Span) (*notes.Doc, error) {
	text := d.Text()
	slices.SortFunc(spans, func(a, b notes.Span) int { return a.Start - b.Start })
	var merged []notes.Splice
	for _, s := range spans {
		lines := wholeLines(text, s)
		if n := len(merged); n > 0 && lines.Start <= merged[n-1].End {
			merged[n-1].End = max(merged[n-1].End, lines.End)
			continue
		}
		merged = append(merged, notes.Splice{Span: lines})
	}
	for i := range merged {
		start := 0
		if i > 0 {
			start = merged[i-1].End
		}
		if strings.TrimSpace(text[merged[i].End:]) == "" {
			ending := text[len(strings.TrimRight(text, "\r\n")):]
			merged[i].Start = start + len(strings.TrimRight(text[start:merged[i].Start], " \t\r\n"))
			merged[i].End, merged[i].Text = len(text), ending
		}
	}
	return d.Apply(merged...)
}

// wholeLines extends a span to whole lines and the blank lines after them.
func wholeLines(text string, s notes.Span) notes.Span {
	start := strings.LastIndexByte(text[:s.Start], '\n') + 1
	end := s.End
	for {
		newline := strings.IndexByte(text[end:], '\n')
		if newline < 0 {
			return notes.Span{Start: start, End: len(text)}
		}
		end += newline + 1
		if !blankLine(text, end) {
			return notes.Span{Start: start, End: end}
		}
	}
}

// verify compares the result with the plan.
func (r *reconciler) verify(result *notes.Doc) error {
	sections := result.Named(Section)
	if len(sections) != 1 {
		return fmt.Errorf("reconciling left %d signal tables", len(sections))
	}
	t := readSection(result, sections[0])
	if err := t.writable(); err != nil {
		return err
	}
	rows := t.rows()
	for _, w := range r.winners {
		if !slices.ContainsFunc(rows, func(row contender) bool { return row.name == w.name && row.value == w.value }) {
			return fmt.Errorf("reconciling lost the row %q", w.name)
		}
	}
	return nil
}
