//go:build e2e && unix

package loop_test

import (
	"testing"

	"stig/internal/beads"
	"stig/internal/service"
	"stig/internal/store/sql"
	"stig/internal/workspace"
)

// TestTripsOnServer limits how often commands wait for the server, the trips of the store and
// those for live state together.
func TestTripsOnServer(t *testing.T) {
	y := onMachines(t, 1, "pier-1", "pier-2")[0]
	store := y.app.OpenStore(beads.Place{}).(*sql.Store)
	store.DB().SetMaxOpenConns(1)
	if _, err := store.Snapshot(); err != nil { // the very first read asks once more
		t.Fatal(err)
	}
	asked := func() (n int) {
		var name string
		if err := store.DB().QueryRow("SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	orient := func(id string) func(*workspace.Run) error {
		return func(a *workspace.Run) error {
			_, err := service.Orient(t.Context(), a, service.OrientRequest{ID: id})
			return err
		}
	}
	for _, c := range []struct {
		name string
		most int
		do   func(a *workspace.Run) error
	}{
		{"ready", 2, func(a *workspace.Run) error { _, err := service.Ready(t.Context(), a, ""); return err }},
		{"survey", 4, orient("")},
		{"briefing", 2, orient("pier-1")},
		{"claim", 12, func(a *workspace.Run) error {
			_, err := service.Claim(t.Context(), a, service.ClaimRequest{ID: "pier-1"})
			return err
		}},
		{"briefing of what is claimed", 2, orient("pier-1")},
		{"release", 10, func(a *workspace.Run) error {
			_, err := service.Release(t.Context(), a, service.ReleaseRequest{ID: "pier-1"})
			return err
		}},
	} {
		before := asked()
		if err := c.do(y.as(t, "bo")); err != nil {
			t.Error(c.name, err)
		}
		if n := asked() - before - 1; n > c.most {
			t.Errorf("%s: %d statements, want %d at most", c.name, n, c.most)
		}
	}
}
