//go:build e2e

package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/store/mysql"
	sqlstore "stig/internal/store/sql"
	"stig/internal/workspace"
)

// onServer opens the store for a place on a server, in its own database, named after the
// directory. The first use creates the database and imports the file, which is not read again
// afterwards.
func onServer(a *workspace.Run, p beads.Place, server string) beads.Store {
	if p.Mode != beads.Server {
		admin, err := mysql.ParseURL(server)
		if err != nil {
			panic(err)
		}
		c := admin
		c.Database = databaseOf(p)
		file := p
		p = beads.Place{Path: p.Path, Dir: p.Dir, Mode: beads.Server, URL: c.URL()}
		a.OnServers().Tell(p, jsonl.Settings{Store: p.URL})
		if err := importOnce(file, p, admin, c); err != nil {
			return sqlstore.Unopened{At: p, Err: err}
		}
	}
	store, err := a.OnServers().Open(p)
	if err != nil {
		return sqlstore.Unopened{At: p, Err: err}
	}
	return store
}

// databaseOf returns the name of the database for the store at a place.
func databaseOf(p beads.Place) string {
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		dir = p.Dir
	}
	if dir, err = filepath.Abs(dir); err != nil {
		panic(err)
	}
	sum := sha256.Sum256([]byte(dir))
	return "script_" + hex.EncodeToString(sum[:8])
}

// imported are the databases that this process knows to be filled.
var imported sync.Map

// importOnce creates the database of a store and fills it from the file at a place, unless this
// or another process did.
func importOnce(file, at beads.Place, admin, c mysql.Config) error {
	if _, done := imported.Load(c.Database); done {
		return nil
	}
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
	defer conn.Close()
	var got int
	if err := conn.QueryRowContext(ctx, "SELECT GET_LOCK(?, 60)", c.Database).Scan(&got); err != nil || got != 1 {
		return errors.Join(errors.New("another process is filling the database"), err)
	}
	var there string
	if err = conn.QueryRowContext(ctx, "SHOW DATABASES LIKE '"+c.Database+"'").Scan(&there); errors.Is(err, sql.ErrNoRows) {
		err = importFile(ctx, conn, file, at, c)
	}
	if err == nil {
		imported.Store(c.Database, true)
	}
	_, unlocked := conn.ExecContext(ctx, "SELECT RELEASE_LOCK(?)", c.Database)
	return errors.Join(err, unlocked)
}

func importFile(ctx context.Context, conn *sql.Conn, file, at beads.Place, c mysql.Config) error {
	text, err := os.ReadFile(file.Path)
	if err != nil {
		return beads.Unreadable(file.Path, err)
	}
	f, err := jsonl.Read(file)
	if err != nil {
		return err
	}
	prefix, err := sqlstore.PrefixOf(f, nil)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "CREATE DATABASE "+c.Database); err != nil {
		return err
	}
	o := sqlstore.Options{Config: c}
	store := sqlstore.Open(at, o)
	defer store.Close()
	err = sqlstore.Create(ctx, o, prefix)
	if err == nil {
		err = store.Fill(ctx, text, prefix, nil)
	}
	if err != nil { // a later use retries
		_, failed := conn.ExecContext(ctx, "DROP DATABASE "+c.Database)
		err = errors.Join(err, failed)
	}
	return err
}
