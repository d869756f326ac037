package merge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// lost is what one side found out and cannot stay in place, because the other side found out
// something later. It becomes a section of its own.
type lost struct {
	texts []string // the raw state estimate and evidence
	date  string   // date of the first one
	rows  []row    // rows of the signal table
}

// add records a text with that date, unless the kept one is equal.
func (l *lost) add(text, kept, date string) {
	if visible.OneLine(text) == visible.OneLine(kept) {
		return
	}
	if len(l.texts) == 0 {
		l.date = date
	}
	l.texts = append(l.texts, strings.TrimSpace(text))
}

// row records a row that does not count. The escalation row follows from questions and answers,
// which are all kept.
func (l *lost) row(r, kept row) {
	if r.value != kept.value && r.name != signals.Escalation.String() {
		l.rows = append(l.rows, r)
	}
}

// section is the section that keeps it; updated is the side's updated_at.
func (l *lost) section(updated time.Time) (name, text string) {
	date := l.date
	var said []string
	slices.SortFunc(l.rows, func(a, b row) int { return cmp.Or(cmp.Compare(order(a), order(b)), strings.Compare(a.name, b.name)) })
	for _, r := range l.rows {
		line := r.name + " " + r.value
		if r.date != "" {
			line += " (" + r.date + ")"
		}
		said = append(said, line)
		if len(l.texts) == 0 {
			date = max(date, r.date)
		}
	}
	texts := l.texts
	if len(said) > 0 {
		texts = append(slices.Clip(texts), "Signals there: "+strings.Join(said, ", "))
	}
	if len(texts) == 0 {
		return "", ""
	}
	if !signals.IsDate(date) {
		date = ""
		if !updated.IsZero() {
			date = updated.UTC().Format(time.DateOnly)
		}
	}
	text = strings.Join(texts, "\n\n")
	return signals.MergedEstimateName(date, text), text
}

// order is the position of a row in the schema; rows that are not signals come last.
func order(r row) int {
	if s, ok := signals.Named(r.name); ok {
		return int(s)
	}
	return len(signals.All())
}

// keepLost adds sections for what either side would lose.
func (d *documents) keepLost(doc *notes.Doc, want map[string][]string) (_ *notes.Doc, reason string) {
	for _, side := range []document{d.lead, d.other} {
		name, text := d.lost[side.side].section(stamp(side.record))
		if _, there := doc.Live(name); name == "" || there {
			continue
		}
		want[name] = []string{text}
		var err error
		if doc, err = d.insertMerged(doc, name, text); err != nil {
			return nil, "both changed notes: " + err.Error()
		}
	}
	return doc, ""
}

func isMerged(name string) bool { return strings.HasPrefix(name, signals.MergedSection+" ") }

// insertMerged adds a merged estimate: among existing ones in the order of their names, else
// after the last section that existed before, so that swapping the sides changes nothing.
func (d *documents) insertMerged(doc *notes.Doc, name, text string) (*notes.Doc, error) {
	sections := doc.Sections()
	follows, merged := 0, false
	for i, s := range sections {
		switch {
		case isMerged(s.Name) && s.Name > name:
			return insertAt(doc, s.Start, name, text)
		case isMerged(s.Name):
			follows, merged = i+1, true
		case !merged && d.isOld(s.Name):
			follows = i + 1
		}
	}
	if follows < len(sections) {
		return insertAt(doc, sections[follows].Start, name, text)
	}
	return doc.Replace(name, text)
}

// isOld reports whether a section existed before, or precedes everything new.
func (d *documents) isOld(name string) bool {
	return len(d.base.bodies[name]) > 0 || name == signals.Section
}

// insertAt adds a section at the start of another.
func insertAt(doc *notes.Doc, at int, name, text string) (*notes.Doc, error) {
	blank := doc.Newline() + doc.Newline()
	return doc.Apply(notes.Splice{Span: notes.Span{Start: at, End: at}, Text: doc.Render(name, text) + blank})
}
