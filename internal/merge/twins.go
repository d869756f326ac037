package merge

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/beads"
)

// Twins are several lines of one store about one issue. Readers take the last of them, and so
// does a merge; what the others contain must not go unnoticed.

// told is the content of a line, without spelling and update time.
func (l *line) told() string {
	r := parsed(l)
	if r == nil {
		return l.text
	}
	if undated, err := put(r, beads.UpdatedAt, nil); err == nil {
		r = undated
	}
	if means := beads.Meaning(r.Bytes()); !strings.ContainsRune(means, utf8.RuneError) {
		return means
	}
	return l.text
}

// repeats returns the lines whose content another line repeats: of equal ones the last written
// stays, on a tie the last. For a store with conflict markers it returns none, since there two
// lines are versions of one.
func (f *file) repeats() map[*line]bool {
	if f.marked || len(f.twins) == 0 {
		return nil
	}
	stays := map[string]*line{} // by subject and content
	gone := map[*line]bool{}
	for i := len(f.lines) - 1; i >= 0; i-- {
		l := &f.lines[i]
		if !f.twins[l.about] {
			continue
		}
		says := l.about + "\x00" + l.told()
		kept := stays[says]
		switch {
		case kept == nil:
			stays[says] = l
		case l.written().After(kept.written()):
			gone[kept], stays[says] = true, l
		default:
			gone[l] = true
		}
	}
	return gone
}

// written is a line's updated_at, zero for none.
func (l *line) written() time.Time {
	if r := parsed(l); r != nil {
		return stamp(r)
	}
	return time.Time{}
}

// uniteTwins removes lines whose content another line repeats.
func (f *file) uniteTwins() {
	gone := f.repeats()
	if len(gone) == 0 {
		return
	}
	f.united = map[string]int{}
	var lines []line
	for i := range f.lines {
		if l := &f.lines[i]; gone[l] {
			f.united[l.about]++
		} else {
			lines = append(lines, *l)
		}
	}
	f.lines = lines
	f.index()
}

// Repeat is a line of a store whose content another of its lines repeats, apart from spelling
// and update time.
type Repeat struct {
	Start, End int    // its byte range, including the ending
	Line       int    // 1-based
	About      string // the id of the issue, or what else it is about
}

// Repeats lists the lines that a store can lose without losing content.
func Repeats(text string) (list []Repeat) {
	f := cut(text, map[string]key{})
	gone := f.repeats()
	at := len(f.mark)
	for i := range f.lines {
		l := &f.lines[i]
		end := at + len(l.text) + len(l.end)
		if gone[l] {
			list = append(list, Repeat{at, end, i + 1, l.subject()})
		}
		at = end
	}
	return list
}

// all returns the lines about the same thing, in order.
func (f *file) all(about string) (list []*line) {
	for n := 0; ; n++ {
		l := f.line(repeated(about, n))
		if l == nil {
			slices.Reverse(list)
			return list
		}
		list = append(list, l)
	}
}

// twins are the lines about one issue in the three stores, several in ours or theirs.
type twins struct {
	base, ours, theirs []*line
	untouched          bool // the three stores have the same
}

// twinsOf returns the twins of a line, nil for none.
func (m *merger) twinsOf(l *line) *twins {
	if m.ours.marked || m.theirs.marked || !m.ours.twins[l.about] && !m.theirs.twins[l.about] {
		return nil
	}
	t := m.twins[l.about]
	if t == nil {
		t = &twins{base: m.base.all(l.about), ours: m.ours.all(l.about), theirs: m.theirs.all(l.about)}
		t.untouched = sameLines(t.base, t.ours) && sameLines(t.base, t.theirs)
		if m.twins == nil {
			m.twins = map[string]*twins{}
		}
		m.twins[l.about] = t
	}
	return t
}

func sameLines(a, b []*line) bool { return slices.EqualFunc(a, b, same) }

// pick returns the lines of the side that changed them; ok is false if both did.
func (t *twins) pick() (lines []*line, ok bool) {
	switch {
	case sameLines(t.ours, t.theirs), sameLines(t.base, t.theirs):
		return t.ours, true
	case sameLines(t.base, t.ours):
		return t.theirs, true
	}
	return nil, false
}

// decide decides twins with different content: those that no side touched stay, what a side
// united stays united, and a person decides the rest.
func (t *twins) decide(answers Answers) decision {
	lines, ok := t.pick()
	if ok && len(lines) <= 1 {
		return take(slices.Concat(lines, []*line{nil})[0])
	}
	if side := answers[Whole]; side != "" {
		d := decision{keep: true, text: linesText(t.of(side), "\n")}
		if len(t.of(side)) > 1 {
			d.warning = "is still on several lines: keep one of them"
		}
		return d
	}
	var where []string
	for _, side := range []Side{Ours, Theirs} {
		if n := len(t.of(side)); n > 1 {
			where = append(where, fmt.Sprintf("%d lines of %s", n, side))
		}
	}
	return left(Question{Key: Whole, Ours: linesText(t.ours, "\n"), Theirs: linesText(t.theirs, "\n"),
		reason: "stands on " + strings.Join(where, " and ") + ", which differ"})
}

// of returns the lines of a side.
func (t *twins) of(side Side) []*line {
	if side == Theirs {
		return t.theirs
	}
	return t.ours
}

func linesText(lines []*line, end string) string {
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.text)
	}
	return strings.Join(texts, end)
}

// sayTwins warns about removed lines that the same store repeats.
func (m *merger) sayTwins() {
	for _, side := range []struct {
		name string
		of   *file
	}{{"ours", &m.ours}, {"theirs", &m.theirs}} {
		for _, l := range side.of.lines {
			if n := side.of.united[l.about]; n > 0 && !l.twin {
				m.warnings = append(m.warnings, Warning{l.subject(), fmt.Sprintf("was on %d lines of %s with the same content: kept one", n+1, side.name)})
			}
		}
	}
}
