package trace

import (
	"errors"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
)

// Entry is a comment of an issue, read as a trace.
type Entry struct {
	Name   string // name of the trace; plain comments have one too
	Issue  string
	Source string    // the author
	At     time.Time // zero if the comment has none
	Index  int       // index of the comment in its issue, 0-based

	Trace        // of type Comment, with the text as its body, if it is not a trace
	Flaw  error  // why a comment that ends like a trace is not one; else nil
	text  string // normalized
}

// Of reads the comments of an issue, in the order of its line.
func Of(record *beads.Record) []Entry {
	id := record.Text(beads.ID)
	var list []Entry
	for i, c := range record.Comments() {
		list = append(list, Read(id, i, c))
	}
	return list
}

// May reports whether a comment may be a trace: most are not, and need no parsing.
func May(c beads.Comment) bool { return strings.Contains(c.Text, "\n"+mark+": ") }

// Read reads one comment of an issue.
func Read(id string, index int, c beads.Comment) Entry {
	left := Entry{Name: Name(c.Author, c.Text), Issue: id, Source: c.Author, At: c.CreatedAt, Index: index, text: normal(c.Text)}
	t, err := Parse(c.Text)
	if err != nil {
		t = Trace{Type: Comment, Body: left.text}
		if !errors.Is(err, ErrComment) {
			left.Flaw = err
		}
	}
	left.Trace = t
	return left
}

// Whole is the text of the comment, trimmed and with LF line endings.
func (l Entry) Whole() string { return l.text }

// IsTrace reports whether the comment is a trace, of a known or unknown type.
func (l Entry) IsTrace() bool { return l.Type != Comment }

// Sort sorts traces by time, oldest first; it is stable, and those without a time come first.
func Sort(list []Entry) {
	slices.SortStableFunc(list, func(a, b Entry) int { return a.At.Compare(b.At) })
}

// Line is the 1-based line of the comment with a key of the content: its trailer's, else the
// first.
func (l Entry) Line(key string) int {
	for i, line := range strings.Split(l.text, "\n") {
		if strings.HasPrefix(line, key+": ") {
			return i + 1
		}
	}
	return 1
}
