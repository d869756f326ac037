package beads

import "time"

// Comment is a remark that somebody left on an issue. CreatedAt is not needed to
// add one.
type Comment struct {
	Author, Text string    // "" when absent, null or not a string
	CreatedAt    time.Time // UTC; zero when absent or unreadable
}

// Comments gives the comments in the order of the line. Of an element that is no
// object its text counts, so that nothing that somebody wrote is lost.
func (r *Record) Comments() (comments []Comment) {
	for _, element := range r.Elements(Comments) {
		switch element[0] {
		case '{':
			if c, bad := parseRecord(element); bad == nil {
				at, _ := c.Time(CreatedAt)
				comments = append(comments, Comment{Author: c.Text("author"), Text: c.Text("text"), CreatedAt: at.UTC()})
			}
		case '"':
			comments = append(comments, Comment{Text: textOf(element)})
		}
	}
	return comments
}
