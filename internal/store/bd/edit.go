package bd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
)

// Edit implements beads.Store. It reads bd's issues, never a file export, calls fn, checks that
// bd still has what was read, makes bd write, and reads again. Once bd has written something
// nothing starts over: the error is then a beads.ErrLost that says what is written and what is
// not. bd has no compare-and-swap except for claims: a value that another program writes while
// bd starts is overwritten.
func (s *store) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) (changes []beads.Change, err error) {
	if !s.bd.OnPath {
		return nil, absent(s.place, fault.Refused, "write")
	}
	if s.bd.Lock != nil && !o.DryRun {
		unlock, err := s.bd.Lock(ctx, s.place, cmp.Or(o.Wait, turn))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	return beads.Retry(ctx, s.place, func() ([]beads.Change, error) { return s.try(ctx, o, fn) })
}

// turn is how long a run waits for others on this machine: each write takes bd a second or two.
const turn = 2 * time.Minute

// try makes the edit on bd's current issues. The error is beads.ErrStale if another program
// wrote and nothing is written yet.
func (s *store) try(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	lines, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.snapshot(lines)
	if err != nil {
		return nil, err
	}
	tx, err := beads.Try(f, o, fn)
	if err != nil {
		return nil, err
	}
	changes := tx.Changes()
	if len(changes) == 0 {
		return nil, nil
	}
	steps, err := plan(s.place, changes)
	if err != nil || o.DryRun {
		return changes, err
	}
	if now, err := s.read(ctx); err != nil || !bytes.Equal(now, lines) {
		return nil, cmp.Or(err, beads.ErrStale)
	}
	failed := s.perform(ctx, steps)
	err = s.verify(ctx, lines, changes, failed)
	if err != nil && !errors.Is(err, beads.ErrLost) {
		return nil, err
	}
	return changes, err
}

// perform makes bd run the steps, until one fails.
func (s *store) perform(ctx context.Context, steps []step) error {
	for _, one := range steps {
		if one.actor == "" && s.bd.Actor != nil {
			one.actor = s.bd.Actor()
		}
		result, err := s.bd.run(ctx, s.place, one)
		if err != nil {
			return fmt.Errorf("bd %s: %w", one.argv[0], err)
		}
		if result.Exit != 0 {
			return fmt.Errorf("bd %s failed%s", one.argv[0], said(result))
		}
	}
	return nil
}

// verify reads again and reports which changes bd does not have, also for an interrupted edit;
// if nothing of that was written it returns the context's error.
func (s *store) verify(ctx context.Context, before []byte, changes []beads.Change, failed error) error {
	hint := "type bd show " + changes[0].ID + " to see its current values, then retry"
	lines, err := s.read(context.WithoutCancel(ctx))
	if err != nil {
		if failed != nil {
			err = fmt.Errorf("%w; %w", failed, err)
		}
		return &fault.Error{Code: fault.Changed, Path: dirOf(s.place), Reason: "bd was told to write, and it is unknown whether it did", Cause: err, Hint: hint}
	}
	lost, whole, err := missing(lines, changes)
	switch {
	case err != nil || lost == "":
		return err
	case failed == nil:
		return s.lost("bd reported success, but does not have: "+lost, hint)
	case !whole:
		return s.lost("a part of the edit is written, but not this: "+lost+"; "+failed.Error(), hint)
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case !bytes.Equal(lines, before):
		return beads.ErrStale // another program wrote, which may be why bd failed
	}
	return &fault.Error{Code: fault.Changed, Path: dirOf(s.place), Reason: "nothing was written; " + failed.Error(),
		Hint: "fix what bd reports, then retry; it takes bd 1.0 or later, and bd doctor checks its database"}
}

func (s *store) lost(reason, hint string) error {
	return &fault.Error{Code: fault.Changed, Path: dirOf(s.place), Reason: reason, Hint: hint, Err: beads.ErrLost}
}

// missing names the changes that the lines lack; whole reports whether every change is missing
// entirely.
func missing(lines []byte, changes []beads.Change) (lost string, whole bool, err error) {
	records := map[string]*beads.Record{}
	for line := range bytes.Lines(lines) {
		r, err := beads.ParseRecord(bytes.TrimRight(line, "\n"))
		if err != nil {
			continue // it has none of the changes
		}
		if id := r.Text(beads.ID); slices.ContainsFunc(changes, func(c beads.Change) bool { return c.ID == id }) {
			records[id] = r
		}
	}
	var names []string
	whole = true
	for _, c := range changes {
		now := records[c.ID]
		keys, err := c.Missing(now, notesHold)
		if err != nil {
			return "", false, err
		}
		keys = slices.DeleteFunc(keys, func(k beads.Key) bool { return slices.Contains(derived, k) })
		for _, k := range keys {
			names = append(names, c.ID+" "+string(k))
		}
		whole = whole && (now == nil || !holdsAny(c, keys))
	}
	return strings.Join(names, ", "), whole, nil
}

// holdsAny reports whether some changed key is not missing.
func holdsAny(c beads.Change, missing []beads.Key) bool {
	values, err := c.Values()
	return err != nil || slices.ContainsFunc(values, func(v beads.Value) bool {
		return !slices.Contains(derived, v.Key) && !slices.Contains(missing, v.Key)
	})
}
