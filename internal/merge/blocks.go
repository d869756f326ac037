package merge

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"stig/internal/fault"
)

// Origin is the input of a merge: whole stores, with the base as their common ancestor. The
// zero value means unknown.
type Origin struct{ Base, Ours, Theirs string }

// completion returns a function for blocks whose markers lack the base. It inserts the base's
// lines about the same things, if both sides are those of the origin.
func (o Origin) completion() func(b *block) {
	lines := sync.OnceValue(func() map[string]string {
		whole := map[string]string{}
		for _, l := range split(o.Base, map[string]key{}).lines {
			whole[l.name] = l.text + "\n" // the last may have none
		}
		return whole
	})
	// A base with markers comes from several bases, which nobody merged.
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

// block is a region of a store between conflict markers.
type block struct {
	start, end         int // in the text, including markers
	line               int // 1-based line of the first marker
	base, ours, theirs string
	unknown            bool    // the markers lack the base
	answers            Answers // answers so far
}

// answered precedes the answers in the first marker: both sides stay until the last question is
// answered.
const answered = " answered "

// mark is the byte order mark that may begin a text.
const mark = "\xef\xbb\xbf"

// mark formats the answers for the first marker.
func (a Answers) mark() string {
	if len(a) == 0 {
		return ""
	}
	text, err := json.Marshal(a)
	if err != nil { // a map of strings can be encoded
		return ""
	}
	return answered + string(text)
}

// answersIn parses the answers in a first marker.
func answersIn(marker string) Answers {
	var given Answers
	_, text, _ := strings.Cut(marker, answered)
	if json.Unmarshal([]byte(text), &given) != nil {
		return nil
	}
	return given
}

// blocks finds the regions of a store between conflict markers, including those written by git
// or another program. Unpaired markers belong to none.
func blocks(text string, from Origin) (list []block) {
	complete := from.completion()
	var now block
	var part *string // destination of the lines from begun on; nil outside blocks
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
			// Longer markers in the base come from a merge of several bases.
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

// merge merges the content of a block, with answers for the issue of an id.
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

// id is that of the issue that the lines with a name are about.
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

// Open lists the open decisions in a store with conflict markers, by line. A block without any
// has a conflict without questions, for the first of its issues. If markers lack the base, that
// of from is used.
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

// Resolution is the effect of answers on an issue's block.
type Resolution struct {
	Start, End int    // the byte range of the block in the store
	Text       string // its replacement
	Open       []Question
	Warnings   []Warning
}

// ErrNoConflict reports that an issue has no conflict markers around it.
var ErrNoConflict = errors.New("not in conflict")

// Resolve merges the block around the issue with that id again, with answers for the keys in
// question and Whole for the line of one side. If nothing is open any more, the merged line
// replaces the block; else the block stays, and its first marker stores the answers. The order
// of answers makes no difference. from is as for Open.
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

// accept refuses answers to questions that were open neither before nor after the previous
// answers.
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
