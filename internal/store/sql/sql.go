// Package sql keeps a store on a server that speaks MySQL's protocol, for people who work on
// many machines. Each issue is a row that contains its line byte for byte, with a version that
// only grows. Comments have rows of their own. Every edit is one transaction that compares what
// it read with what is there.
//
// A Pool opens such stores: it takes the settings from a repository, and user and password from
// the environment or from a file that only the user may read. The package also updates the copy
// of the store in git, and copies whole stores between files and servers. No error quotes a
// line of the credentials file.
//
// Edits, and readers of a few issues, read an excerpt of the store (beads.Nearby). The package
// knows which rows lead to the issues of an excerpt; it knows nothing else about the graph. It
// reads and writes only the tables whose names begin with stig_. A user needs SELECT on them to
// read, and also INSERT, UPDATE and DELETE to write. Create needs CREATE; Migrate needs CREATE,
// ALTER and INDEX.
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

// Options configure a store.
type Options struct {
	Config         mysql.Config
	Cache          string // directory for local copies; "" for none
	Actor, Command string // written into the table of events

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
	writing sync.Mutex // held while this process writes an edit: one at a time

	patience time.Duration

	mu   sync.Mutex // of the fields below
	held *held      // what was read last

	reaching sync.Mutex // of latest
	latest   reached

	state *state // live state; nil before its first use

	memo atomic.Pointer[beads.Memo] // see Remember
}

// Remember makes later reads keep what they parse of lines in a memo.
func (s *Store) Remember(m *beads.Memo) {
	s.memo.Store(m)
}

// Open returns the store at a place. It does not connect before the first use.
func Open(p beads.Place, o Options) *Store {
	return &Store{place: p, options: o, url: o.Config.URL(), patience: patience,
		dial: sync.OnceValue(func() *sql.DB { return dial(o.Config) })}
}

// Close closes the connections.
func (s *Store) Close() error { return s.DB().Close() }

// Place implements beads.Store.
func (s *Store) Place() beads.Place { return s.place }

// DB returns the pool of connections. Errors come with the first use.
func (s *Store) DB() *sql.DB { return s.dial() }

// dial returns the pool of connections; if it cannot be opened, each use of the pool returns
// the error.
func dial(c mysql.Config) *sql.DB {
	db, err := mysql.Open(c)
	if err != nil {
		return sql.OpenDB(unable{err})
	}
	return db
}

// unable is a connector that always returns an error.
type unable struct{ err error }

func (u unable) Connect(context.Context) (driver.Conn, error) { return nil, u.err }
func (u unable) Driver() driver.Driver                        { return nil }

// explain adds the location and a hint to an error, unless it is a fault that has both.
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

// isOurs reports whether an error already says where it happened.
func isOurs(err error) bool {
	return fault.Is(err, fault.Store) || fault.Is(err, fault.Refused) || fault.Is(err, fault.Changed) ||
		errors.Is(err, beads.ErrStale) || errors.Is(err, context.Canceled)
}
