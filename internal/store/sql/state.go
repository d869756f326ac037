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

// State returns the live state that all machines share. Each call returns the same one.
func (s *Store) State() clone.Documents {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil {
		s.state = &state{db: s.DB, explain: s.explain, own: map[string]clone.Entry{}}
	}
	return s.state
}

// recentEvents is the number of edits that Edited reads.
const recentEvents = 1000

// Edited returns how long ago each actor made their last edit, by the server's clock. It
// reads the latest edits of the store.
func (s *Store) Edited(ctx context.Context) (ago map[string]time.Duration, err error) {
	ago = map[string]time.Duration{}
	var actor string
	var age int64
	err = each(ctx, s.DB(), "SELECT actor, MIN(TIMESTAMPDIFF(MICROSECOND, at, UTC_TIMESTAMP(6))) FROM stig_events "+
		"WHERE version > (SELECT version FROM stig_meta WHERE one = 1) - ? GROUP BY actor", []any{recentEvents},
		func() { ago[actor] = max(time.Duration(age), 0) * time.Microsecond }, &actor, &age)
	return ago, s.explain(err)
}

// state implements clone.Documents with the table stig_live, one row per document. Each change
// sets a new random version, since a removed row may be created again.
type state struct {
	db      func() *sql.DB
	explain func(error) error // adds the location of the server

	mu   sync.Mutex
	own  map[string]clone.Entry // as this process last read or wrote them; without text if there was none
	down error                  // why the server was unreachable within the last rest
}

const (
	// rest is how long an unreachable server is not asked again, so that a command with
	// several questions waits once.
	rest = 5 * time.Second
	// mostOwn is about how many documents a process remembers.
	mostOwn = 256
)

// Load implements clone.Documents, in one round trip.
func (s *state) Load(ctx context.Context, names ...string) ([]clone.Entry, error) {
	return s.read(ctx, names, false)
}

// Ended implements clone.Documents, in one round trip.
func (s *state) Ended(ctx context.Context, names ...string) ([]clone.Entry, error) {
	return s.read(ctx, names, true)
}

// read returns the documents of names, if ended also the expired ones, and remembers them.
func (s *state) read(ctx context.Context, names []string, ended bool) (entries []clone.Entry, err error) {
	if err := s.isDown(); err != nil {
		return nil, err
	}
	err = repeat(ctx, func() error {
		entries, err = s.load(ctx, names, ended)
		return err
	})
	if err == nil && !slices.ContainsFunc(names, isFolder) {
		s.remember(names, entries)
	}
	return entries, s.wrapped(err)
}

// Change implements clone.Documents. It takes one round trip to write a single document, and
// another one to read the documents unless this process remembers them.
func (s *state) Change(ctx context.Context, names []string, change func([]clone.Entry) ([]clone.Entry, bool, error)) error {
	if err := s.isDown(); err != nil {
		return err
	}
	if was, ok := s.remembered(names); ok {
		now, changed, err := change(slices.Clone(was))
		if err == nil && changed && s.swap(ctx, was, now) == nil {
			return nil
		} // else read the documents: they may have changed
	}
	var refused error
	err := repeat(ctx, func() error {
		was, err := s.load(ctx, names, false)
		if err != nil {
			return err
		}
		now, changed, err := change(slices.Clone(was))
		if refused = err; err != nil || !changed {
			return nil
		}
		return s.swap(ctx, was, now)
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

// errLost means that a document changed between its read and its write.
var errLost = errors.New("changed meanwhile")

// repeat calls try until it no longer conflicts with other writers, or ctx ends. It retries
// once after a lost connection: try then reads what was written before the loss.
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

// load returns the documents of names, if ended also the expired ones, sorted by name. Each
// condition is a query of its own, so that each uses its index.
func (s *state) load(ctx context.Context, names []string, ended bool) (entries []clone.Entry, err error) {
	var queries []string
	var args, exact []any
	ask := func(condition string, of ...any) {
		queries = append(queries, "SELECT name, text, version, TIMESTAMPDIFF(MICROSECOND, changed, UTC_TIMESTAMP(6)) FROM stig_live WHERE "+condition)
		args = append(args, of...)
	}
	if ended {
		ask("ends <= UTC_TIMESTAMP(6)")
	}
	for _, name := range names {
		if isFolder(name) {
			ask("name >= ? AND name < ?", name, strings.TrimSuffix(name, "/")+"0") // 0 follows the slash
		} else {
			exact = append(exact, name)
		}
	}
	if len(exact) > 0 {
		ask("name IN (?"+strings.Repeat(", ?", len(exact)-1)+")", exact...)
	}
	db := s.db()
	read := func() error {
		var e clone.Entry
		var age int64
		return each(ctx, db, strings.Join(queries, " UNION ALL "), args, func() {
			e.Age = max(time.Duration(age), 1) * time.Microsecond
			entries = append(entries, e)
		}, &e.Name, &e.Text, &e.Version, &age)
	}
	if err = read(); mysql.Unknown(err) { // a new branch of Dolt lacks the table, which is never committed
		if _, err := db.ExecContext(ctx, liveTable); err != nil {
			return nil, err
		}
		err = read()
	}
	slices.SortFunc(entries, func(a, b clone.Entry) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(entries, func(a, b clone.Entry) bool { return a.Name == b.Name }), err
}

// isFolder reports whether a name is a prefix of documents, not one document.
func isFolder(name string) bool { return strings.HasSuffix(name, "/") }

// write is one statement that changes one document.
type write struct {
	entry clone.Entry // as written; without text if it is removed
	query string
	args  []any
}

// swap replaces was by now. It returns errLost if the version of a document is not that of was.
func (s *state) swap(ctx context.Context, was, now []clone.Entry) (err error) {
	writes := writesOf(was, now)
	if len(writes) == 1 {
		err = writes[0].on(ctx, s.db())
	} else {
		err = allOn(ctx, s.db(), writes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range writes {
		if s.own[w.entry.Name] = w.entry; err != nil {
			delete(s.own, w.entry.Name)
		}
	}
	return err
}

// writesOf returns the statements that turn was into now, and sets the versions of now.
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
		lasts := sql.NullInt64{Int64: e.Lasts().Microseconds(), Valid: e.Lasts() > 0}
		if there {
			writes = append(writes, write{*e, "UPDATE stig_live SET text = ?, version = ?, changed = UTC_TIMESTAMP(6), ends = " + endsAfter + " WHERE name = ? AND version = ?",
				[]any{e.Text, e.Version, lasts, e.Name, old.Version}})
		} else {
			writes = append(writes, write{*e, "INSERT INTO stig_live (name, text, version, changed, ends) VALUES (?, ?, ?, UTC_TIMESTAMP(6), " + endsAfter + ")",
				[]any{e.Name, e.Text, e.Version, lasts}})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		writes = append(writes, write{clone.Entry{Name: name}, "DELETE FROM stig_live WHERE name = ? AND version = ?", []any{name, before[name].Version}})
	}
	return writes
}

// endsAfter is the time at which a document written now expires.
const endsAfter = "TIMESTAMPADD(MICROSECOND, ?, UTC_TIMESTAMP(6))"

// on executes the statement. It returns errLost if the document is not as it was.
func (w write) on(ctx context.Context, db execer) error {
	n, err := affected(db.ExecContext(ctx, w.query, w.args...))
	if mysql.Repeated(err) || err == nil && n != 1 {
		return errLost
	}
	return err
}

// allOn executes statements in one transaction.
func allOn(ctx context.Context, db *sql.DB, writes []write) error {
	if len(writes) == 0 {
		return nil
	}
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

// remembered returns documents as this process last read or wrote them; ok is false unless all
// are remembered. Their versions show whether they are still the same.
func (s *state) remembered(names []string) (was []clone.Entry, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		e, ok := s.own[name]
		if !ok {
			return nil, false
		}
		if e.Text != nil {
			e.Age = 1 // the real age is greater; who refuses because of it is asked again
			was = append(was, e)
		}
	}
	return was, true
}

// remember stores documents. Those of names that are not among entries do not exist.
func (s *state) remember(names []string, entries []clone.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.own) > mostOwn {
		clear(s.own)
	}
	for _, name := range names {
		s.own[name] = clone.Entry{Name: name}
	}
	for _, e := range entries {
		s.own[e.Name] = e
	}
}

// liveStep brings the table of live state to version 2 of the tables. It may be repeated after an
// interruption.
func liveStep(ctx context.Context, db *sql.DB) error {
	s := state{db: func() *sql.DB { return db }}
	claims, err := s.load(ctx, []string{"claim/"}, false) // creates a missing table
	if err != nil {
		return err
	}
	err = addColumns(ctx, db, "stig_live", "ends DATETIME(6) NULL, KEY stig_live_ends (ends)")
	for _, e := range claims {
		if err == nil && e.Lasts() > 0 {
			_, err = db.ExecContext(ctx, "UPDATE stig_live SET ends = TIMESTAMPADD(MICROSECOND, ?, changed) WHERE name = ? AND version = ?", e.Lasts().Microseconds(), e.Name, e.Version)
		}
	}
	return err
}

// isDown returns why the server was unreachable within the last rest, or nil.
func (s *state) isDown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// wrapped adds the location of the server to an error. If the server is unreachable, it is not
// asked again for rest.
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
