package checkpoint

import (
	"context"

	"stig/internal/beads"
)

// stored is what each edit says that was made.
type stored struct {
	Lines []beads.Change `json:"-"` // the changed lines of the store; none when nothing changed
}

func (s *stored) wrote(lines []beads.Change) { s.Lines = lines }

// said is what an edit says.
type said interface {
	wrote(lines []beads.Change)
}

// edit has do edit the store, and gives what that said. It may be called several times: what
// it said last counts.
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

// editIssue is edit of one issue, which id may abbreviate.
func editIssue[T said](ctx context.Context, s beads.Store, o beads.Options, id string, do func(*beads.Tx, *beads.Record) (T, error)) (T, error) {
	return edit(ctx, s, o, func(tx *beads.Tx) (_ T, err error) {
		record, err := tx.Record(id)
		if err != nil {
			return *new(T), err
		}
		return do(tx, record)
	})
}
