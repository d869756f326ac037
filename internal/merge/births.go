package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
)

// Births returns the original title of an issue if it is known, for example from a journal: of
// the issue with this id whose line is now as.
type Births func(id string, as beads.Origin) (title string, known bool)

// side numbers the three stores.
type side int

const (
	inBase side = iota
	inOurs
	inTheirs
)

// origin is one issue in the three versions. Two clones may give one id to two issues: then an
// id has several origins.
type origin struct {
	birth beads.Origin
	lines [3]*line // nil if a version lacks the issue
	moved string   // the id that an earlier merge gave the issue, or ""
}

// identify gives every issue one id in all three versions, and different issues different ones:
// the earliest keeps its id, the others get one from beads.Origin.Rename. Parents come before
// their children, whose ids begin with theirs.
func (m *merger) identify() {
	renamed := false
	m.markMoved()
	for level := 0; ; level++ {
		ids, deeper := m.differing(level)
		var renames [3]map[string]string
		for v := range renames {
			renames[v] = map[string]string{}
		}
		for _, id := range ids {
			m.rename(id, &renames)
		}
		if m.apply(renames) {
			renamed = true
			deeper = true
		}
		if !deeper {
			break
		}
	}
	if renamed {
		m.rewrite()
	}
}

// files are the three versions, by number.
func (m *merger) files() [3]*file { return [3]*file{&m.base, &m.ours, &m.theirs} }

// markMoved finds the versions with issues that an earlier merge renamed.
func (m *merger) markMoved() {
	for v, f := range m.files() {
		m.moved[v] = slices.ContainsFunc(f.lines, func(l line) bool {
			return beads.IsRenamed(l.id) && strings.Contains(l.text, beads.OldIDMark)
		})
	}
}

// differing lists the ids of a level whose lines differ, each once, and reports whether there
// are deeper levels. It ignores ids that repeat in a version, since it is unknown which line is
// meant.
func (m *merger) differing(level int) (ids []string, deeper bool) {
	seen := map[string]bool{}
	for _, f := range m.files() {
		for i := range f.lines {
			l := &f.lines[i]
			if l.id == "" || m.alike(l.name) {
				continue
			}
			at := depth(l.id)
			deeper = deeper || at > level
			if at == level && !seen[l.id] && !m.repeats(l.id) {
				seen[l.id] = true
				ids = append(ids, l.id)
			}
		}
	}
	slices.Sort(ids)
	return ids, deeper
}

// alike reports whether all three versions have the same line for a name.
func (m *merger) alike(name string) bool {
	b, o, t := m.base.line(name), m.ours.line(name), m.theirs.line(name)
	return b != nil && same(b, o) && same(b, t)
}

func (m *merger) repeats(id string) bool {
	for _, f := range m.files() {
		if _, twice := f.at[repeated(issueName(id), 1)]; twice {
			return true
		}
	}
	return false
}

// deepest is how many levels of children are distinguished. bd and stig make three.
const deepest = 8

// depth is the number of ancestors in an id: 1 for "a-1.2".
func depth(id string) int {
	return min(deepest, strings.Count(id[strings.LastIndexByte(id, '-')+1:], "."))
}

// rename adds new ids to renames for all issues but the one that keeps this id.
func (m *merger) rename(id string, renames *[3]map[string]string) {
	origins, ok := m.origins(id)
	if !ok {
		return
	}
	keeper := m.keeper(origins)
	for i := range origins {
		o := &origins[i]
		if o == keeper {
			continue
		}
		to := o.moved
		if to == "" {
			to = o.birth.Rename(id, func(id string) bool { return m.taken(id, renames) })
			if m.survives(o) {
				m.warnings = append(m.warnings, Warning{to, fmt.Sprintf(
					"was %s on one side, where the other created another issue with that id; references from that side follow", id)})
			}
		}
		for v, l := range o.lines {
			if l != nil && l.id == id {
				renames[v][id] = to
			}
		}
	}
}

// taken reports whether a version has the id, or is about to get it.
func (m *merger) taken(id string, renames *[3]map[string]string) bool {
	for v, f := range m.files() {
		if f.line(issueName(id)) != nil {
			return true
		}
		for _, to := range renames[v] {
			if to == id {
				return true
			}
		}
	}
	return false
}

// keeper is the issue that keeps its id: the earliest of those that the merge may keep. nil if
// all were renamed before.
func (m *merger) keeper(origins []origin) (first *origin) {
	for i := range origins {
		o := &origins[i]
		if o.moved != "" {
			continue
		}
		switch {
		case first == nil, m.survives(o) && !m.survives(first):
			first = o
		case m.survives(first) && !m.survives(o):
		case o.birth.Compare(first.birth) < 0:
			first = o
		}
	}
	return first
}

// survives reports whether an issue may be in the result: no side deleted it while the other
// left it unchanged.
func (m *merger) survives(o *origin) bool {
	b, ours, theirs := o.lines[inBase], o.lines[inOurs], o.lines[inTheirs]
	switch {
	case ours == nil && theirs == nil:
		return false
	case b == nil || ours != nil && theirs != nil:
		return true
	case ours == nil:
		return !respelled(b, theirs)
	}
	return !respelled(b, ours)
}

// origins lists the issues that have an id in any version. It is false if a line is unreadable.
func (m *merger) origins(id string) (list []origin, ok bool) {
	for v, f := range m.files() {
		l := f.line(issueName(id))
		if l == nil {
			continue
		}
		birth, known, readable := m.birth(l)
		if !readable {
			return nil, false
		}
		i := slices.IndexFunc(list, func(o origin) bool { return m.isOf(&o, l, birth, known, side(v)) })
		if i < 0 {
			list = append(list, origin{birth: birth})
			i = len(list) - 1
		}
		o := &list[i]
		o.lines[v] = l
		if o.lines[inBase] == nil && birth.Compare(o.birth) < 0 {
			o.birth = birth
		}
	}
	for i := range list {
		m.find(id, &list[i], len(list) > 1)
	}
	return list, true
}

// birth returns the origin of a line's issue, with its original title if that is known. It is
// false if the line is unreadable.
func (m *merger) birth(l *line) (b beads.Origin, known, readable bool) {
	r, err := beads.ParseRecord([]byte(l.text))
	if err != nil {
		return b, false, false
	}
	b = r.Origin()
	if m.births != nil {
		var title string
		if title, known = m.births(cmp.Or(l.was, l.id), b); known {
			b.Title = title
		}
	}
	return b, known, true
}

// isOf reports whether the line that a version has for an issue's id is that issue. The title
// may have changed since base, unless this version has the base's issue under the id that a
// merge gave it, or the two are known to have had different titles.
func (m *merger) isOf(o *origin, l *line, b beads.Origin, known bool, v side) bool {
	base := o.lines[inBase]
	switch {
	case o.birth.Same(b):
		return true
	case base == nil, !o.birth.Together(b), m.movedTo(l.id, o.birth, v) != nil:
		return false
	}
	_, baseKnown, _ := m.birth(base)
	return !known || !baseKnown
}

// movedTo returns the line of the issue with this origin under the id that a merge gave it, or
// nil.
func (m *merger) movedTo(id string, b beads.Origin, v side) *line {
	to := b.Rename(id, func(string) bool { return false })
	l := m.files()[v].line(issueName(to))
	if l == nil || to == id {
		return nil
	}
	if birth, _, readable := m.birth(l); !readable || !birth.Together(b) {
		return nil
	}
	return l
}

// find searches versions that lack the issue under its id for the id that a merge gave it.
func (m *merger) find(id string, o *origin, several bool) {
	titles := []string{o.birth.Title}
	for _, l := range o.lines {
		if l == nil {
			continue
		}
		if b, _, _ := m.birth(l); !slices.Contains(titles, b.Title) {
			titles = append(titles, b.Title)
		}
	}
	for v := range o.lines {
		if o.lines[v] != nil || !several && !m.moved[v] {
			continue
		}
		for _, title := range titles {
			b := o.birth
			b.Title = title
			if l := m.movedTo(id, b, side(v)); l != nil && !m.hasBoth(o, l.name) {
				o.lines[v], o.moved = l, l.id
				break
			}
		}
	}
}

// hasBoth reports whether a version with the issue also has this line.
func (m *merger) hasBoth(o *origin, name string) bool {
	for v, f := range m.files() {
		if l := o.lines[v]; l != nil && l.name != name && f.line(name) != nil {
			return true
		}
	}
	return false
}

// apply gives the lines of each version their new ids, including children that came with them.
// It reports whether there were any.
func (m *merger) apply(renames [3]map[string]string) (any bool) {
	var news [3]map[int]string
	for v, f := range m.files() {
		news[v] = map[int]string{}
		if len(renames[v]) == 0 {
			continue
		}
		any = true
		for i := range f.lines {
			if to, ok := m.newID(side(v), &f.lines[i], renames); ok {
				news[v][i] = to
			}
		}
	}
	for v, f := range m.files() {
		f.rename(news[v])
	}
	return any
}

// newID returns the id that a line gets, because it or its parent has a new one. A child that
// is also in base moves only if its parent in base does.
func (m *merger) newID(v side, l *line, renames [3]map[string]string) (string, bool) {
	if to, ok := renames[v][l.id]; ok {
		return to, true
	}
	parent := l.id
	for range depth(l.id) {
		parent = beads.ParentID(parent)
		to, ok := renames[v][parent]
		if !ok {
			continue
		}
		child := to + l.id[len(parent):]
		_, _, readable := m.birth(l)
		stays := v != inBase && m.base.line(l.name) != nil && renames[inBase][parent] != to
		return child, readable && !stays && m.files()[v].line(issueName(child)) == nil
	}
	return "", false
}

// rename gives lines new ids, by number, and moves them to their places if the ids of the file
// ascend.
func (f *file) rename(ids map[int]string) {
	if len(ids) == 0 {
		return
	}
	_, places, ascending := issues(f)
	for i, id := range ids {
		l := &f.lines[i]
		l.was = cmp.Or(l.was, l.id)
		l.id = id
	}
	if ascending {
		sorted := make([]line, len(places))
		for i, at := range places {
			sorted[i] = f.lines[at]
		}
		slices.SortStableFunc(sorted, func(a, b line) int { return strings.Compare(a.id, b.id) })
		for i, at := range places {
			end := f.lines[at].end
			f.lines[at] = sorted[i]
			f.lines[at].end = end
		}
	}
	f.index()
}
