//go:build e2e

package sql_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
	"stig/internal/testkit/memory"
	"stig/internal/testkit/servers"
)

// texts are stores as programs write them, and some that no program writes.
var texts = []string{
	`{"id":"a-1","title":"one"}` + "\n",
	`{"id":"a-1","title":"one"}`,
	`{"id":"a-1","title":"one"}` + "\r",
	`{"id":"a-1"}` + "\r\n" + `{"id":"a-2"}` + "\n" + `{"id":"a-3"}` + "\r\n",
	"\n\n \t\n" + `{"_schema":1}` + "\n" + `  {"id":"a-2"}  ` + "\n\n" + `{"_type":"memory","id":"x"}` + "\n" + `{"id":"a-1"}` + "\n\n",
	"\xef\xbb\xbf" + `{"id":"a-1"}` + "\n" + `{"id":"a-0"}`,
	"\xef\xbb\xbf",
	"\xef\xbb\xbf\n",
	`{"id":"b"}` + "\n" + `{"id":"a"}` + "\n" + `{"id":"a "}` + "\n" + `{"id":"A"}` + "\n" + `{"id":"\u0000"}` + "\n" + `{"id":"ä"}` + "\n" + "{\"id\":\"a\u0308\"}\n",
	"{\"id\":\"a-1\",\"title\":\"bytes that are no UTF-8: \xff\xfe\",\"x\":\"\\ud800\"}\n{\"id\":\"\\ud800\"}\n",
	`{"id":"a-1","comments":[]}` + "\n" + `{"id":"a-2","comments":[ ]}` + "\n" + `{"id":"a-3","comments":null}` + "\n" + `{"id":"a-4","comments":{"a":[1]}}` + "\n",
	`{"id":"a-1","comments":[{"id":1,"author":"m","text":"t"} , {"id":1}	,7, "x",[ ] ],"title":"after"}` + "\n",
	`{"comments":[1],"id":"a-1","comments":[2,3]}` + "\n" + `{"\u0063omments":[ 1 ,2 ],"id":"a-2"}` + "\n",
	`{"id":"a-1","priority":99999999999999999999,"status":7,"title":{},"updated_at":"0001-01-01T00:00:00Z","assignee":"` + strings.Repeat("ü", 400) + `"}` + "\n",
	`{"id":"a-1","title":"` + strings.Repeat(`'\"\\\n?--`, 100) + `","updated_at":"9999-12-31T23:59:59.999+14:00"}` + "\n",
	`{"id":"a-1","description":"` + strings.Repeat(`\"'`, 300_000) + `"}` + "\n" + `{"id":"a-2"}`,
	`{"id":"` + strings.Repeat("x", 255) + `"}` + "\n",
	many(700),
}

func many(n int) string {
	var lines []string
	for i := range n {
		lines = append(lines, `{"id":"m-`+strings.Repeat("i", i%7)+string(rune('a'+i%26))+strings.Repeat("z", i/26)+`","title":"t","comments":[{"id":`+string(rune('1'+i%9))+`,"author":"a","text":"b"}]}`)
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestFill: Text returns what Fill wrote, byte for byte.
func TestFill(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		create(t, c, "")
		for _, text := range texts {
			checkFill(t, c, text, t.TempDir())
		}
	})
}

func checkFill(t *testing.T, c mysql.Config, text, cache string) {
	t.Helper()
	wipe(t, c)
	s := open(t, c, "")
	if err := s.Fill(context.Background(), []byte(text), "", nil); err != nil {
		t.Fatalf("%.300q: %v", text, err)
	}
	for _, reader := range []struct {
		name  string
		store *sql.Store
	}{
		{"the same", s}, {"another", open(t, c, "")}, {"the first to copy", open(t, c, cache)}, {"a reader of the copy", open(t, c, cache)},
	} {
		if got := textOf(t, reader.store); got != text {
			t.Errorf("%s process reads\n%.300q, not\n%.300q", reader.name, got, text)
		}
	}
}

// FuzzFill writes any text into a store and reads it back. All rounds share a local copy,
// though each round creates a new store.
func FuzzFill(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	c := servers.Need(f, servers.MariaDB).Database("fuzz")
	create(f, c, "")
	cache := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		s, err := memory.New(text).Snapshot()
		if err != nil || len(s.Problems()) > 0 {
			return
		}
		for _, is := range s.All() {
			if len(is.ID) > 255 {
				return
			}
		}
		checkFill(t, c, text, cache)
	})
}

// TestFilled pauses a copy into a store before each of its statements. Readers of the store get
// an error that it is being filled until the last statement is done, and copying the store
// writes no file. A copy that stops there can be repeated.
func TestFilled(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		from := filepath.Join(t.TempDir(), "from.jsonl")
		if err := os.WriteFile(from, []byte(many(700)), 0o644); err != nil {
			t.Fatal(err)
		}
		pool := &sql.Pool{Given: func() sql.Given { return sql.Given{} }}
		defer pool.Close()
		copyTo := func(c mysql.Config, file, to string) (*sql.Transferred, error) {
			p := beads.Place{Path: "stig.json", Mode: beads.Server, URL: c.URL()}
			if to != "" {
				return sql.Transfer{Pool: pool, From: p, To: beads.Place{Path: to}}.Run(t.Context())
			}
			return sql.Transfer{Pool: pool, From: beads.Place{Path: file, Dir: filepath.Dir(file)}, To: p, Actor: "mara"}.Run(t.Context())
		}
		s, reader, since := newProxy(t, c), open(t, c, ""), 0
		for n, whole := 1, false; !whole; n++ {
			whole = true
			s.mu.Lock()
			at := n
			s.statement = func(text []byte) {
				if at--; at != 0 {
					return
				}
				if bytes.Contains(text, []byte("SELECT 0 AS kind")) {
					return // the copy compares what it wrote
				}
				whole = false
				_, err := reader.Text(context.Background())
				// The copy stops here. If that is during its COMMIT, it asks for the outcome.
				s.cutUp, s.afterCut = s.up, !bytes.HasPrefix(text[1:], []byte("COMMIT"))
				if since == 0 && errors.Is(err, beads.ErrAbsent) {
					return
				}
				if since++; !errors.Is(err, sql.ErrFilling) {
					t.Errorf("before statement %d, %.60q: read %v", n, text, err)
				}
				backup := filepath.Join(t.TempDir(), "backup.jsonl")
				if done, err := copyTo(c, "", backup); err == nil {
					t.Errorf("before statement %d, %.60q: copied %d issues", n, text, done.Issues)
				}
				if _, err := os.Stat(backup); err == nil {
					t.Errorf("before statement %d: wrote %s", n, backup)
				}
			}
			s.mu.Unlock()
			_, err := copyTo(s.Config, from, "")
			s.mu.Lock()
			s.statement, s.refuses = nil, false
			s.mu.Unlock()
			if whole != (err == nil) {
				t.Errorf("whole %v, %v", whole, err)
			}
		}
		if got := textOf(t, reader); got != many(700) {
			t.Errorf("filled with %d bytes", len(got))
		}
		if since < 5 {
			t.Errorf("it was being filled before %d statements", since)
		}
	})
}

// TestFillRefuses: Fill refuses texts that Text could not return, and stores that are not
// empty.
func TestFillRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s := create(t, c, "")
		for text, want := range map[string]string{
			"{\n": "bad-json",
			`{"id":"a"}` + "\n" + `{"id":"a"}` + "\n": "duplicate-id",
			"<<<<<<< ours\n": "conflict-marker",
			`{"id":"` + strings.Repeat("x", 256) + `"}` + "\n": "256 bytes; at most 255 are allowed",
		} {
			err := s.Fill(context.Background(), []byte(text), "", nil)
			if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		}
		if err := s.Fill(context.Background(), []byte(`{"id":"a"}`), "lamp", nil); err != nil {
			t.Fatal(err)
		}
		err := s.Fill(context.Background(), []byte(`{"id":"b"}`), "", nil)
		if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "not empty") {
			t.Error(err)
		}
		f, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if prefix, err := f.Prefix(); prefix != "lamp" || err != nil {
			t.Errorf("prefix %q, %v", prefix, err)
		}
	})
}
