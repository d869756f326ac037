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
	"stig/internal/fault"
	"stig/internal/store/mysql"
	sqlstore "stig/internal/store/sql"
	"stig/internal/testkit/servers"
)

var isolations = flag.Bool("isolations", false, "isolate a node before each statement of each kind of edit, not of one")

// kindsOfEdit are edits that leave a mark in so many places: all of them or none.
var kindsOfEdit = []struct {
	name   string
	places int
	edit   func(mark string) func(*beads.Tx) error
}{
	{"all at once", 5, func(mark string) func(*beads.Tx) error {
		return func(tx *beads.Tx) error {
			return errors.Join(setNotes("d-1", mark)(tx), addComment("d-1", mark)(tx), addComment("d-2", mark)(tx), setNotes("d-3", mark)(tx),
				tx.PutBack("d-4", func(r *beads.Record) (*beads.Record, error) { // in the place of all comments
					return r.PutRaw(beads.Comments, fmt.Appendf(nil, `[{"id":1,"author":"mara","text":%q}]`, mark))
				}))
		}
	}},
	{"a change", 1, func(mark string) func(*beads.Tx) error { return setNotes("d-1", mark) }},
	{"a comment", 1, func(mark string) func(*beads.Tx) error { return addComment("d-1", mark) }},
	{"a new issue that another waits for", 2, func(mark string) func(*beads.Tx) error {
		return func(tx *beads.Tx) error {
			_, err := tx.Add(beads.New{ID: "d-" + mark, Title: "new", Status: "open"})
			return errors.Join(err, tx.AddRow("d-3", beads.Row{On: "d-" + mark, Type: "blocks"}))
		}
	}},
}

// cluster is a store that is used through a proxy to the first node, and read on the second.
type cluster struct {
	t      *testing.T
	nodes  []*servers.Server
	proxy  *proxy
	store  *sqlstore.Store
	direct mysql.Config
}

func newCluster(t *testing.T) *cluster {
	s := servers.Need(t, servers.Galera)
	c := s.Database(t.Name())
	var text strings.Builder
	for n := range 4 {
		fmt.Fprintf(&text, `{"id":"d-%d","title":"a","notes":"","comments":[{"id":1,"author":"a","text":"first"}]}`+"\n", n+1)
	}
	create(t, c, text.String())
	k := &cluster{t: t, nodes: s.Nodes, proxy: newProxy(t, c), direct: c}
	k.direct.Port = s.Nodes[1].Config.Port
	exec(t, reach(t, k.direct), "SET STATEMENT wsrep_sync_wait = 15 FOR SELECT 1") // until it is there
	k.store = open(t, k.proxy.Config, "")
	return k
}

// at runs an edit, and do before its kth statement, from 1 on; it reports whether it came so
// far. Statements that follow are not counted.
func (k *cluster) at(n int, do func(), edit func(*beads.Tx) error) (reached bool, err error) {
	k.proxy.mu.Lock()
	k.proxy.statement = func([]byte) {
		if n--; n == 0 {
			reached = true
			do()
		}
	}
	k.proxy.mu.Unlock()
	_, err = k.store.Edit(context.Background(), options(), edit)
	k.proxy.mu.Lock()
	k.proxy.statement = nil
	k.proxy.mu.Unlock()
	return reached, err
}

func (k *cluster) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// count is in how many places the store holds a mark, as the second node says when it has all.
func (k *cluster) count(mark string) int {
	k.t.Helper()
	s := open(k.t, k.direct, "")
	edit(k.t, s, setNotes("d-2", "counted at "+newMark())) // on that node all that came before is there then
	return strings.Count(textOf(k.t, s), mark)
}

// isUnknown reports whether an edit said that it may or may not have been made.
func isUnknown(err error) bool {
	return err != nil && strings.Contains(err.Error(), "whether it was written")
}

// TestIsolated cuts the node that an edit uses off from its cluster before each statement.
// What the edit says is true; nothing is there by half, or comes later; and the next edit
// on the same connections is made once.
func TestIsolated(t *testing.T) {
	eachStatement(t, func(k *cluster, n, places int, edition func(string) func(*beads.Tx) error) bool {
		mark := newMark()
		k.store.SetPatience(time.Second)
		reached, err := k.at(n, func() { k.must(k.nodes[0].Isolate()) }, edition(mark))
		if !reached {
			k.must(err)
			return false
		}
		if _, err := k.store.Snapshot(); err == nil || !strings.Contains(err.Error(), "no quorum") {
			k.t.Errorf("reading on a node that is cut off: %v", err)
		}
		k.must(k.nodes[0].Rejoin())
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
		edit(k.t, k.store, edition(next))
		if got := k.count(next); got != places {
			k.t.Errorf("the next edit is in %d of %d places", got, places)
		}
		if got := k.count(mark); got > made {
			k.t.Errorf("in %d places before the next edit, in %d after it", made, got)
		}
		return true
	})
}

// TestRejoined cuts the node off before each statement, and lets it rejoin while the edit
// starts over: it is made once.
func TestRejoined(t *testing.T) {
	eachStatement(t, func(k *cluster, n, places int, edition func(string) func(*beads.Tx) error) bool {
		mark, rejoined := newMark(), make(chan error, 1)
		reached, err := k.at(n, func() {
			k.must(k.nodes[0].Isolate())
			go func() { rejoined <- k.nodes[0].Rejoin() }()
		}, edition(mark))
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

// TestLagging has a reader go to a node that is behind the one which it read before, as it may
// where something stands before the nodes. It is told so, and reads on when the node has caught up.
func TestLagging(t *testing.T) {
	k := newCluster(t)
	late := k.nodes[0].Config
	late.Database = k.direct.Database
	db := reach(t, late)
	conn, err := db.Conn(t.Context())
	k.must(err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "FLUSH TABLES WITH READ LOCK") // from now on it takes over nothing
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

// newMark is a text that stands nowhere else.
func newMark() string { return fmt.Sprintf("x%dx", time.Now().UnixNano()) }

// eachStatement calls try with each statement of each kind of edit, from 1 on, until it
// gives false: the edit has no more.
func eachStatement(t *testing.T, try func(k *cluster, n, places int, edition func(string) func(*beads.Tx) error) bool) {
	k := newCluster(t)
	for _, kind := range kindsOfEdit {
		for n, more := 1, true; more; n++ {
			edit(t, k.store, setNotes("d-4", "before"))
			t.Run(fmt.Sprintf("%s/%d", kind.name, n), func(t *testing.T) {
				k.t = t
				more = try(k, n, kind.places, kind.edit) && !t.Failed()
			})
		}
		if !*isolations {
			return
		}
	}
}
