package beads

import (
	"fmt"
	"time"
)

const (
	statusClosed    = "closed"
	statusTombstone = "tombstone" // deleted: the line says that there was an issue
)

// Over reports whether nobody will work any more on an issue of that status:
// it is closed, or deleted.
func Over(status string) bool { return status == statusClosed || status == statusTombstone }

// MarkClosed closes an issue: status, close_reason, closed_at and updated_at
// together, the two times being the same. It is the one way to close: Set and
// Add refuse the status. Who calls it has evidence for it (checkpoint.Close).
// It refuses what Record refuses, an issue that is closed already, and an
// empty reason.
func (tx *Tx) MarkClosed(id, reason string) error {
	return tx.edit(id, func(r *Record) (*Record, error) {
		switch {
		case r.Text(Status) == statusClosed:
			return nil, fmt.Errorf("%s: %s: is closed already", r.Text(ID), Status)
		case reason == "":
			return nil, fmt.Errorf("%s: %s: must not be empty", r.Text(ID), CloseReason)
		}
		origin := r
		if r.origin != nil {
			origin = r.origin
		}
		at, err := origin.bump(tx.now, r, time.Second)
		if err != nil {
			return nil, err
		}
		return r.With(tx.now, Set{Status, statusClosed}, Set{ClosedAt, at}, Set{CloseReason, reason})
	})
}

// refuseClosing keeps an issue from being closed by the way.
func refuseClosing(before, after *Record) error {
	if before.Text(Status) == statusClosed || after.Text(Status) != statusClosed {
		return nil
	}
	return fmt.Errorf("%s: %s: must not be set to %q: an issue is closed on evidence, by MarkClosed alone", after.Text(ID), Status, statusClosed)
}
