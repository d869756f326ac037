package checkpoint

import (
	"context"
	"errors"

	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

var errEstimated = errors.New("there is a state estimate already")

// DraftEstimate writes a generated state estimate if there is none. It never replaces one that
// somebody wrote.
func DraftEstimate(ctx context.Context, s beads.Store, o beads.Options, id string, u Update, rules Rules) (*Report, error) {
	return u.write(ctx, s, o, id, rules, func(_ string, d *notes.Doc) error {
		if _, has := signals.LastEstimate(d); has {
			return errEstimated
		}
		return nil
	})
}
