//go:build e2e

package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/store/jsonl"
	"stig/internal/store/mysql"
	"stig/internal/testkit/servers"
	"stig/internal/workspace"
)

// TestInit: a store is created once, and a dry run reports what a real run would do, also that
// it would refuse.
func TestInit(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database("stores")
	dir := t.TempDir()
	a := front(t, dir, c.URL())
	settings := filepath.Join(dir, beads.DirName, jsonl.SettingsFile)
	if m, err := service.InitOnServer(t.Context(), a, service.ServerRequest{Prefix: "hb", DryRun: true}); err != nil || !strings.Contains(m.Diff, c.URL()) || workspace.Exists(settings) {
		t.Fatalf("%+v, %v", m, err)
	}
	if m, err := service.InitOnServer(t.Context(), a, service.ServerRequest{Prefix: "hb"}); err != nil || m.Prefix != "hb" || !workspace.Exists(settings) {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := service.InitOnServer(t.Context(), front(t, dir, c.URL()), service.ServerRequest{}); !fault.Is(err, fault.Refused) {
		t.Errorf("%v", err)
	}
	if _, err := service.InitOnServer(t.Context(), front(t, t.TempDir(), c.URL()), service.ServerRequest{Prefix: "pier"}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "begin with hb-") {
		t.Errorf("%v", err)
	}
	if m, err := service.InitOnServer(t.Context(), front(t, t.TempDir(), c.URL()), service.ServerRequest{}); err != nil || m.Prefix != "hb" {
		t.Errorf("%+v, %v", m, err)
	}
	if e, err := service.ExamineServer(t.Context(), a, beads.Place{Path: settings, Dir: filepath.Dir(settings), Mode: beads.Server, URL: c.URL()}); err != nil || e.Kind != servers.MariaDB || !e.Writable() || !e.Local || e.User != "root" {
		t.Errorf("%+v, %v", e, err)
	}
	if url, from, to, err := service.MigrateServer(t.Context(), front(t, dir, ""), true); err != nil || url != c.URL() || from != to {
		t.Errorf("%s %d %d %v", url, from, to, err)
	}
}

// TestInitForeign: a database with foreign tables is left alone.
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
		_, err := service.InitOnServer(t.Context(), front(t, dir, c.URL()), service.ServerRequest{DryRun: dryRun})
		if err == nil || !strings.Contains(err.Error(), "it has the table tides") {
			t.Errorf("%v: %v", dryRun, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%v, %v", entries, err)
		}
	}
}

// TestReaderIsProposedNoEdit: a user who may only read the store is not offered commands that
// would be refused.
func TestReaderIsProposedNoEdit(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database("readers")
	dir := t.TempDir()
	if _, err := service.InitOnServer(t.Context(), front(t, dir, c.URL()), service.ServerRequest{Prefix: "hb"}); err != nil {
		t.Fatal(err)
	}
	created, err := service.Create(t.Context(), front(t, dir, ""), service.CreateRequest{Draft: checkpoint.Draft{Title: "Span the ropes", Type: "task", Priority: 2}})
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
		_, before, err := service.Next(t.Context(), a)
		if err != nil || strings.Contains(before, "may only be read by this user") != reads {
			t.Errorf("%s: %q, %v", user, before, err)
		}
		o, err := service.Orient(t.Context(), a, service.OrientRequest{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if text := o.Briefing.Markdown(); strings.Contains(text, "stig claim") == reads || strings.Contains(text, "it is read-only here") != reads {
			t.Errorf("%s:\n%s", user, text)
		}
	}
}
