package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"stig/beads"
	"stig/database"
	"stig/mysql"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// onEach runs a test on each server, with an empty database.
func onEach(t *testing.T, test func(t *testing.T, c mysql.Config)) {
	for kind, name := range map[string]string{"mariadb": "D1_MARIADB", "dolt": "D1_DOLT"} {
		port, _ := strconv.Atoi(os.Getenv(name))
		if port == 0 {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			c := mysql.Config{Host: "127.0.0.1", Port: port, User: "root"}
			db, err := mysql.Open(c)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			c.Database = fmt.Sprintf("t%d", time.Now().UnixNano())
			exec(t, db, "CREATE DATABASE "+c.Database)
			t.Cleanup(func() {
				db, _ := mysql.Open(c)
				defer db.Close()
				_, _ = db.Exec("DROP DATABASE " + c.Database)
			})
			test(t, c)
		})
	}
}

func exec(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// open gives the store, with the tables made if they are not there.
func open(t *testing.T, c mysql.Config, text string) *database.Store {
	t.Helper()
	o := database.Options{Config: c, Actor: "mara", Command: "test"}
	if err := database.Create(context.Background(), o, "demo"); err != nil {
		t.Fatal(err)
	}
	s := again(t, c)
	if text != "" {
		if err := s.Fill(context.Background(), []byte(text), "", nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// again opens the store once more, as another process does.
func again(t *testing.T, c mysql.Config) *database.Store {
	s := database.Open(beads.Place{Path: ".beads/stig.json", Dir: ".beads", Mode: beads.Server, URL: c.URL()}, database.Options{Config: c, Actor: "mara", Command: "test"})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func textOf(t *testing.T, s *database.Store) string {
	t.Helper()
	text, err := s.Text(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func edit(t *testing.T, s *database.Store, fn func(*beads.Tx) error) []beads.Change {
	t.Helper()
	changes, err := s.Edit(context.Background(), beads.Options{Now: now, Notes: func(_, _ string) error { return nil }}, fn)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}
