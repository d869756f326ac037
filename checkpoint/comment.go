package checkpoint

import (
	"context"
	"strings"

	"stig/internal/beads"
)

// Commented names the issue that got the comment.
type Commented struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Author   string `json:"author"`
	Text     string `json:"text"`
	Comments int    `json:"comments"` // the number of comments now

	stored
}

// Comment adds a comment to an issue, open or closed. A comment that the same author made
// already changes nothing. An empty text is a fault.Usage.
func Comment(ctx context.Context, s beads.Store, o beads.Options, id, author, text string) (*Commented, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, usage("the comment is empty", "give it with -m, --file, or - for standard input")
	}
	o.Scope.IDs = []string{id}
	return edit(ctx, s, o, func(tx *beads.Tx) (*Commented, error) {
		if err := tx.AddComment(id, beads.Comment{Author: author, Text: text}); err != nil {
			return nil, err
		}
		record, err := tx.Record(id)
		if err != nil {
			return nil, err
		}
		return &Commented{
			ID: record.Text(beads.ID), Title: record.Text(beads.Title), Author: author, Text: text,
			Comments: len(record.Elements(beads.Comments)),
		}, nil
	})
}
