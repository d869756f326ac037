//go:build e2e

package sql_test

import (
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/store/mysql"
)

// TestEdited groups the edits by actor; Dolt refuses columns that are neither grouped nor
// aggregated.
func TestEdited(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s := create(t, c, `{"id":"demo-1","title":"one","status":"open"}`+"\n")
		for _, title := range []string{"two", "three"} {
			edit(t, s, func(tx *beads.Tx) error { return tx.Set("demo-1", beads.Set{Key: beads.Title, Text: title}) })
		}
		ago, err := s.Edited(t.Context())
		if last, ok := ago["mara"]; err != nil || !ok || len(ago) != 1 || last < 0 || last > time.Minute {
			t.Errorf("%v, %v", ago, err)
		}
	})
}
