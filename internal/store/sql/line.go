package sql

import (
	"bytes"
	"crypto/sha256"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"stig/internal/beads"
)

// parts is a line as the tables hold it.
type parts struct {
	line     []byte   // without the elements of its comments
	cut      int      // where they stood; -1 where they are in the line still
	comments [][]byte // each with what separates it from the one before
}

// split takes the comments out of a line. A line whose comments have an odd shape stays
// whole.
func split(r *beads.Record) parts {
	if rest, at, comments, ok := r.SplitList(beads.Comments); ok {
		return parts{rest, at, comments}
	}
	return parts{line: r.Bytes(), cut: -1}
}

// hash is what edits compare.
func (p parts) hash() []byte { return sum(p.line) }

func sum(text []byte) []byte {
	s := sha256.Sum256(text)
	return s[:]
}

// join is the whole line.
func (p parts) join() []byte {
	if p.cut < 0 || len(p.comments) == 0 {
		return p.line
	}
	p.comments = slices.Clone(p.comments)
	for i, c := range p.comments {
		p.comments[i] = separated(c, i == 0)
	}
	return slices.Concat(p.line[:p.cut], bytes.Join(p.comments, nil), p.line[p.cut:])
}

// separated gives an element the comma that its place asks for: two machines that add
// the first comment of an issue at the same time each write one without it.
func separated(element []byte, first bool) []byte {
	rest := bytes.TrimLeft(element, " \t\r\n")
	comma := len(rest) > 0 && rest[0] == ','
	switch {
	case first && comma:
		return rest[1:]
	case !first && !comma:
		return slices.Concat([]byte(","), element)
	}
	return element
}

// kept are the columns that stig keeps for people's own SQL.
type kept struct {
	status, kind, assignee, title string
	priority                      int
	updated                       any // a time to the second, or nil
}

func keptOf(r *beads.Record) kept {
	n, _ := r.Number(beads.Priority)
	k := kept{clip(r.Text(beads.Status), 64), clip(r.Text(beads.IssueType), 64), clip(r.Text(beads.Assignee), 255), clip(r.Text(beads.Title), 500),
		max(math.MinInt32, min(n, math.MaxInt32)), nil}
	if t, ok := r.Time(beads.UpdatedAt); ok && t.UTC().Year() >= 1000 && t.UTC().Year() <= 9999 {
		k.updated = t.UTC().Truncate(time.Second)
	}
	return k
}

// clip cuts a text to so many characters.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// commentID is the id of a comment as it stands in the line, cut to the size of its
// column.
func commentID(element []byte) []byte {
	r, err := beads.ParseRecord(bytes.TrimLeft(element, ", \t\r\n"))
	if err != nil {
		return []byte{}
	}
	id := r.Raw(beads.ID)
	return append([]byte{}, id[:min(255, len(id))]...)
}
