// Package merge compares stores by content, and merges two stores with a common base:
// three-way, by line, by key, by section of the notes and by row of the signal table.
//
// A line that one side changed is taken byte for byte. For a line that both changed, ours is
// taken and theirs' changed values are spliced in: a value that only one side has is in the
// result, whatever its key. What needs a decision (two descriptions, a changed issue that the
// other side deleted) becomes conflict markers around that line alone. One id may name two
// issues created in two clones: both are kept, the later one gets another id, and references
// from its side follow.
//
// Stores separates what vanished from what changed, because vanishing goes unnoticed: a tool
// that rewrites the file leaves every issue in place. The order of lines, escapes and
// updated_at, which every write changes, do not count.
//
// The package knows neither git, revisions, files nor time, and not the issue graph: two
// harmless edges may form a cycle together.
//
//	r := merge.Options{}.Stores(base, ours, theirs)
//	for _, c := range r.Conflicts {
//		fmt.Println(c.Line, c.ID, c.Reason)
//	}
package merge

import (
	"cmp"
	"strings"
)

// Result is a merged store.
type Result struct {
	Text      string
	Conflicts []Conflict
	Warnings  []Warning
}

// Warning is something about a merged issue that a person should check.
type Warning struct {
	ID      string `json:"id"`
	Message string `json:"message"`
}

// Conflict is a line that was not merged.
type Conflict struct {
	ID     string `json:"id"`   // of the issue; "" when the line is about none
	Line   int    `json:"line"` // 1-based line of the first marker in the merged text
	Reason string `json:"reason"`

	// Questions are what a person must decide, without answered ones.
	Questions []Question `json:"questions"`
}

// Options are additional inputs of a merge.
type Options struct {
	Births Births // nil if no origins are known
}

// Stores merges the changes from base to ours with those from base to theirs.
//
// Lines are in the order of ours, unless only theirs changed it. A new line in theirs goes to
// its sorted place if the ids of ours ascend, else after its predecessor in theirs.
//
// Two issues with one id are both kept. The later one gets another id, the same in every merge.
// Several lines of one side about one issue become one if their content is equal, else a
// conflict.
func (opt Options) Stores(base, ours, theirs string) Result {
	m := opt.merger(base, ours, theirs)
	m.out.Grow(max(len(ours), len(theirs)))
	names := m.order()
	decided := make([]decision, len(names))
	for i, k := range names {
		decided[i] = m.decide(k, nil)
	}
	m.renumber(names, decided)
	for i, k := range names {
		m.add(k, decided[i])
	}
	return m.result()
}

// decide decides the line of a name. Twins are decided together, under the name of the last.
func (m *merger) decide(name string, answers Answers) decision {
	l := trio{base: m.base.line(name), ours: m.ours.line(name), theirs: m.theirs.line(name), unknown: m.unknown, answers: answers}
	one := cmp.Or(l.ours, l.theirs, l.base)
	several := m.twinsOf(one)
	switch {
	case several == nil && m.base.marked && m.base.twins[one.about]:
		l.unknown = true // the base is several versions that nobody merged
		return l.decide()
	case several == nil, several.untouched:
		return l.decide()
	case one.twin:
		return decision{}
	}
	d := several.decide(answers)
	d.answers = answers
	return d
}

// merger reads three stores and gives every issue one id in all of them.
func (opt Options) merger(base, ours, theirs string) *merger {
	keys := map[string]key{}
	m := &merger{base: split(base, keys), ours: split(ours, keys), theirs: split(theirs, keys), births: opt.Births}
	m.identify()
	m.sayTwins()
	return m
}

type merger struct {
	base, ours, theirs file
	births             Births  // or nil
	moved              [3]bool // the version has issues that an earlier merge renamed
	out                strings.Builder
	lines              int  // written so far
	last               line // written last
	conflicts          []Conflict
	warnings           []Warning
	unknown            bool              // the base is unknown
	twins              map[string]*twins // by what they are about, cached
}

// add writes the result for a line.
func (m *merger) add(name string, d decision) {
	b, o, t := m.base.line(name), m.ours.line(name), m.theirs.line(name)
	if d.keep && d.warning != "" {
		m.warnings = append(m.warnings, Warning{cmp.Or(o, t).subject(), d.warning})
	}
	switch {
	case d.reason != "":
		m.conflict(cmp.Or(o, t, b), d)
	case d.keep:
		m.write(d.text, m.end(b, o, t))
	}
}

func (m *merger) write(text, end string) {
	m.out.WriteString(text)
	m.out.WriteString(end)
	m.last = line{text: text, end: end}
	m.lines += 1 + strings.Count(text, "\n")
}

const (
	firstMarker = "<<<<<<< ours"
	lastMarker  = ">>>>>>> theirs"
)

// conflict leaves all versions of a line to a person, with the base between the sides, so that
// the questions can be asked again from the text.
func (m *merger) conflict(l *line, d decision) {
	c := Conflict{ID: l.id, Line: m.lines + 1, Reason: d.reason, Questions: d.questions}
	end := m.newline()
	side := func(f *file) {
		lines := []*line{f.line(l.name)}
		if l.about != "" {
			lines = f.all(l.about)
		}
		for _, l := range lines {
			if l != nil {
				m.write(l.text, end)
			}
		}
	}
	m.write(firstMarker+d.answers.mark(), end)
	side(&m.ours)
	if !m.unknown {
		m.write("||||||| base", end)
		side(&m.base)
	}
	m.write("=======", end)
	side(&m.theirs)
	m.write(lastMarker, end)
	m.conflicts = append(m.conflicts, c)
}

// result ends the text with or without a newline, as the side that changed that does. A marker
// always has one, and so does a blank line, which would vanish without.
func (m *merger) result() Result {
	text := m.out.String()
	ended := pick3(m.base.ended, m.ours.ended, m.theirs.ended)
	if !ended && m.last.text != "" && m.last.text != lastMarker {
		text = strings.TrimSuffix(text, m.last.end)
	}
	return Result{Text: pick3(m.base.mark, m.ours.mark, m.theirs.mark) + text, Conflicts: m.conflicts, Warnings: m.warnings}
}

// end is the line ending of a merged line.
func (m *merger) end(b, o, t *line) string {
	var ends [3]string
	for i, l := range []*line{b, o, t} {
		if l != nil {
			ends[i] = l.end
		}
	}
	if end := pick3(ends[0], ends[1], ends[2]); end != "" {
		return end
	}
	return m.newline()
}

// newline is the ending for a line without its own.
func (m *merger) newline() string {
	for _, f := range []file{m.ours, m.theirs} {
		for _, l := range f.lines {
			if l.end != "" {
				return l.end
			}
		}
	}
	return "\n"
}

// pick3 returns the value of the side that changed it, ours if both did.
func pick3[T comparable](base, ours, theirs T) T {
	if ours == base {
		return theirs
	}
	return ours
}
