package trace

import (
	"errors"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
)

// Left is a comment of an issue, read as a trace.
type Left struct {
	Name   string // of the trace; comments have one too
	Issue  string
	Source string    // the author
	At     time.Time // zero where the comment has none
	Index  int       // of the comment in its issue, 0-based

	Trace        // of type Comment, with the text as its body, when it is none
	Flaw  error  // why a comment that ends as a trace does is none; nil otherwise
	text  string // normal
}

// Of reads the comments of an issue, in their order in its line.
func Of(record *beads.Record) []Left {
	id := record.Text(beads.ID)
	var list []Left
	for i, c := range record.Comments() {
		list = append(list, Read(id, i, c))
	}
	return list
}

// May reports whether a comment may be a trace: most are none, and need no more.
func May(c beads.Comment) bool { return strings.Contains(c.Text, "\n"+mark+": ") }

// Read reads the comment at an index of an issue.
func Read(id string, index int, c beads.Comment) Left {
	left := Left{Name: Name(c.Author, c.Text), Issue: id, Source: c.Author, At: c.CreatedAt, Index: index, text: normal(c.Text)}
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

// Whole is the text of the comment, with LF line ends and trimmed.
func (l Left) Whole() string { return l.text }

// IsTrace reports whether the comment is a trace, of a known type or another.
func (l Left) IsTrace() bool { return l.Type != Comment }

// Sort orders traces by their times, oldest first; those of one time, and those
// without one, stay as they are, the latter first.
func Sort(list []Left) {
	slices.SortStableFunc(list, func(a, b Left) int { return a.At.Compare(b.At) })
}

// Line is the line of the comment that holds a key of the content, 1-based: that of
// its trailer, else the first.
func (l Left) Line(key string) int {
	for i, line := range strings.Split(l.text, "\n") {
		if strings.HasPrefix(line, key+": ") {
			return i + 1
		}
	}
	return 1
}
