package sql

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// Edit implements beads.Store. It reads the store, calls fn, and writes fn's changes in one
// transaction that compares each line with what was read. If somebody changed one of them
// meanwhile, or the connection was lost, Edit retries with the current state for at most
// o.Wait; fn may run many times.
func (s *Store) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	for n := 0; ; n++ {
		e, changes, err := s.try(ctx, o, fn)
		for more, ok := errors.AsType[exceeded](err); ok; more, ok = errors.AsType[exceeded](err) {
			o.Scope = more.scope
			e, changes, err = s.try(ctx, o, fn)
		}
		if err == nil && e == nil {
			return changes, nil
		}
		if n == 0 { // the first read of the store does not count
			defer time.AfterFunc(cmp.Or(o.Wait, s.patience), cancel).Stop()
		}
		if err == nil {
			err = s.put(limited, e)
		}
		if o, ok := err.(theirs); ok {
			return nil, o.err
		}
		switch {
		case err == nil:
			return changes, nil
		case fault.Is(err, fault.Store): // includes the unknown outcome, whatever that error wraps
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case limited.Err() != nil:
			return nil, s.crowded(err)
		case !again(err) && (n == 0 || !mysql.Gone(err)):
			return nil, s.explain(err)
		}
		select {
		case <-limited.Done():
		case <-time.After(pause(n, err)):
		}
	}
}

const (
	// patience is how long an edit retries, and how long it asks for its outcome.
	patience = 30 * time.Second
	// The minimum and maximum back-off of an edit that conflicted with another.
	leastWait = 50 * time.Millisecond
	mostWait  = 800 * time.Millisecond
)

// pause returns the back-off before the nth retry, from 0. An edit whose swap failed may retry
// at once, because the other edit is complete.
func pause(n int, err error) time.Duration {
	within := min(leastWait<<min(n, 8), mostWait)
	if errors.Is(err, beads.ErrStale) {
		return rand.N(within)
	}
	return leastWait + rand.N(within)
}

// theirs is an error of fn, which the store returns unchanged.
type theirs struct{ err error }

func (t theirs) Error() string { return t.err.Error() }

// errBroken means that the connection was lost before the edit was committed.
var errBroken = errors.New("connection lost; nothing was written")

// again reports whether an edit with this error wrote nothing and is to be retried.
func again(err error) bool {
	return errors.Is(err, beads.ErrStale) || errors.Is(err, errBroken) || mysql.Again(err) || mysql.NoQuorum(err) || mysql.Repeated(err)
}

// crowded returns the error of an edit that timed out.
func (s *Store) crowded(err error) error {
	if errors.Is(err, errBroken) || mysql.Gone(err) {
		return s.explain(err)
	}
	return &fault.Error{Code: fault.Changed, Path: s.url, Reason: "timed out; others kept writing to the store", Hint: "retry when they are done"}
}

// exceeded returns the error of an edit that needs more than the excerpt it read.
type exceeded struct{ scope beads.Scope }

func (exceeded) Error() string { return "an excerpt of the store is not enough" }

// try makes one attempt, and returns what is to be written; nil for nothing.
func (s *Store) try(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) (*edition, []beads.Change, error) {
	r, err := s.near(ctx, o.Scope)
	if err != nil {
		return nil, nil, err
	}
	tx, err := beads.Try(r.snapshot, o, fn)
	if more, ok := r.snapshot.Exceeded(); ok {
		return nil, nil, exceeded{more}
	}
	switch {
	case err == beads.ErrStale:
		return nil, nil, err
	case err != nil:
		return nil, nil, theirs{err}
	}
	changes := tx.Changes()
	if o.DryRun || len(changes) == 0 {
		return nil, changes, nil
	}
	e, err := newEdition(r, tx)
	if err == nil {
		e.actor, e.command = cmp.Or(o.Actor, s.options.Actor), cmp.Or(o.Command, s.options.Command)
		err = s.fits(ctx, e)
	}
	return e, changes, err
}
