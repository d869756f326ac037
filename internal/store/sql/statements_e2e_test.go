//go:build e2e

package sql_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/store/mysql"
	sqlstore "stig/internal/store/sql"
	"stig/internal/testkit/servers"
)

var everyKind = flag.Bool("every-kind", false, "pause and isolate before each statement of each kind of edit, not of one")

// kindOfEdit makes edits that leave a mark in that many places.
type kindOfEdit struct {
	name   string
	places int
	edit   func(s *sqlstore.Store, mark string) error
}

// edits returns the edit function for what an edit does.
func edits(fn func(mark string) func(*beads.Tx) error) func(*sqlstore.Store, string) error {
	return func(s *sqlstore.Store, mark string) error {
		_, err := s.Edit(context.Background(), options(), fn(mark))
		return err
	}
}

// live writes the mark into two documents of live state.
func live(s *sqlstore.Store, mark string) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.Patience())
	defer cancel()
	return s.State().Change(ctx, []string{"kept/"}, func([]clone.Entry) ([]clone.Entry, bool, error) {
		return []clone.Entry{{Name: "kept/1", Text: []byte(mark)}, {Name: "kept/2", Text: []byte(mark)}}, true, nil
	})
}

// kindsOfEdit differ in the statements that they send.
var kindsOfEdit = []kindOfEdit{
	{"all at once", 5, edits(func(mark string) func(*beads.Tx) error {
		return func(tx *beads.Tx) error {
			return errors.Join(setNotes("d-1", mark)(tx), addComment("d-1", mark)(tx), addComment("d-2", mark)(tx), setNotes("d-3", mark)(tx),
				tx.PutBack("d-4", func(r *beads.Record) (*beads.Record, error) { // replaces all comments
					return r.PutRaw(beads.Comments, fmt.Appendf(nil, `[{"id":1,"author":"mara","text":%q}]`, mark))
				}))
		}
	})},
	{"live state", 2, live},
	{"a change", 1, edits(func(mark string) func(*beads.Tx) error { return setNotes("d-1", mark) })},
	{"a comment", 1, edits(func(mark string) func(*beads.Tx) error { return addComment("d-1", mark) })},
	{"a new issue that another waits for", 2, edits(func(mark string) func(*beads.Tx) error {
		return func(tx *beads.Tx) error {
			_, err := tx.Add(beads.New{ID: "d-" + mark, Title: "new", Status: "open"})
			return errors.Join(err, tx.AddRow("d-3", beads.Row{On: "d-" + mark, Type: "blocks"}))
		}
	})},
}

// kindsTried returns one kind for a short run, or all.
func kindsTried() []kindOfEdit {
	if *everyKind {
		return kindsOfEdit
	}
	return kindsOfEdit[:1]
}

// paused is a store that is used through a proxy.
type paused struct {
	proxy *proxy
	store *sqlstore.Store
}

// cluster is a store that is used through a proxy to the first node, and read on the second.
type cluster struct {
	paused
	t      *testing.T
	server *servers.Server
	direct mysql.Config
}

func newPaused(t *testing.T, c mysql.Config) paused {
	var text strings.Builder
	for n := range 4 {
		fmt.Fprintf(&text, `{"id":"d-%d","title":"a","notes":"","comments":[{"id":1,"author":"a","text":"first"}]}`+"\n", n+1)
	}
	create(t, c, text.String())
	p := newProxy(t, c)
	return paused{p, open(t, p.Config, "")}
}

func newCluster(t *testing.T) *cluster {
	s := servers.Need(t, servers.Galera)
	c := s.Database(t.Name())
	k := &cluster{t: t, paused: newPaused(t, c), server: s, direct: c}
	k.direct.Port = s.Nodes[1].Config.Port
	k.must(s.Settle())
	return k
}

// at runs an edit, and do before the edit's kth statement, from 1; it reports whether the edit
// sent that many. Statements after do are not counted.
func (k paused) at(n int, do func(), edit func(*sqlstore.Store, string) error, mark string) (reached bool, err error) {
	k.proxy.mu.Lock()
	k.proxy.statement = func([]byte) {
		if n--; n == 0 {
			reached = true
			do()
		}
	}
	k.proxy.mu.Unlock()
	err = edit(k.store, mark)
	k.proxy.mu.Lock()
	k.proxy.statement = nil
	k.proxy.mu.Unlock()
	return reached, err
}

// TestPaused has another program edit the same issues before each statement of an edit, unless
// it would have to wait for that edit. Both edits are made exactly once, and completely.
func TestPaused(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		k, another := newPaused(t, c), open(t, c, "")
		for _, kind := range kindsTried() {
			for n, more := 1, true; more; n++ {
				ours, theirs, done := newMark(), "their "+newMark(), make(chan error, 1)
				edit(t, k.store, setNotes("d-4", "before"))
				reached, err := k.at(n, func() {
					ended := make(chan struct{})
					go func() {
						defer close(ended)
						_, err := another.Edit(context.Background(), options(), func(tx *beads.Tx) error {
							return errors.Join(tx.Set("d-1", beads.Set{Key: beads.Title, Text: theirs}), tx.Set("d-3", beads.Set{Key: beads.Title, Text: theirs}), addComment("d-1", theirs)(tx))
						})
						done <- err
					}()
					select {
					case <-ended:
					case <-time.After(100 * time.Millisecond): // it waits for our edit
					}
				}, kind.edit, ours)
				if more = reached; reached {
					err = errors.Join(err, <-done)
				}
				if got := marks(t, another, ours); err != nil || got != kind.places {
					t.Errorf("%s, statement %d: in %d of %d places, %v", kind.name, n, got, kind.places, err)
				}
				if got := marks(t, another, theirs); reached && got != 3 {
					t.Errorf("%s, statement %d: the other edit is in %d of 3 places", kind.name, n, got)
				}
			}
		}
	})
}

func (k *cluster) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// count returns in how many places the store has a mark, read on the second node when it has
// applied everything.
func (k *cluster) count(mark string) int {
	k.t.Helper()
	k.must(k.server.Settle()) // a write would end a transaction that a node kept
	return marks(k.t, open(k.t, k.direct, ""), mark)
}

// marks returns in how many places a store and its live state have a mark.
func marks(t *testing.T, s *sqlstore.Store, mark string) int {
	t.Helper()
	entries, err := s.State().Load(t.Context(), "kept/")
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(t, s)
	for _, e := range entries {
		text += string(e.Text)
	}
	return strings.Count(text, mark)
}

// isUnknown reports whether an edit said that its outcome is unknown.
func isUnknown(err error) bool {
	return err != nil && strings.Contains(err.Error(), "whether the edit was written")
}

// TestIsolated isolates the node that an edit uses from its cluster before each statement. The
// edit's result is true; no half of it is visible, then or later; and the next edit on the same
// connections is made exactly once.
func TestIsolated(t *testing.T) {
	eachStatement(t, 2, func(k *cluster, n, places int, edition func(*sqlstore.Store, string) error) bool {
		mark := newMark()
		k.store.SetPatience(time.Second)
		reached, err := k.at(n, func() { k.must(k.server.Nodes[0].Isolate()) }, edition, mark)
		if !reached {
			k.must(err)
			return false
		}
		if _, err := k.store.Snapshot(); err == nil || !strings.Contains(err.Error(), "no quorum") {
			k.t.Errorf("reading on a node that is cut off: %v", err)
		}
		k.must(k.server.Nodes[0].Rejoin())
		made := k.count(mark)
		switch {
		case made != 0 && made != places:
			k.t.Errorf("in %d of %d places", made, places)
		case err == nil && made == 0:
			k.t.Error("acknowledged and not there")
		case err != nil && made > 0 && !isUnknown(err):
			k.t.Errorf("refused and there: %v", err)
		case err != nil && !(fault.Is(err, fault.Store) && strings.Contains(err.Error(), "no quorum") || isUnknown(err)):
			k.t.Error(err)
		}
		k.store.SetPatience(20 * time.Second)
		next := newMark()
		err = edition(k.store, next)
		for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); err = edition(k.store, next) {
			time.Sleep(100 * time.Millisecond) // live state does not ask a server again soon after it did not answer
		}
		k.must(err)
		if got := k.count(next); got != places {
			k.t.Errorf("the next edit is in %d of %d places", got, places)
		}
		if got := k.count(mark); got > made {
			k.t.Errorf("in %d places before the next edit, in %d after it", made, got)
		}
		return true
	})
}

// TestRejoined isolates the node before each statement, and lets it rejoin while the edit
// retries: the edit is made exactly once.
func TestRejoined(t *testing.T) {
	eachStatement(t, 3, func(k *cluster, n, places int, edition func(*sqlstore.Store, string) error) bool {
		mark, rejoined := newMark(), make(chan error, 1)
		reached, err := k.at(n, func() {
			k.must(k.server.Nodes[0].Isolate())
			go func() { rejoined <- k.server.Nodes[0].Rejoin() }()
		}, edition, mark)
		k.must(err)
		if !reached {
			return false
		}
		k.must(<-rejoined)
		if got := k.count(mark); got != places {
			k.t.Errorf("in %d of %d places", got, places)
		}
		return true
	})
}

// TestElsewhere isolates the first of the two nodes in a URL before each statement, and does
// not let it rejoin: the edit is made exactly once, on the other node, and so is the next.
func TestElsewhere(t *testing.T) {
	eachStatement(t, 3, func(k *cluster, n, places int, edition func(*sqlstore.Store, string) error) bool {
		mark, next, c := newMark(), newMark(), k.proxy.Config
		c.More = []mysql.Address{{Host: k.direct.Host, Port: k.direct.Port}}
		k.store = open(t, c, "")
		edit(k.t, k.store, setNotes("d-4", newMark()))
		reached, err := k.at(n, func() { k.must(k.server.Nodes[0].Isolate()) }, edition, mark)
		k.must(err)
		if reached {
			if got := marks(k.t, open(k.t, k.direct, ""), mark); got != places {
				k.t.Errorf("in %d of %d places", got, places)
			}
			k.must(edition(k.store, next))
			k.must(k.server.Nodes[0].Rejoin())
			if got := k.count(next); got != places {
				k.t.Errorf("the next edit is in %d of %d places", got, places)
			}
		}
		return reached
	})
}

// TestLagging has a reader reach a node that is behind the one it read before, as behind a load
// balancer. The reader gets an error, and reads again when the node has caught up.
func TestLagging(t *testing.T) {
	k := newCluster(t)
	late := k.server.Nodes[0].Config
	late.Database = k.direct.Database
	db := reach(t, late)
	conn, err := db.Conn(t.Context())
	k.must(err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "FLUSH TABLES WITH READ LOCK") // from now on it applies nothing
	k.must(err)
	mark, another := newMark(), open(t, k.direct, "")
	edit(t, another, setNotes("d-1", mark))
	k.proxy.moveTo(k.direct)
	reader := open(t, k.proxy.Config, t.TempDir())
	if !strings.Contains(textOf(t, reader), mark) {
		t.Error("the node on which it was written does not have it")
	}
	k.proxy.moveTo(late)
	reader.SetPatience(300 * time.Millisecond)
	if _, err := reader.Snapshot(); err == nil || !strings.Contains(err.Error(), "this server is behind") {
		t.Errorf("reading on a node that is behind: %v", err)
	}
	if _, err := reader.Edit(t.Context(), options(), setNotes("d-2", "x")); err == nil || !strings.Contains(err.Error(), "this server is behind") {
		t.Errorf("editing on a node that is behind: %v", err)
	}
	reader.SetPatience(20 * time.Second)
	time.AfterFunc(500*time.Millisecond, func() { _, _ = conn.ExecContext(context.Background(), "UNLOCK TABLES") })
	if !strings.Contains(textOf(t, reader), mark) {
		t.Error("it went back to what was there before")
	}
}

// newMark returns a text that occurs nowhere else.
func newMark() string { return fmt.Sprintf("x%dx", time.Now().UnixNano()) }

// eachStatement calls try with each statement of each kind of edit, from 1, until try returns
// false: the edit has no more statements. A short run tries every few statements of one kind.
func eachStatement(t *testing.T, step int, try func(k *cluster, n, places int, edition func(*sqlstore.Store, string) error) bool) {
	k := newCluster(t)
	if *everyKind {
		step = 1
	}
	for _, kind := range kindsTried() {
		for n, more := 1+step/2, true; more; n += step {
			edit(t, k.store, setNotes("d-4", newMark()))
			more = false // if it is not among the kinds of the run
			t.Run(fmt.Sprintf("%s/%d", kind.name, n), func(t *testing.T) {
				k.t = t
				more = try(k, n, kind.places, kind.edit) && !t.Failed()
			})
		}
	}
}
