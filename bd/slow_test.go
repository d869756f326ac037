//go:build unix

package bd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/beads"
	"stig/fault"
	"stig/jsonl"
)

// A bd that does not end holds nothing up for ever: before the edit nothing is
// written, after it the file stays written and the error says that bd was not
// heard.
func TestBDSlow(t *testing.T) {
	for _, c := range []struct{ slow, reason, holds string }{
		{"--status", "nothing was written, for bd does not answer", "old"},
		{"--import-only", "written, but bd does not say whether it took it up", "new"},
	} {
		t.Run(c.slow, func(t *testing.T) {
			dir := t.TempDir()
			s := beads.Place{Dir: filepath.Join(dir, ".beads"), Path: filepath.Join(dir, ".beads", "issues.jsonl"), Mode: beads.SQLite}
			script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *%s) sleep 60 ;; esac\n", c.slow)
			if err := errors.Join(os.Mkdir(s.Dir, 0o755),
				os.WriteFile(s.Path, []byte(`{"id":"d-1","title":"old"}`+"\n"), 0o644),
				os.WriteFile(filepath.Join(dir, "bd"), []byte(script), 0o755)); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			bd := Program{Env: os.Environ(), OnPath: true, Limit: 300 * time.Millisecond}
			began := time.Now()
			_, err := bd.Wrap(jsonl.Open(s)).Edit(context.Background(), beads.Options{Now: began},
				func(tx *beads.Tx) error { return tx.Set("d-1", beads.Set{Key: beads.Title, Text: "new"}) })
			conflict, ok := fault.As(err, fault.Changed)
			if !ok || !strings.Contains(conflict.Reason, c.reason) || conflict.Hint == "" {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if text, err := os.ReadFile(s.Path); err != nil || !strings.Contains(string(text), c.holds) {
				t.Errorf("%s, %v; want %s", text, err, c.holds)
			}
		})
	}
}

// TestDoltInterrupted: of an edit that is interrupted while bd writes, what the database
// holds then says whether it was made.
func TestDoltInterrupted(t *testing.T) {
	const before = `{"id":"d-1","title":"old"}` + "\n" + `{"id":"d-2","title":"old"}` + "\n"
	for _, c := range []struct {
		name, after string
		changes     int
		err         error
	}{
		{"all", strings.ReplaceAll(before, "old", "new"), 2, nil},
		{"a part", strings.Replace(before, "old", "new", 1), 2, beads.ErrLost},
		{"nothing", before, 0, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			began := filepath.Join(dir, "began")
			if err := os.WriteFile(filepath.Join(dir, "bd"), []byte("#!/bin/sh\n: >"+began+"\nsleep 60\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			db := &standin{now: before, next: c.after}
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(began); err == nil {
						cancel()
					}
					time.Sleep(time.Millisecond)
				}
			}()
			s := &dolt{bd: Program{Env: os.Environ(), OnPath: true}, place: beads.Place{Dir: dir, Mode: beads.Dolt}}
			changes, err := s.try(ctx, db, beads.Options{Now: time.Now()}, func(tx *beads.Tx) error {
				return errors.Join(tx.Set("d-1", beads.Set{Key: beads.Title, Text: "new"}), tx.Set("d-2", beads.Set{Key: beads.Title, Text: "new"}))
			})
			if len(changes) != c.changes || !errors.Is(err, c.err) {
				t.Errorf("%d changes, %v", len(changes), err)
			}
		})
	}
}

// standin is a database that holds other lines at the second reading.
type standin struct{ now, next string }

func (s *standin) read(ctx context.Context) ([]byte, string, error) {
	now := s.now
	s.now = s.next
	return []byte(now), "v", ctx.Err()
}

func (s *standin) version(ctx context.Context) (string, error) { return "v", ctx.Err() }

func (s *standin) replaced(context.Context, []write) ([]replacement, error) { return nil, nil }

func (s *standin) close() {}
