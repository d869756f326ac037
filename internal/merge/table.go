package merge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// grid is the signal table of one version.
type grid struct {
	doc   *notes.Doc
	table *notes.Table
	rows  []row
}

// row is a row of a signal table.
type row struct {
	name, value, date string // date is "" for none
	at                int    // its index in the table
	text              string // the line
}

// gridOf reads a document's signal table; a reason means that its rows cannot be told apart.
func gridOf(doc *notes.Doc) (g grid, reason string) {
	g.doc = doc
	live, there := doc.Live(signals.Section)
	if !there {
		return g, ""
	}
	if g.table = doc.Table(live); g.table == nil {
		return g, "both changed the signals, and one side has no table"
	}
	for i, r := range g.table.Rows {
		now := row{at: i, text: doc.Text()[r.Start:r.End], name: r.Text(0), value: r.Text(1)}
		if date := r.Text(2); signals.IsDate(date) {
			now.date = date
		}
		if _, twice := g.row(now.name); twice {
			return g, "both changed the signals, and the row " + now.name + " is repeated"
		}
		g.rows = append(g.rows, now)
	}
	return g, ""
}

// dated reports whether the table has a date column.
func (g *grid) dated() bool { return len(g.table.Header.Cells) > 2 }

func (g *grid) row(name string) (row, bool) {
	i := slices.IndexFunc(g.rows, func(r row) bool { return r.name == name })
	if i < 0 {
		return row{}, false
	}
	return g.rows[i], true
}

// rest is the section without its rows.
func (g *grid) rest() string {
	if g.table == nil {
		return ""
	}
	live, _ := g.doc.Live(signals.Section)
	body := g.doc.Body(live)
	for _, r := range g.rows {
		body = strings.Replace(body, r.text, "", 1)
	}
	return visible.OneLine(body)
}

// mergeTable merges the signal tables of both sides row by row, and returns the section's body.
func (d *documents) mergeTable() (body, reason string) {
	var base, lead, other grid
	if base, reason = gridOf(d.base.doc); reason == "" {
		if lead, reason = gridOf(d.lead.doc); reason == "" {
			other, reason = gridOf(d.other.doc)
		}
	}
	if reason != "" {
		return "", reason
	}
	if lead.table == nil || other.table == nil || lead.rest() != other.rest() {
		return "", "both changed the signals, and not only their rows"
	}
	var splices []notes.Splice
	for _, l := range lead.rows {
		b, had := base.row(l.name)
		o, has := other.row(l.name)
		switch {
		case has && sameRow(l, o), !has && !had, !has && !sameRow(b, l):
		case !has:
			splices = append(splices, drop(lead, l))
		case had && sameRow(b, o):
		case had && sameRow(b, l), !had && !d.unknown && l.isDefault() && !o.isDefault():
			splices = append(splices, lead.exchange(l, o))
		case !had && !d.unknown && o.isDefault() && !l.isDefault():
		case d.beats(o, l):
			splices = append(splices, lead.exchange(l, o))
			d.lost[d.lead.side].row(l, o)
		default:
			d.lost[d.other.side].row(o, l)
		}
	}
	splices = append(splices, lead.missing(base, other)...)
	result, err := lead.doc.Apply(splices...)
	if err != nil {
		return "", "both changed the signals: " + err.Error()
	}
	live, _ := result.Live(signals.Section)
	return visible.LF(result.Body(live)), ""
}

// isDefault reports whether a row has the default value: creating a table for one signal adds
// such rows, which nobody requested.
func (r row) isDefault() bool {
	s, ok := signals.Named(r.name)
	return ok && r.value == s.Default()
}

func sameRow(a, b row) bool { return a.value == b.value && a.date == b.date }

// exchange replaces a row by one of another table.
func (g *grid) exchange(l, o row) notes.Splice {
	return notes.Splice{Span: g.table.Rows[l.at].Span, Text: o.text}
}

func drop(g grid, r row) notes.Splice {
	span := g.table.Rows[r.at].Span
	if newline := strings.IndexByte(g.doc.Text()[span.End:], '\n'); newline >= 0 {
		span.End += newline + 1
	}
	return notes.Splice{Span: span}
}

// missing inserts the rows that only other has, unless lead removed them unchanged: signals in
// schema order, others after their predecessor there.
func (g *grid) missing(base, other grid) (splices []notes.Splice) {
	follows := 0
	for _, o := range other.rows {
		if l, ok := g.row(o.name); ok {
			follows = l.at + 1
			continue
		}
		if b, had := base.row(o.name); had && sameRow(b, o) {
			continue
		}
		at := follows
		if s, ok := signals.Named(o.name); ok {
			at = g.place(s)
		}
		cells := []string{o.name, o.value}
		if g.dated() {
			cells = append(cells, cmp.Or(o.date, signals.NoDate))
		}
		splices = append(splices, g.table.InsertRow(g.doc, at, cells...))
	}
	return splices
}

// place is the index of the row before which a signal goes.
func (g *grid) place(s signals.Signal) int {
	for _, r := range g.rows {
		if other, ok := signals.Named(r.name); ok && other > s {
			return r.at
		}
	}
	return len(g.rows)
}

// beats reports whether other's row counts rather than lead's, if both sides changed it: the
// later date; on a tie that of the side written last; of sides written in the same second the
// higher surprise, and the later value in the schema, i.e. further progress, a more complex
// domain, deeper planning. Swapping the sides changes nothing.
func (d *documents) beats(other, lead row) bool {
	return cmp.Or(
		strings.Compare(other.date, lead.date),
		stamp(d.other.record).Compare(stamp(d.lead.record)),
		cmp.Compare(rank(other), rank(lead)),
		strings.Compare(other.value, lead.value),
	) > 0
}

// rank orders the values of a signal; invalid values come first.
func rank(r row) float64 {
	s, ok := signals.Named(r.name)
	if !ok {
		return 0
	}
	if number, err := strconv.ParseFloat(r.value, 64); err == nil {
		return number
	}
	return float64(slices.Index(s.Domain(), r.value))
}
