package merge

import (
	"slices"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

func (p *pair) notes() {
	was, is := p.before.Text(beads.Notes), p.after.Text(beads.Notes)
	if was == is {
		return
	}
	before, after := notes.Parse(was), notes.Parse(is)
	theirs := sections(after)
	for _, s := range sections(before) {
		i := indexOf(theirs, s)
		if i < 0 {
			p.vanished(Section, s.name, s.body)
			continue
		}
		p.section(s, theirs[i])
	}
	mine := sections(before)
	for _, s := range theirs {
		if indexOf(mine, s) < 0 {
			p.added(Section, s.name)
		}
	}
	p.prose(before.Outside(), after.Outside())
}

// section is one section and how many with its name follow: the last is the live one, so equal
// names are paired from the end.
type section struct {
	name   string
	behind int
	body   string
	doc    *notes.Doc
	place  notes.Section
}

func sections(d *notes.Doc) []section {
	all := d.Sections()
	list := make([]section, len(all))
	seen := map[string]int{}
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		list[i] = section{s.Name, seen[s.Name], d.Body(s), d, s}
		seen[s.Name]++
	}
	return list
}

func indexOf(list []section, s section) int {
	return slices.IndexFunc(list, func(other section) bool { return other.name == s.name && other.behind == s.behind })
}

func (p *pair) section(was, is section) {
	if was.body == is.body {
		return
	}
	if was.name == signals.Section {
		before, after := was.doc.Table(was.place), is.doc.Table(is.place)
		if before != nil && after != nil {
			p.rows(rows(before), rows(after))
			return
		}
	}
	p.changed(Section, was.name, was.body, is.body)
}

// tableRow is a raw row of a signal table.
type tableRow struct{ name, value, date string }

// rows lists the rows of a table; of a repeated name the last counts.
func rows(t *notes.Table) (list []tableRow) {
	for _, r := range t.Rows {
		now := tableRow{r.Text(0), r.Text(1), r.Text(2)}
		if i := rowNamed(list, now.name); i >= 0 {
			list[i] = now
			continue
		}
		list = append(list, now)
	}
	return list
}

func rowNamed(list []tableRow, name string) int {
	return slices.IndexFunc(list, func(r tableRow) bool { return r.name == name })
}

func (p *pair) rows(before, after []tableRow) {
	for _, was := range before {
		i := rowNamed(after, was.name)
		switch {
		case i < 0:
			p.vanished(Signal, was.name, was.value)
		case after[i].value != was.value:
			p.changed(Signal, was.name, was.value, after[i].value)
		case after[i].date != was.date:
			p.changed(Signal, was.name+" updated", was.date, after[i].date)
		}
	}
	for _, is := range after {
		if rowNamed(before, is.name) < 0 {
			p.added(Signal, is.name)
		}
	}
}

// prose compares the text outside sections, by words.
func (p *pair) prose(was, is string) {
	switch {
	case visible.OneLine(was) == visible.OneLine(is):
	case is == "":
		p.vanished(Key, string(beads.Notes), was)
	case was == "":
		p.added(Key, string(beads.Notes))
	default:
		p.changed(Key, string(beads.Notes), was, is)
	}
}
