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
