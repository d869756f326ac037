package checkpoint

import (
	"context"

	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// Reviewed says what an edit of an issue's review changed.
type Reviewed struct {
	signals.Review
	Changed bool

	stored
}

// SetReview replaces the review of an issue by what next returns for it, with what beside does
// in the same edit (nil for nothing). ok of next is false if nothing is to change. An issue that
// waits for reviewers gets progress verifying, if it has a signal table.
func SetReview(ctx context.Context, s beads.Store, o beads.Options, id string, next func(signals.Review) (after signals.Review, ok bool), beside func(*beads.Tx) error, rules Rules) (*Reviewed, error) {
	o.Notes = notes.Permit{Change: []string{signals.ReviewSection, signals.Section}}.Check
	return editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (*Reviewed, error) {
		full, doc := record.Text(beads.ID), notes.Parse(record.Text(beads.Notes))
		was, _ := signals.LastReview(doc)
		r, ok := next(was)
		if !ok {
			return &Reviewed{Review: was}, nil
		}
		r.Date = rules.today()
		doc, err := signals.SetReview(doc, r)
		if err == nil && r.Waits() && signals.Read(doc, rules.Schema).Present() {
			doc, _, _, err = signals.Apply(doc, signals.Update{Set: map[signals.Signal]string{signals.Progress: signals.ProgressVerifying}, Today: rules.today()}, rules.Schema)
		}
		if err != nil {
			return nil, &IssueError{ID: full, Err: err}
		}
		if err := tx.Set(full, beads.Set{Key: beads.Notes, Text: doc.Text()}); err != nil {
			return nil, err
		}
		if beside != nil {
			err = beside(tx)
		}
		return &Reviewed{Review: r, Changed: true}, err
	})
}
