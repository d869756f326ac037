package orient

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/beads"
)

// Comments gives the comments of an issue that say something, newest last. Those
// without a time come first, in the order of the line.
func Comments(record *beads.Record) []Comment {
	list := []Comment{}
	all := record.Comments()
	slices.SortStableFunc(all, func(a, b beads.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, c := range all {
		comment := Comment{Author: c.Author, Text: strings.TrimSpace(c.Text)}
		if !c.CreatedAt.IsZero() {
			comment.CreatedAt = c.CreatedAt.Format(time.RFC3339)
		}
		if comment.Text != "" {
			list = append(list, comment)
		}
	}
	return list
}

func (c Comment) size() int { return utf8.RuneCountInString(c.Author + c.Text) }

// About says whose comment it is, and of which day.
func (c Comment) About() string {
	day, _, _ := strings.Cut(c.CreatedAt, "T")
	return join(cmp.Or(oneLine(c.Author), "no author"), day)
}

func (b *Briefing) comments(w *page) {
	if len(b.Comments) == 0 {
		return
	}
	w.heading("Comments, newest last")
	for _, c := range b.Comments {
		w.blank()
		w.line(c.About() + ":")
		w.blank()
		w.quote(c.Text)
	}
}

// join puts a comma between two texts that say something.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}
