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

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
)

const two = `{"id":"d-1","title":"old"}` + "\n" + `{"id":"d-2","title":"old"}` + "\n"

// shell is a store whose bd is a shell script; $lines is the file with its export.
func shell(t *testing.T, update string) (s *store, dir string) {
	t.Helper()
	dir = t.TempDir()
	lines := filepath.Join(dir, "lines")
	script := fmt.Sprintf("#!/bin/sh\nlines=%s\ncase \"$*\" in *export*) cat $lines ;; *update*) %s ;; esac\n", lines, update)
	if err := errors.Join(os.WriteFile(lines, []byte(two), 0o644), os.WriteFile(filepath.Join(dir, "bd"), []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	p := beads.Place{Dir: filepath.Join(dir, ".beads"), Path: filepath.Join(dir, ".beads", "issues.jsonl"), Mode: beads.BD}
	return Program{Env: os.Environ(), OnPath: true}.Wrap(jsonl.Open(p)).(*store), dir
}

func rename(tx *beads.Tx) error {
	return errors.Join(tx.Set("d-1", beads.Set{Key: beads.Title, Text: "new"}), tx.Set("d-2", beads.Set{Key: beads.Title, Text: "new"}))
}

// A bd that hangs blocks nothing, and stig checks what it wrote.
func TestSlow(t *testing.T) {
	s, _ := shell(t, "sleep 60")
	s.bd.Limit = 300 * time.Millisecond
	began := time.Now()
	_, err := s.Edit(t.Context(), beads.Options{Now: began}, rename)
	e, ok := fault.As(err, fault.Changed)
	if !ok || !strings.Contains(e.Reason, "nothing was written; bd update: bd: did not end within 300ms") || e.Hint == "" {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	s, _ = shell(t, "rm $lines")
	if _, err = s.Edit(t.Context(), beads.Options{Now: began}, rename); !fault.Is(err, fault.Changed) || !strings.Contains(err.Error(), "it is unknown whether it did") {
		t.Errorf("%v", err)
	}
}

// If an edit is interrupted while bd writes, bd's issues decide whether it was made.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		name, after string
		changes     int
		err         error
	}{
		{"all", strings.ReplaceAll(two, "old", "new"), 2, nil},
		{"a part", strings.Replace(two, "old", "new", 1), 2, beads.ErrLost},
		{"nothing", two, 0, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := shell(t, "echo '"+c.after+"' >$lines; : >$lines.began; sleep 60")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(dir, "lines.began")); err == nil {
						cancel()
					}
					time.Sleep(time.Millisecond)
				}
			}()
			changes, err := s.Edit(ctx, beads.Options{Now: time.Now()}, rename)
			if len(changes) != c.changes || !errors.Is(err, c.err) {
				t.Errorf("%d changes, %v", len(changes), err)
			}
		})
	}
}

// If bd refuses because another program wrote, the edit starts over on the current issues.
func TestAnotherWrote(t *testing.T) {
	s, _ := shell(t, `if test -e $lines.theirs; then sed -i s/old/new/ $lines; else sed -i s/old/theirs/ $lines; : >$lines.theirs; exit 1; fi`)
	var seen []string
	_, err := s.Edit(t.Context(), beads.Options{Now: time.Now()}, func(tx *beads.Tx) error {
		r, err := tx.Record("d-1")
		if err != nil {
			return err
		}
		if seen = append(seen, r.Text(beads.Title)); len(seen) > 1 {
			return errTaken
		}
		return rename(tx)
	})
	if !errors.Is(err, errTaken) || strings.Join(seen, " ") != "old theirs" {
		t.Errorf("%v, seen %q", err, seen)
	}
}

var errTaken = errors.New("taken")
