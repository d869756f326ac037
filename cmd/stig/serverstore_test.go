package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stig/beads"
	"stig/database"
	"stig/internal/servers"
	"stig/mysql"
)

// testServer is the variable that names the server on which the stores of scripts are,
// for a stig that is a process.
const testServer = "STIG_TEST_SERVER"

// serveScripts starts the server that testStore names, if it names one, for this process
// and those that it starts.
func serveScripts(t *testing.T) {
	kind := os.Getenv(testStore)
	if slices.Contains([]string{servers.MariaDB, servers.Dolt}, kind) {
		c := servers.Need(t, kind).Config
		c.Database = "scripts"
		t.Setenv(testServer, c.URL())
	}
}

// onServer gives the store at a place on the server of the scripts: in a database of its
// own, named by the directory of the place. Of a database that is not there the first use
// makes it, and fills it from the file, which nobody reads any more afterwards.
func onServer(p beads.Place, server string) beads.Store {
	c, err := mysql.ParseURL(server)
	if err != nil {
		panic(err)
	}
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		dir = p.Dir
	}
	sum := sha256.Sum256([]byte(dir))
	admin := c
	c.Database = "script_" + hex.EncodeToString(sum[:8])
	at := beads.Place{Path: p.Path, Dir: p.Dir, Mode: beads.Server, URL: c.URL()}
	store := database.Open(at, database.Options{Config: c})
	if err := importOnce(store, p, admin, c); err != nil {
		return noStore{at, err}
	}
	return store
}

// importOnce makes the database and fills it, unless that was done.
func importOnce(store *database.Store, p beads.Place, admin, c mysql.Config) error {
	ctx := context.Background()
	db, err := mysql.Open(admin)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // which gives the lock back
	var got, tables int
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 60)", c.Database).Scan(&got); err != nil || got != 1 {
		return errors.Join(errors.New("GET_LOCK: somebody fills it for a minute"), err)
	}
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ?", c.Database).Scan(&tables); err != nil || tables > 0 {
		return err
	}
	text, err := os.ReadFile(p.Path)
	if err != nil {
		return beads.Unreadable(p.Path, err)
	}
	prefix, err := os.ReadFile(filepath.Join(p.Dir, "prefix"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := conn.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+c.Database); err != nil {
		return err
	}
	if err := database.Create(ctx, database.Options{Config: c}, strings.TrimSpace(string(prefix))); err != nil {
		return err
	}
	return store.Fill(ctx, text, strings.TrimSpace(string(prefix)), nil)
}

// noStore is a store that cannot be opened.
type noStore struct {
	at  beads.Place
	err error
}

func (s noStore) Place() beads.Place                 { return s.at }
func (s noStore) Snapshot() (*beads.Snapshot, error) { return nil, s.err }
func (s noStore) Edit(context.Context, beads.Options, func(*beads.Tx) error) ([]beads.Change, error) {
	return nil, s.err
}
func (s noStore) Watch() (changes <-chan struct{}, stop func()) { return nil, func() {} }
