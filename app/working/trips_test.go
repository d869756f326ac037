//go:build unix

package working_test

import (
	"testing"
	"time"

	"stig/app"
	"stig/beads"
	"stig/database"
)

func TestTripsX(t *testing.T) {
	y := onMachines(t, 1, "pier-1", "pier-2")[0]
	store := y.app.OpenStore(beads.Place{}).(*database.Store)
	store.DB().SetMaxOpenConns(1)
	asked := func() (n int) {
		var name string
		if err := store.DB().QueryRow("SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	_ = time.Second
	for _, c := range []struct {
		name string
		do   func(a *app.App) error
	}{
		{"ready", func(a *app.App) error { _, err := a.Ready(t.Context(), ""); return err }},
		{"ready", func(a *app.App) error { _, err := a.Ready(t.Context(), ""); return err }},
		{"survey", func(a *app.App) error { _, err := a.Orient(t.Context(), app.OrientRequest{}); return err }},
		{"brief", func(a *app.App) error { _, err := a.Orient(t.Context(), app.OrientRequest{ID: "pier-1"}); return err }},
		{"claim", func(a *app.App) error { _, err := a.Claim(t.Context(), app.ClaimRequest{ID: "pier-1"}); return err }},
		{"brief of own", func(a *app.App) error { _, err := a.Orient(t.Context(), app.OrientRequest{ID: "pier-1"}); return err }},
		{"survey", func(a *app.App) error { _, err := a.Orient(t.Context(), app.OrientRequest{}); return err }},
		{"release", func(a *app.App) error { _, err := a.Release(t.Context(), app.ReleaseRequest{ID: "pier-1"}); return err }},
	} {
		before := asked()
		if err := c.do(y.as(t, "bo")); err != nil {
			t.Error(c.name, err)
		}
		t.Logf("%s: %d", c.name, asked()-before-1)
	}
}
