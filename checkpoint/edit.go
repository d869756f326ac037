package checkpoint

import (
	"context"

	"stig/beads"
)

// stored is what each edit says that was made.
type stored struct {
	Lines []beads.Change `json:"-"` // the changed lines of the store; none when nothing changed
}

func (s *stored) wrote(lines []beads.Change) { s.Lines = lines }

// said is what an edit says.
type said interface {
	comparable
	wrote(lines []beads.Change)
}

// edit has do edit the store, and gives what that said. It may be called several times:
// what it said counts when it last changed something, where that was written, since an
// edit that was written may be made once more for bd's sake.
func edit[T said](ctx context.Context, s beads.Store, o beads.Options, do func(*beads.Tx) (T, error)) (T, error) {
	var last, changing, none T
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) (err error) {
		if last, err = do(tx); err == nil && len(tx.Changes()) > 0 {
			changing = last
		}
		return err
	})
	if err != nil {
		return none, err
	}
	if len(lines) > 0 && changing != none {
		last = changing
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
