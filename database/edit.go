package database

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"stig/beads"
	"stig/mysql"
)

// Edit implements beads.Store. It reads the store, calls fn, and puts what fn changed
// into the store in one transaction that compares each line with what was read. When
// somebody else changed one of them meanwhile it starts over on what is there now, for
// as long as o.Wait says; so fn may run many times.
func (s *Store) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(o.Wait, 30*time.Second))
	defer cancel()
	for {
		changes, err := s.try(limited, o, fn)
		if !again(err) {
			return changes, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-limited.Done():
			return nil, s.kept(err)
		case <-time.After(leastWait + rand.N(mostWait-leastWait)):
		}
	}
}

// What an edit that met another waits before it starts over.
const (
	leastWait = 50 * time.Millisecond
	mostWait  = 800 * time.Millisecond
)

// again reports whether an edit that ended so wrote nothing and is to start over.
func again(err error) bool {
	return errors.Is(err, beads.ErrStale) || mysql.Again(err) || mysql.Repeated(err)
}

// kept says that others kept an edit from being made.
func (s *Store) kept(err error) error {
	return &beads.ConflictError{Path: s.url, Reason: "others changed the same issues each time that it was tried: " + err.Error(),
		Hint: "let them finish and run the command again"}
}

// try makes one attempt.
func (s *Store) try(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	h, err := s.refresh(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := beads.Try(h.snapshot, o, fn)
	if err != nil {
		return nil, err
	}
	changes := tx.Changes()
	if o.DryRun || len(changes) == 0 {
		return changes, nil
	}
	e, err := newEdition(h, tx)
	if err != nil {
		return nil, err
	}
	db := s.DB()
	if err := s.put(ctx, db, e); err != nil {
		if !again(err) {
			err = s.explain(err)
		}
		return nil, err
	}
	return changes, nil
}
