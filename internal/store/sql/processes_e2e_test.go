//go:build e2e

package sql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	run "os/exec"
	"strconv"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/store/mysql"
)

const perProcess = 4

// TestMain is also one of the processes of TestProcesses.
func TestMain(m *testing.M) {
	if port := os.Getenv("STORE_PORT"); port != "" {
		c := mysql.Config{Host: "127.0.0.1", User: "root", Database: os.Getenv("STORE_DATABASE")}
		c.Port, _ = strconv.Atoi(port)
		if err := work(c, os.Getenv("STORE_WORKER")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work edits one issue in the ways that conflict most.
func work(c mysql.Config, name string) error {
	s := openAt(c, "")
	defer s.Close()
	for n := range perProcess {
		word := fmt.Sprintf("%s.%d;", name, n)
		for _, fn := range []func(*beads.Tx) error{
			addComment("d-1", word), add("d-" + name + strconv.Itoa(n)),
			func(tx *beads.Tx) error {
				r, err := tx.Record("d-1")
				if err != nil {
					return err
				}
				return tx.Set("d-1", beads.Set{Key: beads.Notes, Text: r.Text(beads.Notes) + word})
			},
		} {
			if _, err := s.Edit(context.Background(), options(), fn); err != nil {
				return errors.Join(errors.New(word), err)
			}
		}
	}
	return nil
}

// TestProcesses: eight processes edit one issue at the same time; no edit is lost.
func TestProcesses(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s := create(t, c, `{"id":"d-1","title":"a","comments":[]}`+"\n")
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		var all []*run.Cmd
		for n := range 8 {
			cmd := run.Command(program)
			cmd.Env = append(os.Environ(), "STORE_PORT="+strconv.Itoa(c.Port), "STORE_DATABASE="+c.Database, "STORE_WORKER="+string(rune('a'+n)))
			cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			all = append(all, cmd)
		}
		for _, cmd := range all {
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		f, err := s.Snapshot()
		if err != nil || f.Len() != 1+8*perProcess || len(f.Problems()) > 0 {
			t.Fatal(err, f.Len(), f.Problems())
		}
		r, err := f.At(0).Record()
		if err != nil {
			t.Fatal(err)
		}
		notes := r.Text(beads.Notes)
		var comments strings.Builder
		for _, c := range r.Comments() {
			comments.WriteString(c.Text)
		}
		for n := range 8 {
			for k := range perProcess {
				word := fmt.Sprintf("%c.%d;", 'a'+n, k)
				if strings.Count(notes, word) != 1 || strings.Count(comments.String(), word) != 1 {
					t.Errorf("%s is not once in %q and %q", word, notes, comments.String())
				}
			}
		}
		version, err := s.Version(t.Context())
		if want := int64(1 + 8*perProcess*3); err != nil || version != want {
			t.Errorf("version %d, want %d, one for each edit: %v", version, want, err)
		}
	})
}
