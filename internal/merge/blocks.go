package merge

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"stig/internal/fault"
)

// Origin is what a merge began with: whole stores, of which the base is the common
// ancestor. The zero value says that this is not known.
type Origin struct{ Base, Ours, Theirs string }

// completion gives a function for blocks whose markers do not hold the base. It puts into
// them the lines of the base that are about the same, provided that both sides are those
// of the origin.
func (o Origin) completion() func(b *block) {
	lines := sync.OnceValue(func() map[string]string {
		whole := map[string]string{}
		for _, l := range split(o.Base, map[string]key{}).lines {
			whole[l.name] = l.text + "\n" // the last may have none
		}
		return whole
	})
	// A base with markers is that of several bases, which nobody merged.
	known := o.Base != "" && !strings.Contains("\n"+o.Base, "\n<<<<<<<")
	return func(b *block) {
		if !known || !strings.Contains(o.Ours, b.ours) || !strings.Contains(o.Theirs, b.theirs) {
			return
		}
		var base strings.Builder
		for _, name := range b.names() {
			base.WriteString(lines()[name])
		}
		b.base, b.unknown = base.String(), false
	}
}

// names are what the lines of both sides are about, each once.
func (b *block) names() (names []string) {
	for _, side := range []string{b.ours, b.theirs} {
		for _, l := range split(side, map[string]key{}).lines {
			names = append(names, l.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// block is a piece of a store between conflict markers.
type block struct {
	start, end         int // in the text, markers included
	line               int // 1-based, of the first marker
	base, ours, theirs string
	unknown            bool    // the markers do not say what the base was
	answers            Answers // given so far
}

// answered stands in the first marker before the answers that were given: both
// sides stay as they are until the last question is answered.
const answered = " answered "

// mark is the byte order mark that a text may begin with.
const mark = "\xef\xbb\xbf"

// mark is what the first marker says of the answers.
func (a Answers) mark() string {
	if len(a) == 0 {
		return ""
	}
	text, err := json.Marshal(a)
	if err != nil { // a map of texts can be written
		return ""
	}
	return answered + string(text)
}

// answersIn reads the answers in a first marker.
func answersIn(marker string) Answers {
	var given Answers
	_, text, _ := strings.Cut(marker, answered)
	if json.Unmarshal([]byte(text), &given) != nil {
		return nil
	}
	return given
}

// blocks finds the pieces of a store between conflict markers, those that git
// or another program wrote too. A marker without its others is in none.
func blocks(text string, from Origin) (list []block) {
	complete := from.completion()
	var now block
	var part *string // where the lines from begun on belong; nil outside of blocks
	at, begun, number := 0, 0, 0
	for whole := range strings.Lines(text) {
		start := at
		at += len(whole)
		number++
		marker := strings.TrimLeft(strings.TrimRight(strings.TrimPrefix(whole, mark), "\r\n"), " \t\r")
		var next *string
		switch {
		case strings.HasPrefix(marker, "<<<<<<< "):
			now = block{start: at - len(strings.TrimPrefix(whole, mark)), line: number, unknown: true, answers: answersIn(marker)}
			part, next = nil, &now.ours
		case part == &now.ours && strings.HasPrefix(marker, "||||||| "):
			now.unknown = false
			next = &now.base
		case part != nil && part != &now.theirs && strings.TrimSpace(marker) == "=======":
			next = &now.theirs
		case part == &now.theirs && strings.HasPrefix(marker, ">>>>>>> "): // the block ends
		default:
			continue
		}
		if part != nil {
			*part = text[begun:start]
		}
		if part == &now.theirs {
			now.end = at
			// Longer markers in the base are those of a merge of several bases.
			now.unknown = now.unknown || strings.Contains("\n"+now.base, "\n<<<<<<<<")
			if now.unknown {
				complete(&now)
			}
			list = append(list, now)
		}
		part, begun = next, at
	}
	return list
}

// merge merges what stands in a block, with answers for the issue of an id.
func (b block) merge(id string, given Answers) *merger {
	keys := map[string]key{}
	base := b.base
	if b.unknown {
		base = ""
	}
	m := &merger{base: split(base, keys), ours: split(b.ours, keys), theirs: split(b.theirs, keys), unknown: b.unknown}
	for _, k := range m.order() {
		answers := b.answers
		if id != "" && m.id(k) == id {
			answers = answers.and(given)
		}
		m.add(k, m.decide(k, answers))
	}
	m.sayTwins()
	return m
}

// id is that of the issue that the lines of a name are about.
func (m *merger) id(name string) string {
	for _, f := range []file{m.ours, m.theirs} {
		if l := f.line(name); l != nil {
			return l.id
		}
	}
	return ""
}

// holds reports whether a block has a line about the issue.
func (b block) holds(id string) bool {
	for _, l := range slices.Concat(split(b.ours, map[string]key{}).lines, split(b.theirs, map[string]key{}).lines) {
		if l.id == id {
			return true
		}
	}
	return false
}

// Open lists what is to be decided in a store with conflict markers, by their
// lines. A block in which nothing is has a conflict without questions, for the
// first of its issues. Where markers do not hold the base, that of from is taken.
func Open(text string, from Origin) []Conflict {
	list := []Conflict{}
	for _, b := range blocks(text, from) {
		m := b.merge("", nil)
		for _, c := range m.conflicts {
			c.Line = b.line
			list = append(list, c)
		}
		if len(m.conflicts) == 0 {
			list = append(list, Conflict{ID: m.first(), Line: b.line, Reason: "nothing to decide", Questions: []Question{}})
		}
	}
	return list
}

// first is the id of the first issue in ours, else in theirs.
func (m *merger) first() string {
	for _, l := range slices.Concat(m.ours.lines, m.theirs.lines) {
		if l.id != "" {
			return l.id
		}
	}
	return ""
}

// Resolution is what answers make of the block of an issue.
type Resolution struct {
	Start, End int    // the bytes of the block in the store
	Text       string // what they become
	Open       []Question
	Warnings   []Warning
}

// ErrNoConflict says that no conflict markers stand around an issue.
var ErrNoConflict = errors.New("not in conflict")

// Resolve merges the block around the issue with that id once more, with answers
// for the keys in question and Whole for the line of one side. Where nothing is
// open any more, the merged line stands in place of the block; else the block
// stays, and its first marker keeps the answers. In which order answers are
// given makes no difference. from is as for Open.
//
// Errors are ErrNoConflict, and fault.Usage for a key that is not in question.
func Resolve(text string, from Origin, id string, given Answers) (Resolution, error) {
	for _, b := range blocks(text, from) {
		if !b.holds(id) {
			continue
		}
		if err := b.accept(id, given); err != nil {
			return Resolution{}, err
		}
		m := b.merge(id, given)
		r := m.result()
		if len(r.Conflicts) == 0 {
			r.Text = renumbered(r.Text, outside(text))
		}
		done := Resolution{Start: b.start, End: b.end, Text: r.Text, Warnings: r.Warnings}
		for _, c := range r.Conflicts {
			if c.ID == id {
				done.Open = append(done.Open, c.Questions...)
			}
		}
		return done, nil
	}
	return Resolution{}, ErrNoConflict
}

// accept refuses answers to what is asked neither before nor after the answers
// that were given so far.
func (b block) accept(id string, given Answers) error {
	asked := []string{Whole}
	for _, answers := range []Answers{nil, b.answers} {
		b.answers = answers
		for _, c := range b.merge("", nil).conflicts {
			for _, q := range c.Questions {
				if c.ID == id && !slices.Contains(asked, q.Key) {
					asked = append(asked, q.Key)
				}
			}
		}
	}
	for _, k := range given.keys() {
		if !slices.Contains(asked, k) {
			return &fault.Error{Code: fault.Usage, ID: id, Reason: k + " is not in question", Hint: "in question: " + strings.Join(asked, ", ")}
		}
	}
	return nil
}
