package checkpoint

import (
	"context"
	"fmt"
	"time"

	"stig/internal/beads"
	"stig/internal/trace"
	"stig/internal/visible"
)

// Swept lists the returned claims.
type Swept struct {
	Returned []Returned `json:"returned"`

	stored
}

// Returned is an issue whose claim was returned.
type Returned struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Was   string `json:"was"`   // the former holder; "" if unnamed
	Since string `json:"since"` // RFC 3339: the last change; "" if unknown
}

// ReturnReason says why a claim is returned.
type ReturnReason string

const (
	Kept      ReturnReason = ""                                 // it does not
	Untouched ReturnReason = "and nobody touched it"            // for long
	Ended     ReturnReason = "and the lease on it was not kept" // by its holder
)

// Sweep returns abandoned claims to open in one edit, with a log of the holder and the start of
// each claim. What the holder wrote on the issue stays. left is called for each reading of the
// store, under its lock.
func Sweep(ctx context.Context, s beads.Store, o beads.Options, by string, left func() func(*beads.Issue) ReturnReason) (*Swept, error) {
	return edit(ctx, s, o, func(tx *beads.Tx) (*Swept, error) {
		swept := &Swept{Returned: []Returned{}}
		f, why := tx.Snapshot(), left()
		for i, issue := range f.All() {
			at, ok := f.Index(issue.ID)
			if !ok || at != i || issue.Status != beads.StatusInProgress || why(issue) == Kept {
				continue
			}
			r := Returned{ID: issue.ID, Title: issue.Title, Was: issue.Assignee}
			if !issue.UpdatedAt.IsZero() {
				r.Since = issue.UpdatedAt.UTC().Format(time.RFC3339)
			}
			if err := giveBack(tx, r, why(issue), by); err != nil {
				return nil, err
			}
			swept.Returned = append(swept.Returned, r)
		}
		return swept, nil
	})
}

// giveBack sets an issue to open and unassigned, and writes the log.
func giveBack(tx *beads.Tx, r Returned, why ReturnReason, by string) error {
	record, err := tx.Record(r.ID)
	if err != nil {
		return err
	}
	sets, err := given(record)
	if err != nil {
		return err
	}
	if err := tx.Set(r.ID, sets...); err != nil {
		return err
	}
	message := "returned to open: somebody had it in progress, and nobody touched it"
	if r.Was != "" {
		message = fmt.Sprintf("returned to open: %s had claimed it, %s", visible.OneLine(r.Was), why)
	}
	content := map[string]any{"level": "warn", "message": message}
	if r.Since != "" && why == Untouched {
		content["message"] = message + " since " + r.Since
	}
	t, err := trace.Draft{Type: trace.Log, Content: content}.Trace()
	if err != nil {
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	return tx.AddComment(r.ID, beads.Comment{Author: by, Text: t.Text()})
}
