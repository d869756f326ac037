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

	"stig/beads"
	"stig/fault"
	"stig/process"
)

// Edit implements beads.Store. It reads the database, calls fn, looks that the database
// is still what was read, has bd write, and reads the database again. What fn reads is
// never an export. Once bd began to write, nothing starts over: the error is then a
// beads.ErrLost that says what is written and what is not.
func (s *dolt) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) (changes []beads.Change, err error) {
	if err := s.refuseWithout(); err != nil {
		return nil, err
	}
	if s.bd.Lock != nil && !o.DryRun {
		unlock, err := s.bd.Lock(ctx, s.place, cmp.Or(o.Wait, turn))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	defer db.close()
	return beads.Retry(ctx, s.place, func() ([]beads.Change, error) { return s.try(ctx, db, o, fn) })
}

// turn is how long a run waits for others of this machine: each write takes bd a second
// or two.
const turn = 2 * time.Minute

// refuseWithout refuses to write where there is no bd to do it.
func (s *dolt) refuseWithout() error {
	if s.bd.OnPath {
		return nil
	}
	return &fault.Error{Code: fault.Refused, Path: s.place.Dir, Reason: "bd keeps the issues in Dolt (" + s.where.Where() + ") and has to write them, and no bd is on PATH",
		Hint: "install bd 1.0 or later, and run the command again"}
}

// try makes the edit on the database as it is. The error is beads.ErrStale while
// nothing is written and another program writes.
func (s *dolt) try(ctx context.Context, db source, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	limit, done := s.bd.patient(ctx)
	defer done()
	lines, version, err := db.read(limit)
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
	steps, writes, err := plan(s.place, changes)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return changes, nil
	}
	if now, err := db.version(limit); err != nil || version == "" || now != version {
		if err == nil {
			err = beads.ErrStale
		}
		return nil, err
	}
	failed := s.perform(ctx, steps)
	err = s.verify(ctx, db, outcome{changes, writes, failed, version})
	if err != nil && !errors.Is(err, beads.ErrLost) {
		return nil, err
	}
	return changes, err
}

// perform has bd make the steps, until one fails.
func (s *dolt) perform(ctx context.Context, steps []step) *failure {
	for _, one := range steps {
		limit, done := s.bd.patient(ctx)
		result, err := s.bd.write(limit, s.place, one)
		done()
		if err != nil || result.Exit != 0 {
			return &failure{one, result, err}
		}
	}
	return nil
}

// failure is a step that failed.
type failure struct {
	step   step
	result process.Result
	err    error // of starting bd, or of its time limit
}

func (f *failure) String() string {
	if f == nil {
		return ""
	}
	if f.err != nil {
		return fmt.Sprintf("; bd %s: %v", f.step.argv[0], f.err)
	}
	return fmt.Sprintf("; bd %s failed%s", f.step.argv[0], said(f.result))
}

// write starts bd for a step, as its actor.
func (b Program) write(ctx context.Context, p beads.Place, s step) (process.Result, error) {
	actor := s.actor
	if actor == "" && b.Actor != nil {
		actor = b.Actor()
	}
	argv := s.argv
	if actor != "" {
		argv = append([]string{"--actor=" + actor}, argv...)
	}
	return b.start(ctx, p, s.stdin, argv...)
}

// outcome is what is known of an edit once bd was called.
type outcome struct {
	changes []beads.Change
	writes  []write
	failed  *failure
	version string // of the database before
}

// verify reads the database again, and says what of the edit is not there and what
// another program wrote in the moment in which bd did. It does so too of an edit that was
// interrupted; where nothing of that was written it gives the error of the context.
func (s *dolt) verify(ctx context.Context, db source, o outcome) error {
	limit, done := s.bd.patient(context.WithoutCancel(ctx))
	defer done()
	lines, _, err := db.read(limit)
	if err != nil {
		return unknown(s.place, o, err)
	}
	lost, whole, err := missingOf(lines, o.changes)
	if err != nil {
		return err
	}
	if lost == "" {
		return s.refuseReplaced(limit, db, o.writes)
	}
	if o.failed == nil {
		return lostIn(beads.Place{Path: s.place.Dir}, "bd wrote it, and another program wrote over it: "+lost, showHint(o.changes))
	}
	if !whole {
		return lostIn(beads.Place{Path: s.place.Dir}, "a part of the edit is written, and this is not: "+lost+o.failed.String(), showHint(o.changes))
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	if now, err := db.version(limit); err == nil && now != o.version {
		return beads.ErrStale // another program wrote, and bd may have failed for that
	}
	return &fault.Error{Code: fault.Changed, Path: s.place.Dir, Reason: "nothing was written" + o.failed.String(), Hint: "fix what bd says, and run the command again; bd doctor looks at its database"}
}

func showHint(changes []beads.Change) string {
	return "type bd show " + changes[0].ID + " to see what it holds now, and run the command again"
}

// unknown is the error of an edit after which the database cannot be read.
func unknown(p beads.Place, o outcome, err error) error {
	return &fault.Error{Code: fault.Changed, Path: p.Dir, Reason: fmt.Sprintf("bd was told to write, and whether it did is not known: %v%s", err, o.failed), Hint: showHint(o.changes)}
}

// missingOf names what of the changes the lines do not hold; whole reports whether that
// is all of each change.
func missingOf(lines []byte, changes []beads.Change) (lost string, whole bool, err error) {
	records := map[string]*beads.Record{}
	for line := range bytes.Lines(lines) {
		r, err := beads.ParseRecord(bytes.TrimRight(line, "\n"))
		if err != nil {
			continue // it holds nothing of what is looked for
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

// holdsAny reports whether a changed key is not among the missing ones.
func holdsAny(c beads.Change, missing []beads.Key) bool {
	values, err := c.Values()
	return err != nil || slices.ContainsFunc(values, func(v beads.Value) bool {
		return !slices.Contains(derived, v.Key) && !slices.Contains(missing, v.Key)
	})
}
