package sql

import (
	"bytes"
	"crypto/sha256"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// parts is a line as the tables store it.
type parts struct {
	line     []byte   // without the elements of its comments
	cut      int      // the byte at which they were; -1 if they are still in the line
	comments [][]byte // each with the separator before it
}

// split takes the comments out of a line. A line whose comments have an unexpected form stays
// whole.
func split(r *beads.Record) parts {
	if rest, at, comments, ok := r.SplitList(beads.Comments); ok {
		return parts{rest, at, comments}
	}
	return parts{line: r.Bytes(), cut: -1}
}

// cutValue returns cut as its column stores it.
func (p parts) cutValue() any {
	if p.cut < 0 {
		return nil
	}
	return p.cut
}

// hash returns what edits compare.
func (p parts) hash() []byte { return sum(p.line) }

func sum(text []byte) []byte {
	s := sha256.Sum256(text)
	return s[:]
}

// join returns the whole line.
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

// separated adds or removes the comma before an element, as its position requires: two machines
// that add the first comment of an issue at the same time both write it without a comma.
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

// columns of stig_lines repeat values of the line, for lookups and for people's own SQL.
var columns = []string{
	"status", "issue_type", "priority", "assignee", "title", "title_hash", "parent", "updated_at", "defer_until", "closed_at",
	"cynefin", "surprise", "progress", "escalation",
}

// columnsOf returns the values of columns. Those of signals are NULL without a signal table.
func columnsOf(r *beads.Record) []any {
	priority, _ := r.Number(beads.Priority)
	title := r.Text(beads.Title)
	var parent any
	for _, d := range r.Deps() {
		if d.Type == "parent-child" && parent == nil && len(d.On) <= mostID {
			parent = []byte(d.On)
		}
	}
	values := []any{
		clip(r.Text(beads.Status), 64), clip(r.Text(beads.IssueType), 64), max(math.MinInt32, min(priority, math.MaxInt32)), clip(r.Text(beads.Assignee), 255),
		clip(title, 500), sum([]byte(strings.Map(folded, title))), parent, timeOf(r, beads.UpdatedAt), timeOf(r, beads.DeferUntil), timeOf(r, beads.ClosedAt),
	}
	text := r.Text(beads.Notes)
	if !strings.Contains(text, signals.Section) {
		return append(values, nil, nil, nil, nil)
	}
	table := signals.Read(notes.Parse(text), nil)
	if !table.Present() {
		return append(values, nil, nil, nil, nil)
	}
	return append(values, table.Value(signals.Cynefin), table.Number(), table.Value(signals.Progress), table.Value(signals.Escalation))
}

// folded returns the smallest of the letters that differ only in case, as strings.EqualFold
// compares them.
func folded(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// timeOf returns a time to the second, or nil if the column cannot store it.
func timeOf(r *beads.Record, k beads.Key) any {
	t, ok := r.Time(k)
	if !ok || t.UTC().Year() < 1000 || t.UTC().Year() > 9999 {
		return nil
	}
	return t.UTC().Truncate(time.Second)
}

// clip cuts a text to that many characters.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// commentID returns the id of a comment as in its line, cut to the size of its column.
func commentID(element []byte) []byte {
	r, err := beads.ParseRecord(bytes.TrimLeft(element, ", \t\r\n"))
	if err != nil {
		return []byte{}
	}
	id := r.Raw(beads.ID)
	return append([]byte{}, id[:min(255, len(id))]...)
}

// rowsOf returns the dependency rows of a record as stig_edges stores them.
func rowsOf(r *beads.Record) []beads.Dep {
	line := r.Bytes()
	f, err := beads.NewSnapshot(beads.Place{}, beads.Source{Lines: bytes.NewReader(line), Size: int64(len(line))})
	if err != nil || f.Len() != 1 {
		return nil // other code refuses a line that is not an issue
	}
	return kept(f.At(0).Rows())
}
