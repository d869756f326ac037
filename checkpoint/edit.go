package checkpoint

import (
	"context"

	"stig/internal/beads"
)

// stored is part of every edit's report.
type stored struct {
	Lines []beads.Change `json:"-"` // the changed lines of the store; empty if nothing changed
}

func (s *stored) wrote(lines []beads.Change) { s.Lines = lines }

// said is the report of an edit.
type said interface {
	wrote(lines []beads.Change)
}

// edit runs do in an edit of the store and returns its report. do may be called several times;
// the last result counts.
func edit[T said](ctx context.Context, s beads.Store, o beads.Options, do func(*beads.Tx) (T, error)) (T, error) {
	var last, none T
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) (err error) {
		last, err = do(tx)
		return err
	})
	if err != nil {
		return none, err
	}
	last.wrote(lines)
	return last, nil
}

// editIssue is edit for one issue, whose id may be abbreviated.
func editIssue[T said](ctx context.Context, s beads.Store, o beads.Options, id string, do func(*beads.Tx, *beads.Record) (T, error)) (T, error) {
	o.Scope.IDs = []string{id}
	return edit(ctx, s, o, func(tx *beads.Tx) (_ T, err error) {
		record, err := tx.Record(id)
		if err != nil {
			return *new(T), err
		}
		return do(tx, record)
	})
}
