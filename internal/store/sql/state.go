package sql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/clone"
	"stig/internal/store/mysql"
)

// State keeps what live state all machines have to see. It is the same one with each call.
func (s *Store) State() clone.Documents {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		s.state = &state{db: s.DB, explain: s.explain}
	}
	return s.state
}

// recentEvents bounds the edits among which Edited looks.
const recentEvents = 1000

// Edited gives how long ago each actor made their last edit, of the latest of all, by the
// clock of the server.
func (s *Store) Edited(ctx context.Context) (ago map[string]time.Duration, err error) {
	ago = map[string]time.Duration{}
	var actor string
	var age int64
	err = each(ctx, s.DB(), "SELECT actor, MIN(TIMESTAMPDIFF(MICROSECOND, at, UTC_TIMESTAMP(6))) FROM stig_events "+
		"WHERE version > (SELECT version FROM stig_meta WHERE one = 1) - ? GROUP BY actor", []any{recentEvents},
		func() { ago[actor] = max(time.Duration(age), 0) * time.Microsecond }, &actor, &age)
	return ago, s.explain(err)
}

// state keeps clone.Documents in the table stig_live: a row each, with a version that is
// drawn anew with each change, since a row that was removed may come back.
type state struct {
	db      func() *sql.DB
	explain func(error) error // has the place of the server first

	mu    sync.Mutex
	own   map[string]clone.Entry // as this process read or wrote them last: often nobody else does
	whole map[string]bool        // the folders of which own has all there is
	down  error                  // why the server could not be reached just now
}

const (
	// rest is for how long a server that could not be reached is not asked again, so that
	// a command that asks for several things waits once.
	rest = 5 * time.Second
	// mostOwn bounds the documents of which is remembered how they were.
	mostOwn = 256
)

// Load gives documents: one round trip.
func (s *state) Load(ctx context.Context, name string) (entries []clone.Entry, err error) {
	if err := s.isDown(); err != nil {
		return nil, err
	}
	err = repeat(ctx, func() error {
		entries, err = s.load(ctx, name)
		return err
	})
	if err == nil {
		s.learn(name, entries)
	}
	return entries, s.wrapped(err)
}

// Change edits documents: a round trip to read, unless this process knows how the one that is
// named was, and one to write a single document.
func (s *state) Change(ctx context.Context, name string, change func([]clone.Entry) ([]clone.Entry, bool, error)) error {
	if err := s.isDown(); err != nil {
		return err
	}
	if was, ok := s.remembered(name); ok {
		now, changed, err := change(slices.Clone(was))
		if err == nil && changed && s.swap(ctx, name, was, now) == nil {
			return nil
		} // else it is not as it was, or whatever is wrong is so once more
	}
	var refused error
	err := repeat(ctx, func() error {
		was, err := s.load(ctx, name)
		if err != nil {
			return err
		}
		now, changed, err := change(slices.Clone(was))
		if refused = err; err != nil || !changed {
			return nil
		}
		return s.swap(ctx, name, was, now)
	})
	return errors.Join(refused, s.wrapped(err))
}

// Prune implements clone.Documents.
func (s *state) Prune(ctx context.Context, folder string, age time.Duration) error {
	return s.wrapped(repeat(ctx, func() error {
		_, err := s.db().ExecContext(ctx, "DELETE FROM stig_live WHERE name >= ? AND name < ? AND TIMESTAMPDIFF(MICROSECOND, changed, UTC_TIMESTAMP(6)) > ?",
			folder, strings.TrimSuffix(folder, "/")+"0", age.Microseconds())
		return err
	}))
}

// errLost says that another changed a document meanwhile.
var errLost = errors.New("changed meanwhile")

// repeat calls try until it does not lose against others any more, or ctx ends, and once
// more where the connection died: what was written then may be there, and is met again.
func repeat(ctx context.Context, try func() error) error {
	died := false
	for wait := leastWait; ; wait = min(2*wait, mostWait) {
		err := try()
		switch {
		case err == nil:
			return nil
		case mysql.Gone(err) && !died:
			died = true
		case !errors.Is(err, errLost) && !mysql.Again(err) && !mysql.NoQuorum(err) && !mysql.Uncommitted(err):
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(rand.N(wait)):
		}
	}
}

func (s *state) load(ctx context.Context, name string) (entries []clone.Entry, err error) {
	const columns = "SELECT name, text, version, TIMESTAMPDIFF(MICROSECOND, changed, UTC_TIMESTAMP(6)) FROM stig_live "
	db := s.db()
	query, args := columns+"WHERE name = ?", []any{name}
	if folder, ok := strings.CutSuffix(name, "/"); ok {
		query, args = columns+"WHERE name >= ? AND name < ? ORDER BY name", []any{name, folder + "0"} // which follows the slash
	}
	read := func() error {
		var e clone.Entry
		var age int64
		return each(ctx, db, query, args, func() {
			e.Age = max(time.Duration(age), 1) * time.Microsecond
			entries = append(entries, e)
		}, &e.Name, &e.Text, &e.Version, &age)
	}
	if err = read(); mysql.Unknown(err) { // a new branch of Dolt lacks the table, which no commit holds
		if _, err := db.ExecContext(ctx, liveTable); err != nil {
			return nil, err
		}
		err = read()
	}
	return entries, err
}

// write is one statement that changes one document.
type write struct {
	entry clone.Entry // as it is then; with no text where it is gone
	query string
	args  []any
}

// swap puts now in the place of was, which it compares by version.
func (s *state) swap(ctx context.Context, name string, was, now []clone.Entry) error {
	writes := writesOf(was, now)
	s.forget(name)
	if len(writes) == 0 {
		return nil
	}
	var err error
	db := s.db()
	if len(writes) == 1 {
		err = writes[0].on(ctx, db)
	} else {
		err = allOn(ctx, db, writes)
	}
	for _, w := range writes {
		if err == nil {
			s.remember(w.entry)
		} else {
			s.forget(w.entry.Name)
		}
	}
	return err
}

// writesOf lists what makes now of was, in the order of the names, and gives the entries
// of now their versions.
func writesOf(was, now []clone.Entry) (writes []write) {
	before := map[string]clone.Entry{}
	for _, e := range was {
		before[e.Name] = e
	}
	for i := range now {
		e := &now[i]
		old, there := before[e.Name]
		delete(before, e.Name)
		if there && bytes.Equal(old.Text, e.Text) {
			continue
		}
		e.Version = rand.Int64()
		if there {
			writes = append(writes, write{*e, "UPDATE stig_live SET text = ?, version = ?, changed = UTC_TIMESTAMP(6) WHERE name = ? AND version = ?",
				[]any{e.Text, e.Version, e.Name, old.Version}})
		} else {
			writes = append(writes, write{*e, "INSERT INTO stig_live (name, text, version, changed) VALUES (?, ?, ?, UTC_TIMESTAMP(6))",
				[]any{e.Name, e.Text, e.Version}})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		writes = append(writes, write{clone.Entry{Name: name}, "DELETE FROM stig_live WHERE name = ? AND version = ?", []any{name, before[name].Version}})
	}
	return writes
}

// on performs a statement, which must find its document as it was.
func (w write) on(ctx context.Context, db execer) error {
	n, err := affected(db.ExecContext(ctx, w.query, w.args...))
	if mysql.Repeated(err) || err == nil && n != 1 {
		return errLost
	}
	return err
}

// allOn performs statements in one transaction.
func allOn(ctx context.Context, db *sql.DB, writes []write) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = transact(ctx, conn, func(tx execer) error {
		for _, w := range writes {
			if err := w.on(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// remembered gives the document of a name, none where there was none, as this process read or
// wrote it last. Comparing its version shows whether it is so still.
func (s *state) remembered(name string) (was []clone.Entry, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.own[name]
	if !ok {
		return nil, s.whole[folderOf(name)] && !strings.HasSuffix(name, "/")
	}
	e.Age = 1 // of how it was; who decides by the age refuses, and is asked again
	return []clone.Entry{e}, true
}

// learn remembers what was read.
func (s *state) learn(name string, entries []clone.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isFolder := strings.HasSuffix(name, "/")
	if s.own == nil || len(s.own)+len(entries) > mostOwn {
		s.own, s.whole = map[string]clone.Entry{}, map[string]bool{}
	}
	if len(entries) > mostOwn {
		return
	}
	maps.DeleteFunc(s.own, func(known string, _ clone.Entry) bool { return known == name || isFolder && folderOf(known) == name })
	for _, e := range entries {
		s.own[e.Name] = e
	}
	if isFolder {
		s.whole[name] = true
	}
}

// folderOf is what a name has up to its first slash.
func folderOf(name string) string {
	folder, _, _ := strings.Cut(name, "/")
	return folder + "/"
}

func (s *state) remember(e clone.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Text == nil {
		delete(s.own, e.Name)
		return
	}
	if s.own == nil || len(s.own) >= mostOwn {
		s.own, s.whole = map[string]clone.Entry{}, map[string]bool{}
	}
	s.own[e.Name] = e
}

// forget has a document be read before it is written again.
func (s *state) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.own, name)
	delete(s.whole, folderOf(name))
}

// isDown is why the server could not be reached just now; nil where it was, or was not
// asked.
func (s *state) isDown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// wrapped gives an error with the place of the server, and lets a server rest that could not
// be reached.
func (s *state) wrapped(err error) error {
	if err == nil || errors.Is(err, errLost) || mysql.Again(err) {
		return err
	}
	err = s.explain(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down == nil {
		s.down = err
		time.AfterFunc(rest, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.down = nil
		})
	}
	return err
}
