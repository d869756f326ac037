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

// cutValue is cut as the column holds it.
func (p parts) cutValue() any {
	if p.cut < 0 {
		return nil
	}
	return p.cut
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

// columns of stig_lines repeat values of the line, for people's own SQL.
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

// folded returns the smallest of the letters that differ in case alone, for strings.EqualFold.
func folded(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// timeOf returns a time to the second, or nil if there is none that a column can hold.
func timeOf(r *beads.Record, k beads.Key) any {
	t, ok := r.Time(k)
	if !ok || t.UTC().Year() < 1000 || t.UTC().Year() > 9999 {
		return nil
	}
	return t.UTC().Truncate(time.Second)
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

// rowsOf returns the dependency rows of a record as stig_edges holds them.
func rowsOf(r *beads.Record) []beads.Dep {
	line := r.Bytes()
	f, err := beads.NewSnapshot(beads.Place{}, beads.Source{Lines: bytes.NewReader(line), Size: int64(len(line))})
	if err != nil || f.Len() != 1 {
		return nil // a line that does not become an issue is refused elsewhere
	}
	return kept(f.At(0).Rows())
}
