//go:build e2e

package load_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
	"stig/internal/testkit/load"
	"stig/internal/testkit/servers"
)

// file is the kind of a store that is a JSONL file, beside the kinds of servers.
const file = "file"

// where is the location of a store, for this process and its children.
type where struct {
	Path   string       // of a file
	Config mysql.Config // of a database, if Path is ""
}

func (w where) open() beads.Store {
	if w.Path != "" {
		return jsonl.Open(beads.Place{Path: w.Path, Dir: filepath.Dir(w.Path)})
	}
	return sql.Open(beads.Place{Mode: beads.Server, URL: w.Config.URL()}, sql.Options{Config: w.Config, Command: "load"})
}

func closeStore(s beads.Store) {
	if s, ok := s.(*sql.Store); ok {
		_ = s.Close() // its connections end with the process at the latest
	}
}

// text reads the whole store, through its own connections.
func (w where) text() ([]byte, error) {
	if w.Path != "" {
		return os.ReadFile(w.Path)
	}
	s := w.open()
	defer closeStore(s)
	return s.(*sql.Store).Text(context.Background())
}

// fill creates the store.
func (w where) fill(text []byte, prefix string) error {
	if w.Path != "" {
		return errors.Join(os.MkdirAll(filepath.Dir(w.Path), 0o755), os.WriteFile(w.Path, text, 0o644))
	}
	if err := sql.Create(context.Background(), sql.Options{Config: w.Config}, prefix); err != nil {
		return err
	}
	s := w.open()
	defer closeStore(s)
	return s.(*sql.Store).Fill(context.Background(), text, prefix, nil)
}

// durable starts a server that answers only when data is on the disk, on data that outlive it.
func durable(t *testing.T, kind string) *servers.Server {
	t.Helper()
	s, err := servers.StartWith(servers.Options{Kind: kind, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// crash kills a server at any moment and restarts it on its data. In a cluster it kills one
// node, or two at once; without two nodes no node has a quorum.
func crash(s *servers.Server) error {
	return s.Crash(rand.Perm(max(len(s.Nodes), 1))[:min(len(s.Nodes), 1+rand.IntN(2))]...)
}

// answerOf returns what an error of Edit says about the edit: it was not made, unless the
// outcome is unknown.
func answerOf(err error) load.Answer {
	switch {
	case err == nil:
		return load.Done
	case errors.Is(err, beads.ErrLost), strings.Contains(err.Error(), "connection was lost during COMMIT"):
		return load.Unknown
	}
	return load.Refused
}

// writer makes edits from where its log ends, until enough were acknowledged. After an edit
// that was not acknowledged it waits until the store can be read.
func writer(s beads.Store, p load.Plan, number, most int, path string) error {
	entries, err := load.ReadLog(path)
	if err != nil {
		return err
	}
	log, err := load.OpenLog(path)
	if err != nil {
		return err
	}
	defer log.Close()
	done := 0
	for _, e := range entries {
		if e.Answer == load.Done {
			done++
		}
	}
	for n := len(entries) + 1; done < most; n++ {
		a, b := p.Target(number, n)
		if err := log.Begin(n); err != nil {
			return err
		}
		start := time.Now()
		err := load.Write(context.Background(), s, start, a, b, load.Name(number, n))
		if e := log.End(n, answerOf(err), time.Since(start)); e != nil {
			return e
		}
		if err == nil {
			done++
			continue
		}
		fmt.Fprintf(os.Stderr, "%d.%d: %T after %s: %v\n", number, n, err, time.Since(start).Round(time.Millisecond), err)
		if err := await(s); err != nil {
			return err
		}
	}
	return nil
}

// await waits until a store can be read, at most a minute.
func await(s beads.Store) (err error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if _, err = s.Snapshot(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot be read again: %w", err)
}
