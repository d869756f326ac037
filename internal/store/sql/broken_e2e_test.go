//go:build e2e

package sql_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
	"stig/internal/testkit/servers"
)

// TestRoundTrips counts the statements of a store: 1 for an unchanged store, 1 for a changed
// one, and at most 7 from BEGIN to COMMIT.
func TestRoundTrips(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		create(t, c, `{"id":"d-1","title":"a","comments":[{"id":1,"author":"a","text":"b"}]}`+"\n"+`{"id":"d-2","title":"b"}`+"\n")
		p := newProxy(t, c)
		s := open(t, p.Config, t.TempDir())
		textOf(t, s)
		check := func(name string, most int, do func()) {
			t.Helper()
			var text []string
			p.statement = func(b []byte) {
				if !bytes.Contains(b, []byte("_LOCK(")) { // on Dolt, edits take turns before they begin
					text = append(text, fmt.Sprintf("%.60q", b[1:]))
				}
			}
			if p.count(do); len(text) > most {
				t.Errorf("%s: asked %d times, want %d at most:\n%s", name, len(text), most, strings.Join(text, "\n"))
			}
		}
		check("an unchanged store", 1, func() { textOf(t, s) })
		check("the first edit", 1+1+6, func() { edit(t, s, setNotes("d-1", "a")) })
		check("a changed store", 1, func() { textOf(t, s) })
		check("a change", 1+5, func() { edit(t, s, setNotes("d-1", "b")) })
		check("a comment", 1+6, func() { edit(t, s, addComment("d-1", "b")) })
		check("a first comment", 1+6, func() { edit(t, s, addComment("d-2", "b")) })
		check("a new issue", 1+5, func() { edit(t, s, add("d-3")) })
		check("a new issue that another one waits for", 1+7, func() {
			edit(t, s, func(tx *beads.Tx) error {
				return errors.Join(add("d-4")(tx), tx.AddRow("d-1", beads.Row{On: "d-4", Type: "blocks"}))
			})
		})
		check("many issues", 1+6, func() {
			edit(t, s, func(tx *beads.Tx) error {
				for _, is := range tx.Snapshot().All() {
					if err := errors.Join(setNotes(is.ID, "x")(tx), addComment(is.ID, "many")(tx)); err != nil {
						return err
					}
				}
				return nil
			})
		})
	})
}

// TestCut cuts the connection at many points of an edit. Each edit is still made exactly once.
func TestCut(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s := create(t, c, `{"id":"d-1","title":"a","comments":[{"id":1,"author":"a","text":"first"}]}`+"\n")
		p := newProxy(t, c)
		through := open(t, p.Config, "")
		edit(t, through, addComment("d-1", "before"))
		up, down := p.count(func() { edit(t, through, addComment("d-1", "measured")) })
		for n := range 40 {
			if n%2 == 0 {
				p.cutAfter(up*n/40, -1)
			} else {
				p.cutAfter(-1, down*n/40)
			}
			edit(t, through, addComment("d-1", fmt.Sprintf("cut %d.", n)))
			if p.cuts != 1 {
				t.Errorf("at %d of %d, %d: %d cuts", n, up, down, p.cuts)
			}
			p.cutAfter(-1, -1)
		}
		text := textOf(t, s)
		for n := range 40 {
			if strings.Count(text, fmt.Sprintf("cut %d.", n)) != 1 {
				t.Errorf("cut %d: not once in\n%s", n, text)
			}
		}
		var events int
		if err := reach(t, c).QueryRow("SELECT COUNT(*) FROM stig_events WHERE issue = 'd-1'").Scan(&events); err != nil || events != 42 {
			t.Errorf("%d events, %v", events, err)
		}
	})
}

// TestOtherHosts: stig encrypts the connection to another machine, or refuses to connect.
func TestOtherHosts(t *testing.T) {
	s := servers.Need(t, servers.MariaDB) // without certificates the server has no TLS
	c := s.Database(t.Name())
	create(t, c, `{"id":"d-1"}`+"\n")
	p := newProxy(t, c)
	other := p.listen(t, notLoopback(t))
	if _, err := open(t, other, "").Snapshot(); err == nil || !strings.Contains(err.Error(), "the server has no TLS") {
		t.Error(err)
	}
	if other.Plain = true; textOf(t, open(t, other, "")) != `{"id":"d-1"}`+"\n" {
		t.Error("differs")
	}
}

// notLoopback returns an address at which this machine counts as another host.
func notLoopback(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && !ip.IsLoopback() && ip.To4() != nil {
			return ip.String()
		}
	}
	t.Fatal("this machine has only loopback addresses; give it another one")
	return ""
}

// TestCompressed: the first read from another machine is compressed if the server supports it;
// later reads of changes are not.
func TestCompressed(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		want := large(2000)
		s, p := create(t, c, want), newProxy(t, c)
		other := p.listen(t, notLoopback(t))
		other.Plain = true
		far := open(t, other, t.TempDir())
		_, all := p.count(func() { textOf(t, far) })
		if compressed := all < len(want)/3; compressed == strings.HasPrefix(t.Name(), "TestCompressed/dolt") {
			t.Errorf("%d bytes of text are %d on the wire", len(want), all)
		}
		edit(t, s, setNotes("d-000001", strings.Repeat("m", 10_000)))
		_, one := p.count(func() { want = textOf(t, far) })
		if one < 10_000 || want != textOf(t, s) {
			t.Errorf("one line is %d bytes on the wire", one)
		}
		if _, near := p.count(func() { textOf(t, open(t, p.Config, "")) }); near < len(want) {
			t.Errorf("%d bytes from this machine", near)
		}
	})
}

// TestUnknown: if the connection is lost during COMMIT and the server cannot be asked, the edit
// returns an error that says so. It does not retry, unlike after a lost swap.
func TestUnknown(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		another := create(t, c, `{"id":"d-1","title":"a"}`+"\n")
		p := newProxy(t, c)
		s := open(t, p.Config, "")
		s.SetPatience(time.Second)
		edit(t, s, setNotes("d-1", "before"))
		p.mu.Lock()
		p.statement = func(text []byte) {
			if bytes.HasPrefix(text[1:], []byte("COMMIT")) { // the answer never arrives
				p.cutDown, p.afterCut = p.down, true
			}
		}
		p.mu.Unlock()
		runs, o := 0, options()
		o.Wait = 10 * time.Second // longer than the edit asks for its outcome
		_, err := s.Edit(context.Background(), o, func(tx *beads.Tx) error {
			if runs++; runs == 1 {
				edit(t, another, setNotes("d-1", "theirs"))
			}
			return setNotes("d-1", "after")(tx)
		})
		if runs != 2 || !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "whether the edit was written") || !strings.HasPrefix(err.Error(), "mysql://") {
			t.Error(err)
		}
		_, err = s.Snapshot()
		if !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "does not answer") {
			t.Error(err)
		}
		p.mu.Lock()
		p.refuses, p.statement = false, nil
		p.mu.Unlock()
		if !strings.Contains(textOf(t, s), `"after"`) {
			t.Error("what the server committed is not there")
		}
	})
}

// TestKilled kills the connection of an edit that waits for its turn.
func TestKilled(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		s, db := create(t, c, `{"id":"d-1","title":"a"}`+"\n"), reach(t, c)
		server, err := s.Server(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if server.Kind == "dolt" {
			return // edits on Dolt do not wait there
		}
		hold, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hold.Exec("UPDATE stig_meta SET turn = 'held'"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := s.Edit(context.Background(), options(), setNotes("d-1", "after"))
			done <- err
		}()
		id := 0
		for start := time.Now(); id == 0 && time.Since(start) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
			_ = db.QueryRow("SELECT id FROM information_schema.processlist WHERE db = ? AND info LIKE 'UPDATE stig_meta SET version%'", c.Database).Scan(&id)
		}
		exec(t, db, "KILL ?", id)
		if err := hold.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if text := textOf(t, s); !strings.Contains(text, `"after"`) {
			t.Error(text)
		}
	})
}
