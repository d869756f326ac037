package beads

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// The rules for problems.
const (
	BadJSON        = "bad-json"        // no JSON object, or one without a usable id
	ConflictMarker = "conflict-marker" // left over from a merge
	CutShort       = "cut-short"       // the last line has no newline and is not JSON
	DuplicateID    = "duplicate-id"    // the id stands on an earlier line too
)

// The rules for flaws.
const (
	WrongType   = "value-type"   // a value of another type than the key has
	RepeatedKey = "key-repeated" // a key stands twice in a line, with different values
)

// Problem is a place that prevents writing the store, or for a duplicate id that issue.
type Problem struct {
	Line, Column int    // 1-based; the column counts bytes
	Rule         string // one of the rules above
	ID           string // of the duplicate
	Message      string

	marker byte // the character of a conflict marker
}

func (e *syntaxError) problem(number, skipped int, cut bool) Problem {
	p := Problem{Line: number, Column: skipped + e.offset + 1, Rule: BadJSON, Message: e.message}
	if cut && !e.sound {
		p.Rule = CutShort
		p.Message = "the last line is truncated: " + e.message
	}
	return p
}

// brief shortens a quoted text for a message.
func brief(b []byte) string { return shorten(b, 40) }

// shorten cuts a quoted text to a number of bytes.
func shorten(b []byte, most int) string {
	if len(b) <= most {
		return string(b)
	}
	n := most
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + "…"
}

// conflict is a region between conflict markers, by the line numbers of the markers. Without a
// base section, base is the line of the separator.
type conflict struct{ ours, base, theirs, end int }

// pairMarkers combines conflict markers into one problem a conflict. An unpaired marker stays a
// problem of its own.
func (f *Snapshot) pairMarkers() {
	var open []int // indices of problems: the markers of the current conflict
	var paired []int
	for i, p := range f.problems {
		switch {
		case p.marker == 0:
			continue
		case p.marker == '<':
			open = []int{i}
			continue
		case len(open) == 0 || !f.follows(open[len(open)-1], p.marker):
			open = nil
			continue
		}
		open = append(open, i)
		if p.marker != '>' {
			continue
		}
		at := func(n int) int { return f.problems[open[n]].Line }
		c := conflict{ours: at(0), base: at(1), theirs: at(len(open) - 2), end: p.Line}
		f.marked = append(f.marked, c)
		f.problems[open[0]].Message = fmt.Sprintf("conflict markers from this line to line %d", c.end)
		paired = append(paired, open[1:]...)
		open = nil
	}
	for _, i := range slices.Backward(paired) {
		f.problems = slices.Delete(f.problems, i, i+1)
	}
}

// follows reports whether a marker may follow that of problem i.
func (f *Snapshot) follows(i int, marker byte) bool {
	switch f.problems[i].marker {
	case '<':
		return marker == '|' || marker == '='
	case '|':
		return marker == '='
	}
	return f.problems[i].marker == '=' && marker == '>'
}

// conflict returns the conflict that contains a line, or nil.
func (f *Snapshot) conflict(line int) *conflict {
	at, _ := slices.BinarySearchFunc(f.marked, line, func(c conflict, line int) int { return c.end - line })
	if at < len(f.marked) && f.marked[at].ours <= line {
		return &f.marked[at]
	}
	return nil
}
