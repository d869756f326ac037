// Package sql keeps a store on a server that speaks MySQL's protocol, for people who work
// on many machines. Each issue is a row that holds its line byte for byte, with a version
// that only grows; comments are rows of their own; every edit is one transaction that
// compares what it read with what is there.
//
// A Pool opens such stores: from the settings of a repository, with a login and password
// from the environment or from a file of the user that nobody else may read. It keeps the
// copy of the store in git current, and copies whole stores between files and servers. No
// error repeats a line of the file of passwords.
//
// Edits and readers of a few issues get an excerpt of the store (beads.Nearby). The package
// knows which rows lead to what an excerpt needs, and nothing else of the graph. It reads and
// writes the tables whose names begin with stig_ and no other. A user needs SELECT on them to read, and
// INSERT, UPDATE and DELETE besides to write; Create needs CREATE, and Migrate needs
// CREATE, ALTER and INDEX.
//
//	pool := &sql.Pool{Given: given, Cache: dir}
//	defer pool.Close()
//	store, err := pool.Open(place)
package sql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// Options is how a store is opened.
type Options struct {
	Config         mysql.Config
	Cache          string // a directory for copies of what was read; "" for none
	Actor, Command string // what is written into the table of events

	// Now measures Server.Latency, which is 0 without it.
	Now func() time.Time
}

// Store implements beads.Store.
type Store struct {
	place   beads.Place
	options Options
	url     string
	dial    func() *sql.DB
	hub     hub
	writers connections
	writing sync.Mutex // held by the one edit of this process that is being written

	patience time.Duration

	mu   sync.Mutex // of what follows
	held *held      // what was read last

	reaching sync.Mutex // of latest
	latest   reached

	state *state // live state; nil before it is asked for

	memo atomic.Pointer[beads.Memo] // see Remember
}

// Remember has what is found in lines kept in a memo from the next reading on.
func (s *Store) Remember(m *beads.Memo) {
	s.memo.Store(m)
}

// Open gives the store at a place. Nothing is dialled before the first use.
func Open(p beads.Place, o Options) *Store {
	return &Store{place: p, options: o, url: o.Config.URL(), patience: patience,
		dial: sync.OnceValue(func() *sql.DB { return dial(o.Config) })}
}

// Close ends the connections.
func (s *Store) Close() error { return s.DB().Close() }

// Place implements beads.Store.
func (s *Store) Place() beads.Place { return s.place }

// DB gives the connections. Errors come with the first use.
func (s *Store) DB() *sql.DB { return s.dial() }

// dial gives the connections, or some of which each use says why there cannot be any.
func dial(c mysql.Config) *sql.DB {
	db, err := mysql.Open(c)
	if err != nil {
		return sql.OpenDB(unable{err})
	}
	return db
}

// unable is a connector that only has an error.
type unable struct{ err error }

func (u unable) Connect(context.Context) (driver.Conn, error) { return nil, u.err }
func (u unable) Driver() driver.Driver                        { return nil }

// explain says of an error where it happened and what to do about it. Faults that say
// so stay what they are.
func (s *Store) explain(err error) error { return explain(s.options.Config, err) }

func explain(c mysql.Config, err error) error {
	if err == nil || isOurs(err) {
		return err
	}
	e, ok := errors.AsType[*fault.Error](mysql.Explain(c, err))
	if !ok {
		return err
	}
	if mysql.Denied(err) {
		return &fault.Error{Code: fault.Refused, Path: e.ID, Reason: e.Reason, Hint: e.Hint}
	}
	return &fault.Error{Code: fault.Store, Path: e.ID, Reason: e.Reason, Hint: e.Hint}
}

// isOurs reports whether an error says already where it happened.
func isOurs(err error) bool {
	return fault.Is(err, fault.Store) || fault.Is(err, fault.Refused) || fault.Is(err, fault.Changed) ||
		errors.Is(err, beads.ErrStale) || errors.Is(err, context.Canceled)
}
