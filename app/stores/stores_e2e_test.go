//go:build e2e

package stores_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/app"
	"stig/app/stores"
	"stig/beads"
	"stig/checkpoint"
	"stig/fault"
	"stig/internal/servers"
	"stig/jsonl"
	"stig/mysql"
)

// TestInit makes a store once, and says with a dry run what the real one would do: also
// that it would refuse.
func TestInit(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database("stores")
	dir := t.TempDir()
	a := front(t, dir, c.URL())
	settings := filepath.Join(dir, beads.DirName, jsonl.SettingsFile)
	if m, err := stores.Init(t.Context(), a, stores.InitRequest{Prefix: "hb", DryRun: true}); err != nil || !strings.Contains(m.Diff, c.URL()) || app.Exists(settings) {
		t.Fatalf("%+v, %v", m, err)
	}
	if m, err := stores.Init(t.Context(), a, stores.InitRequest{Prefix: "hb"}); err != nil || m.Prefix != "hb" || !app.Exists(settings) {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := stores.Init(t.Context(), front(t, dir, c.URL()), stores.InitRequest{}); !fault.Is(err, fault.Refused) {
		t.Errorf("%v", err)
	}
	if _, err := stores.Init(t.Context(), front(t, t.TempDir(), c.URL()), stores.InitRequest{Prefix: "pier"}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "begin with hb-") {
		t.Errorf("%v", err)
	}
	if m, err := stores.Init(t.Context(), front(t, t.TempDir(), c.URL()), stores.InitRequest{}); err != nil || m.Prefix != "hb" {
		t.Errorf("%+v, %v", m, err)
	}
	if e, err := stores.Examine(t.Context(), a, beads.Place{Path: settings, Dir: filepath.Dir(settings), Mode: beads.Server, URL: c.URL()}); err != nil || e.Kind != servers.MariaDB || !e.Writable() || !e.Local || e.User != "root" {
		t.Errorf("%+v, %v", e, err)
	}
	if url, from, to, err := stores.Migrate(t.Context(), front(t, dir, ""), true); err != nil || url != c.URL() || from != to {
		t.Errorf("%s %d %d %v", url, from, to, err)
	}
}

// TestInitForeign leaves a database alone in which somebody else has tables.
func TestInitForeign(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database("foreign")
	db, err := mysql.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE tides (at INT)"); err != nil {
		t.Fatal(err)
	}
	for _, dryRun := range []bool{true, false} {
		dir := t.TempDir()
		_, err := stores.Init(t.Context(), front(t, dir, c.URL()), stores.InitRequest{DryRun: dryRun})
		if err == nil || !strings.Contains(err.Error(), "it holds the table tides") {
			t.Errorf("%v: %v", dryRun, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%v, %v", entries, err)
		}
	}
}

// TestReaderIsProposedNoEdit: who may only read a store is proposed no command that then
// refuses.
func TestReaderIsProposedNoEdit(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database("readers")
	dir := t.TempDir()
	if _, err := stores.Init(t.Context(), front(t, dir, c.URL()), stores.InitRequest{Prefix: "hb"}); err != nil {
		t.Fatal(err)
	}
	created, err := front(t, dir, "").Create(t.Context(), app.CreateRequest{Draft: checkpoint.Draft{Title: "Span the ropes", Type: "task", Priority: 2}})
	if err != nil {
		t.Fatal(err)
	}
	db, err := mysql.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{"CREATE USER dashboard@'%'", "GRANT SELECT ON " + c.Database + ".* TO dashboard@'%'"} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	id := created.ID
	for user, reads := range map[string]bool{c.User: false, "dashboard": true} {
		as := c
		as.User = user
		a := front(t, dir, as.URL())
		_, before, err := a.Next(t.Context())
		if err != nil || strings.Contains(before, "may only be read by this user") != reads {
			t.Errorf("%s: %q, %v", user, before, err)
		}
		o, err := a.Orient(t.Context(), app.OrientRequest{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if text := o.Briefing.Markdown(); strings.Contains(text, "stig claim") == reads || strings.Contains(text, "it can only be read here") != reads {
			t.Errorf("%s:\n%s", user, text)
		}
	}
}
