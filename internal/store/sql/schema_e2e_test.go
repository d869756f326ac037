//go:build e2e

package sql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
)

// TestCreate: Create creates tables only in an empty database, and completes an interrupted
// run.
func TestCreate(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		o, db := sql.Options{Config: c}, reach(t, c)
		if _, err := open(t, c, "").Snapshot(); !isAbsent(err) {
			t.Errorf("no tables: %v", err)
		}
		exec(t, db, "CREATE TABLE wares (id INT PRIMARY KEY)")
		err := sql.Create(context.Background(), o, "demo")
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "wares") {
			t.Error(err)
		}
		exec(t, db, "DROP TABLE wares")
		if err := sql.Create(context.Background(), o, "demo"); err != nil {
			t.Fatal(err)
		}
		exec(t, db, "DELETE FROM stig_meta") // that row is inserted last
		exec(t, db, "DROP TABLE stig_live")
		if _, err := open(t, c, "").Snapshot(); !isAbsent(err) {
			t.Errorf("half made: %v", err)
		}
		if err := sql.Create(context.Background(), o, "demo"); err != nil {
			t.Fatal(err)
		}
		err = sql.Create(context.Background(), o, "demo")
		if !fault.Is(err, fault.Refused) || !strings.HasPrefix(err.Error(), "mysql://root@127.0.0.1:") || !strings.Contains(err.Error(), "store already") {
			t.Error(err)
		}
		if text := textOf(t, open(t, c, "")); text != "" {
			t.Errorf("%q", text)
		}
	})
}

func isAbsent(err error) bool { return errors.Is(err, beads.ErrAbsent) }

// TestSchema: tables of another version are not changed.
func TestSchema(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s, db := create(t, c, `{"id":"d-1","title":"a"}`+"\n"), reach(t, c)
		for version, want := range map[int]string{99: "have version 99; this stig supports versions up to 2", 0: "is being filled"} {
			textOf(t, s) // the tables were right when the store last read them
			exec(t, db, "UPDATE stig_meta SET schema_version = ?", version)
			_, err := s.Snapshot()
			check := func(err error) {
				t.Helper()
				if e, ok := fault.As(err, fault.Store); !ok || !strings.Contains(err.Error(), want) || e.Hint == "" {
					t.Errorf("%v, want %q", err, want)
				}
			}
			check(err)
			_, err = s.Edit(context.Background(), options(), setNotes("d-1", "x"))
			check(err)
			if _, _, err := sql.Migrate(context.Background(), sql.Options{Config: c}, false); err == nil {
				t.Error("migrated")
			}
			exec(t, db, "UPDATE stig_meta SET schema_version = 2")
		}
		from, to, err := sql.Migrate(context.Background(), sql.Options{Config: c}, false)
		if from != 2 || to != 2 || err != nil {
			t.Error(from, to, err)
		}
		if _, err := s.Edit(context.Background(), options(), func(tx *beads.Tx) error { // becomes newer during the edit
			exec(t, db, "UPDATE stig_meta SET schema_version = 3")
			return setNotes("d-1", "lost")(tx)
		}); err == nil || strings.Contains(fmt.Sprint(err), "lost") {
			t.Error(err)
		}
		exec(t, db, "UPDATE stig_meta SET schema_version = 2")
		if text := textOf(t, s); strings.Contains(text, "lost") {
			t.Error(text)
		}
		exec(t, db, "ALTER TABLE stig_lines RENAME COLUMN cut TO place") // as a newer version might
		exec(t, db, "UPDATE stig_meta SET schema_version = 3")
		if _, err := s.Snapshot(); err == nil || !strings.Contains(err.Error(), "have version 3") {
			t.Error(err)
		}
	})
}

// TestReader: a user who may only read can read. Edits are refused before anything is written.
func TestReader(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		create(t, c, `{"id":"d-1","title":"a"}`+"\n")
		db := reach(t, c)
		exec(t, db, "CREATE USER IF NOT EXISTS reader@'%' IDENTIFIED BY 'pass'")
		exec(t, db, "GRANT SELECT ON "+c.Database+".* TO reader@'%'")
		reader := c
		reader.User, reader.Password = "reader", "pass"
		s := open(t, reader, "")
		if text := textOf(t, s); text != `{"id":"d-1","title":"a"}`+"\n" {
			t.Error(text)
		}
		server, err := s.Server(context.Background())
		if err != nil || !server.ReadOnly() || server.Refusal == nil || !strings.Contains(server.Refusal.Hint, "GRANT") {
			t.Error(server, err)
		}
		if err := s.Denied(context.Background()); err == nil || !strings.Contains(err.Error(), "may only be read by this user") {
			t.Error(err)
		}
		if err := open(t, c, "").Denied(context.Background()); err != nil {
			t.Error(err)
		}
		exec(t, db, "CREATE USER IF NOT EXISTS lost@'%' IDENTIFIED BY 'pass'")
		for _, table := range []string{"lines", "comments", "edges", "others", "events", "meta"} {
			exec(t, db, "GRANT SELECT, INSERT, UPDATE, DELETE ON "+c.Database+".stig_"+table+" TO lost@'%'")
		}
		lost := c
		lost.User, lost.Password = "lost", "pass"
		server, err = open(t, lost, "").Server(context.Background())
		if err != nil || server.Writable() || !slices.Equal(server.Denied, []string{"stig_live"}) {
			t.Error(server, err)
		}
		_, err = s.Edit(context.Background(), options(), setNotes("d-1", "x"))
		refused, ok := fault.As(err, fault.Refused)
		if !ok || !strings.HasPrefix(err.Error(), "mysql://reader@127.0.0.1:") || !strings.Contains(refused.Hint, "GRANT") || strings.Contains(err.Error(), "pass") {
			t.Errorf("%v", err)
		}
		reader.Password = "wrong"
		_, err = open(t, reader, "").Snapshot()
		if !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "refused the user or the password") {
			t.Error(err)
		}
		nowhere := c
		nowhere.Database = "nowhere"
		_, err = open(t, nowhere, "").Snapshot()
		if !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "database nowhere not found") {
			t.Error(err)
		}
		nowhere.Port = 1
		_, err = open(t, nowhere, "").Snapshot()
		if !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "does not answer") {
			t.Error(err)
		}
	})
}

// TestLarge: an edit that is too large for the server is refused before it is sent. The error
// has its size.
func TestLarge(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		db, before := reach(t, c), 0
		if err := db.QueryRow("SELECT @@global.max_allowed_packet").Scan(&before); err != nil {
			t.Fatal(err)
		}
		exec(t, db, "SET GLOBAL max_allowed_packet = ?", 2<<20)
		defer exec(t, db, "SET GLOBAL max_allowed_packet = ?", before)
		s := create(t, c, `{"id":"d-1","title":"a"}`+"\n")
		edit(t, s, setNotes("d-1", strings.Repeat("x", 1<<20)))
		large := setNotes("d-1", strings.Repeat("y", 2<<20))
		_, err := s.Edit(context.Background(), options(), large)
		server, serverErr := s.Server(context.Background())
		if serverErr != nil {
			t.Fatal(serverErr)
		}
		if server.Kind == "dolt" && err == nil {
			return // accepts a gigabyte, whatever the setting
		}
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "d-1: 2097") || !strings.Contains(err.Error(), fmt.Sprint(2<<20)) {
			t.Errorf("%.300v", err)
		}
		err = s.Fill(context.Background(), []byte(`{"id":"d-9","x":"`+strings.Repeat(`\"`, 1<<20)+`"}`), "", nil)
		if !fault.Is(err, fault.Refused) {
			t.Errorf("%.300v", err)
		}
		edit(t, s, setNotes("d-1", "and it works on"))
	})
}
