//go:build e2e

package sql_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/store/mysql"
	sqlstore "stig/internal/store/sql"
	"stig/internal/testkit/servers"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// onEach runs a test on each kind of server, with an empty database.
func onEach(t *testing.T, test func(t *testing.T, c mysql.Config)) {
	for _, kind := range []string{servers.MariaDB, servers.Galera, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			test(t, servers.Need(t, kind).Database(t.Name()))
		})
	}
}

// reach opens a connection without a store.
func reach(t testing.TB, c mysql.Config) *sql.DB {
	t.Helper()
	db, err := mysql.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// create creates the tables and fills them.
func create(t testing.TB, c mysql.Config, text string) *sqlstore.Store {
	t.Helper()
	if err := sqlstore.Create(context.Background(), sqlstore.Options{Config: c, Actor: "mara", Command: "init"}, "demo"); err != nil {
		t.Fatal(err)
	}
	s := open(t, c, "")
	if text == "" {
		return s
	}
	if err := s.Fill(context.Background(), []byte(text), "", nil); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

// open opens the store again, as another process does.
func open(t testing.TB, c mysql.Config, cache string) *sqlstore.Store {
	s := openAt(c, cache)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openAt(c mysql.Config, cache string) *sqlstore.Store {
	return sqlstore.Open(beads.Place{Path: ".beads/stig.json", Dir: ".beads", Mode: beads.Server, URL: c.URL()},
		sqlstore.Options{Config: c, Cache: cache, Actor: "mara", Command: "test"})
}

// wipe empties a store.
func wipe(t testing.TB, c mysql.Config) {
	t.Helper()
	db := reach(t, c)
	for _, table := range []string{"lines", "comments", "edges", "others", "events", "live"} {
		exec(t, db, "DELETE FROM stig_"+table)
	}
	exec(t, db, "UPDATE stig_meta SET version = 0")
}

func textOf(t testing.TB, s *sqlstore.Store) string {
	t.Helper()
	text, err := s.Text(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func options() beads.Options {
	return beads.Options{Now: now, Notes: func(_, _ string) error { return nil }}
}

func edit(t testing.TB, s beads.Store, fn func(*beads.Tx) error) []beads.Change {
	t.Helper()
	changes, err := s.Edit(context.Background(), options(), fn)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func setNotes(id, text string) func(*beads.Tx) error {
	return func(tx *beads.Tx) error { return tx.Set(id, beads.Set{Key: beads.Notes, Text: text}) }
}

func addComment(id, text string) func(*beads.Tx) error {
	return func(tx *beads.Tx) error { return tx.AddComment(id, beads.Comment{Author: "mara", Text: text}) }
}

func add(id string) func(*beads.Tx) error {
	return func(tx *beads.Tx) error {
		_, err := tx.Add(beads.New{ID: id, Title: "the title of " + id, Status: "open"})
		return err
	}
}
