package checkpoint

import (
	"context"
	"fmt"

	"stig/beads"
	"stig/fault"
)

// Amendment is what an issue is to say from now on; what is nil stays.
type Amendment struct {
	Title, Description, Acceptance *string
}

// Amended says what became of an issue.
type Amended struct {
	ID       string   `json:"id"`
	Changed  []string `json:"changed"` // the keys that now say something else
	Warnings []string `json:"warnings"`

	Lines []beads.Change `json:"-"`
}

// Amend changes what an issue asks for. Criteria that differ from those that are
// committed are told of when the issue closes. It refuses (fault.Usage) a title
// that no issue can have, and an issue that is closed: its reason tells of what it
// asked for then.
func Amend(ctx context.Context, s beads.Store, o beads.Options, id string, a Amendment) (*Amended, error) {
	if a.Title != nil {
		if err := checkTitle(*a.Title); err != nil {
			return nil, err
		}
	}
	var amended *Amended
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
		record, err := tx.Record(id)
		if err != nil {
			return err
		}
		now := &Amended{ID: record.Text(beads.ID), Changed: []string{}, Warnings: []string{}}
		if record.Text(beads.Status) == statusClosed {
			return &fault.Error{Code: fault.Usage, ID: now.ID, Reason: "is closed", Hint: fmt.Sprintf("type stig reopen %s --reason …", now.ID)}
		}
		sets := a.sets()
		for _, set := range sets {
			if record.Text(set.Key) != set.Text {
				now.Changed = append(now.Changed, string(set.Key))
			}
		}
		if amended == nil || len(now.Changed) > 0 { // else it is made once more for bd's sake
			amended = now
		}
		return tx.Set(now.ID, sets...)
	})
	if err != nil {
		return nil, err
	}
	amended.Lines = lines
	return amended, nil
}

func (a Amendment) sets() (list []beads.Set) {
	for _, given := range []struct {
		key  beads.Key
		text *string
	}{{beads.Title, a.Title}, {beads.Description, a.Description}, {beads.AcceptanceCriteria, a.Acceptance}} {
		if given.text != nil {
			list = append(list, beads.Set{Key: given.key, Text: *given.text})
		}
	}
	return list
}
