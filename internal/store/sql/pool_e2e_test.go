//go:build e2e

package sql_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/internal/testkit/servers"
)

const lines = `{"id":"demo-1","title":"Paint the pier","status":"open"}
{"id":"demo-2","title":"Oil the hinges","status":"open"}
`

// newPool returns a pool of stores on local servers that root may use without a password.
func newPool(t *testing.T) *sql.Pool {
	p := &sql.Pool{Given: func() sql.Given { return sql.Given{} }, Cache: t.TempDir()}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// newPlace creates an empty database and a .beads directory.
func newPlace(t *testing.T, kind string) beads.Place {
	t.Helper()
	dir := filepath.Join(t.TempDir(), beads.DirName)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return beads.Place{Path: filepath.Join(dir, jsonl.SettingsFile), Dir: dir, Mode: beads.Server, URL: servers.Need(t, kind).Database("remote").URL()}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// copied returns a store on a server with these lines.
func copied(t *testing.T, pool *sql.Pool, kind string) beads.Place {
	t.Helper()
	return filled(t, pool, kind, lines)
}

func filled(t *testing.T, pool *sql.Pool, kind, text string) beads.Place {
	t.Helper()
	to := newPlace(t, kind)
	path := filepath.Join(t.TempDir(), "issues.jsonl")
	write(t, path, text)
	transfer := sql.Transfer{Pool: pool, From: beads.Place{Path: path, Dir: filepath.Dir(path)}, To: to, Actor: "mara"}
	if _, err := transfer.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return to
}

func stamp() time.Time { return time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC) }

// A store given by URL gets the settings of the connection from the store beside it on the same
// server.
func TestSettingsOfTheSameServer(t *testing.T) {
	for _, c := range []struct{ url, tls string }{
		{"mysql://mara@db.example/harbor/side", "off"},
		{"mysql://db.example:3306/other", "off"},
		{"mysql://db.example:3307/harbor", ""},
		{"mysql://evil.example/harbor", ""},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, jsonl.SettingsFile), `{"store": "mysql://db.example/harbor", "sync_file": true, "tls": "off", "ca": "ca.pem"}`)
		got, err := sql.Settings(beads.Place{Path: filepath.Join(dir, "stig-other.json"), Dir: dir, Mode: beads.Server, URL: c.url})
		want := jsonl.Settings{TLS: c.tls}
		if c.tls != "" {
			want.CA = filepath.Join(dir, "ca.pem")
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", c.url, got, err)
		}
	}
}

// TestPoolTogether: all calls of Open return the same store, from any number of goroutines,
// while another goroutine calls Tell.
func TestPoolTogether(t *testing.T) {
	pool := newPool(t)
	place := beads.Place{Path: filepath.Join(t.TempDir(), jsonl.SettingsFile), Mode: beads.Server, URL: "mysql://mara@127.0.0.1:1/harbor"}
	var group sync.WaitGroup
	var all sync.Map
	for range 8 {
		group.Go(func() {
			pool.Tell(place, jsonl.Settings{Store: place.URL})
			if _, _, err := pool.Options(place); err != nil {
				t.Error(err)
			}
			store, err := pool.Open(place)
			if err != nil {
				t.Error(err)
			}
			all.Store(store, true)
		})
	}
	group.Wait()
	n := 0
	all.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d stores", n)
	}
	if _, err := pool.Open(beads.Place{Path: place.Path, URL: "mysql://mara:hunter2@db.example/x"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// TestPoolNewPassword: if the password changes while a process runs, new connections use the
// one that the credentials file has then.
func TestPoolNewPassword(t *testing.T) {
	admin := newPool(t)
	place := copied(t, admin, servers.MariaDB)
	root, err := admin.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string) {
		t.Helper()
		if _, err := root.DB().ExecContext(t.Context(), query); err != nil {
			t.Fatal(query, err)
		}
	}
	file := filepath.Join(t.TempDir(), "credentials")
	keep := func(password string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("mysql://renewed@127.0.0.1 "+password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exec("CREATE USER renewed@'%' IDENTIFIED BY 'old'")
	exec("GRANT SELECT ON *.* TO renewed@'%'")
	keep("old")
	pool := newPool(t)
	pool.Given = func() sql.Given { return sql.Given{File: file} }
	place.URL = strings.Replace(place.URL, "root@", "renewed@", 1)
	store, err := pool.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"old", "new"} {
		exec("ALTER USER renewed@'%' IDENTIFIED BY '" + password + "'")
		exec("KILL CONNECTION USER renewed")
		keep(password)
		if _, err := store.Version(t.Context()); err != nil {
			t.Errorf("%s: %v", password, err)
		}
	}
}

// TestTransfer copies to a server and back, byte for byte, records who copied, and refuses
// targets with content.
func TestTransfer(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			pool := newPool(t)
			place := copied(t, pool, kind)
			back := filepath.Join(t.TempDir(), "back.jsonl")
			transfer := sql.Transfer{Pool: pool, From: place, To: beads.Place{Path: back, Dir: filepath.Dir(back)}}
			done, err := transfer.Run(t.Context())
			if err != nil || done.Issues != 2 || read(t, back) != lines {
				t.Fatalf("%+v, %v", done, err)
			}
			if _, err := transfer.Run(t.Context()); !fault.Is(err, fault.Refused) || !strings.HasSuffix(err.Error(), ": is not empty") {
				t.Errorf("%v", err)
			}
			transfer.From, transfer.To = transfer.To, place
			if _, err := transfer.Run(t.Context()); !fault.Is(err, fault.Refused) || !strings.HasSuffix(err.Error(), ": is not empty") {
				t.Errorf("%v", err)
			}
			store, err := pool.Open(place)
			if err != nil {
				t.Fatal(err)
			}
			var who string
			if err := store.DB().QueryRowContext(t.Context(), "SELECT DISTINCT actor FROM stig_events").Scan(&who); err != nil || who != "mara" {
				t.Errorf("%q, %v", who, err)
			}
		})
	}
}

// TestTransferDryRun: a dry run refuses what the copy refuses: a database with tables of
// others, and a file with a duplicate id.
func TestTransferDryRun(t *testing.T) {
	pool, place := newPool(t), newPlace(t, servers.MariaDB)
	path := filepath.Join(t.TempDir(), "issues.jsonl")
	write(t, path, lines)
	transfer := sql.Transfer{Pool: pool, From: beads.Place{Path: path, Dir: filepath.Dir(path)}, To: place, DryRun: true}
	if _, err := transfer.Run(t.Context()); err != nil {
		t.Error(err)
	}
	store, err := pool.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, lines+lines)
	if _, err := transfer.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), path+":3: duplicate-id: ") {
		t.Errorf("%v", err)
	}
	write(t, path, lines)
	if _, err := store.DB().Exec("CREATE TABLE tides (at INT)"); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "it has the table tides") {
		t.Errorf("%v", err)
	}
}

// TestSync: Sync writes the copy if it differs. If the server is unreachable, or the copy has
// lines that the server never had, Sync neither creates nor changes it.
func TestSync(t *testing.T) {
	pool := newPool(t)
	place := copied(t, pool, servers.MariaDB)
	store, err := pool.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(place.Dir, jsonl.CopyFile)
	away := place
	away.URL = "mysql://root@127.0.0.1:1/harbor"
	none, err := pool.Open(away)
	if err != nil {
		t.Fatal(err)
	}
	o := beads.Options{Now: stamp()}
	if _, err := (sql.Copy{Store: none, File: file}).Sync(t.Context(), o); err == nil {
		t.Error("copied from no server")
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("an empty copy was left")
	}
	c := sql.Copy{Store: store, File: file, Cache: t.TempDir()}
	sync := func(behind bool) {
		t.Helper()
		s, err := c.Sync(t.Context(), o)
		if err != nil || s.Behind != behind || s.Lines != 2 || read(t, file) != lines {
			t.Errorf("%+v, %v, %q", s, err, read(t, file))
		}
	}
	sync(true)
	sync(false)
	if empty, err := pool.Open(filled(t, pool, servers.MariaDB, "")); err != nil {
		t.Error(err)
	} else if _, err := (sql.Copy{Store: empty, File: file, Cache: c.Cache}).Sync(t.Context(), o); !fault.Is(err, fault.Changed) {
		t.Errorf("the copy of one store was written over by another: %v", err)
	}
	conflict := "<<<<<<< ours\n" + strings.Replace(lines, "\n", "\n=======\n", 1) + ">>>>>>> theirs\n"
	write(t, file, conflict) // of git: each line comes from the server
	sync(true)
	write(t, file, lines+`{"id":"demo-3","title":"By hand","status":"open"}`+"\n")
	if _, err := c.Sync(t.Context(), o); !fault.Is(err, fault.Changed) || !strings.HasPrefix(err.Error(), file+":3: ") || !strings.Contains(err.Error(), "demo-3") {
		t.Errorf("%v", err)
	}
	if !strings.Contains(read(t, file), "By hand") {
		t.Error("written over")
	}
}

// TestSyncAtOnce has several processes create the copy.
func TestSyncAtOnce(t *testing.T) {
	pool := newPool(t)
	store, err := pool.Open(copied(t, pool, servers.MariaDB))
	if err != nil {
		t.Fatal(err)
	}
	c := sql.Copy{Store: store, File: filepath.Join(t.TempDir(), jsonl.CopyFile)}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := c.Sync(t.Context(), beads.Options{Now: stamp()}); err != nil || read(t, c.File) != lines {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// TestSyncMeanwhile: Sync keeps a line that somebody adds right after it replaced the copy.
func TestSyncMeanwhile(t *testing.T) {
	pool := newPool(t)
	store, err := pool.Open(copied(t, pool, servers.MariaDB))
	if err != nil {
		t.Fatal(err)
	}
	c := sql.Copy{Store: store, File: filepath.Join(t.TempDir(), jsonl.CopyFile), Cache: t.TempDir()}
	write(t, c.File, "")
	before, err := os.Stat(c.File)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() { // a person, who does not take the lock
		for t.Context().Err() == nil {
			if now, err := os.Stat(c.File); err != nil || os.SameFile(before, now) {
				continue
			}
			f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = f.WriteString(`{"id":"demo-3","title":"By hand","status":"open"}` + "\n")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Error(err)
			}
			return
		}
	})
	o := beads.Options{Now: stamp()}
	if _, err := c.Sync(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if _, err := c.Sync(t.Context(), o); !fault.Is(err, fault.Changed) || !strings.Contains(read(t, c.File), "By hand") {
		t.Errorf("written over: %v", err)
	}
}

// TestSyncing: an edit updates the copy, and reports if it cannot.
func TestSyncing(t *testing.T) {
	pool := newPool(t)
	place := copied(t, pool, servers.MariaDB)
	store, err := pool.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(place.Dir, jsonl.CopyFile)
	var warned []error
	s := sql.Syncing{Store: store, Copy: sql.Copy{Store: store, File: file}, Warn: func(err error) { warned = append(warned, err) }}
	comment := func(text string) {
		t.Helper()
		_, err := s.Edit(context.Background(), beads.Options{Now: stamp()}, func(tx *beads.Tx) error {
			return tx.AddComment("demo-1", beads.Comment{Author: "mara", Text: text})
		})
		if err != nil {
			t.Error(err)
		}
	}
	comment("wet")
	if !strings.Contains(read(t, file), "wet") || warned != nil {
		t.Errorf("%v", warned)
	}
	write(t, file, `{"id":"demo-9"}`+"\n")
	comment("dry")
	if len(warned) != 1 || read(t, file) != `{"id":"demo-9"}`+"\n" {
		t.Errorf("%v", warned)
	}
}
