package beads

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"stig/internal/fault"
)

// Change is one changed line, without its ending. For a new issue Line is 0 and Before is nil.
type Change struct {
	ID            string
	Line          int // 1-based
	Before, After []byte
}

// Tx is one edit, under the store's lock. It is valid only inside the function given to
// Store.Edit.
type Tx struct {
	snapshot *Snapshot
	now      time.Time
	records  map[*Issue]*Record // the changed ones
	added    []addition
	stale    bool // a line was no longer what was read
}

// Snapshot returns the store as read under the lock, without the changes of this edit.
func (tx *Tx) Snapshot() *Snapshot { return tx.snapshot }

// Record returns the issue's record including the changes of this edit. It refuses an issue
// that must not be written: a fault.Refused for a repeated id, a tombstone or a line with
// flaws, a fault.NotFound for an unknown id.
func (tx *Tx) Record(id string) (*Record, error) {
	is, err := tx.issue(id)
	if err != nil {
		return nil, err
	}
	return tx.recordOf(is)
}

func (tx *Tx) recordOf(is *Issue) (*Record, error) {
	if r, ok := tx.records[is]; ok {
		return r, nil
	}
	r, err := is.Record()
	if err != nil {
		return nil, tx.moved(err)
	}
	return r, tx.refuseFlaws(is, r)
}

// moved notes whether an error means that the store is no longer what was read.
func (tx *Tx) moved(err error) error {
	if fault.Is(err, fault.Changed) {
		tx.stale = true
	}
	return err
}

// Set changes keys of one issue; it refuses what Record refuses, what Record.With rejects, and
// closing the issue (see MarkClosed).
func (tx *Tx) Set(id string, set ...Set) error {
	return tx.edit(id, func(r *Record) (*Record, error) {
		next, err := r.With(tx.now, set...)
		if err != nil {
			return nil, err
		}
		return next, refuseClosing(r, next)
	})
}

// AddRow appends a dependency row to an issue; if one with the same On and Type exists, nothing
// changes. It refuses what Record refuses.
func (tx *Tx) AddRow(id string, row Row) error {
	return tx.edit(id, func(r *Record) (*Record, error) { return r.withRow(tx.now, row) })
}

// DropRow removes an issue's rows of this On and Type, and the key with the last one; without
// such a row nothing changes. It refuses what Record refuses.
func (tx *Tx) DropRow(id string, d Dep) error {
	return tx.edit(id, func(r *Record) (*Record, error) { return r.withoutRow(tx.now, d) })
}

// AddComment appends a comment to an issue; if one with the same author and text (up to
// surrounding white space) exists, nothing changes. It refuses what Record refuses.
func (tx *Tx) AddComment(id string, c Comment) error {
	of := Comments
	if tx.snapshot.place.BR { // which accepts only issues later than its own
		of = ""
	}
	return tx.edit(id, func(r *Record) (*Record, error) { return r.withComment(tx.now, c, of) })
}

// PutBack replaces an issue's record by the result of change, for example Record.PutRaw, and
// bumps updated_at. It is for values that the store held before: unlike Set it may close an
// issue and may change a deleted one. Otherwise it refuses what Record refuses. change may be
// called more than once.
func (tx *Tx) PutBack(id string, change func(*Record) (*Record, error)) error {
	is, err := tx.counting(id)
	if err != nil {
		return err
	}
	return tx.editIssue(is, func(r *Record) (*Record, error) {
		if _, err := change(r); err != nil {
			return nil, err
		}
		return r.changed(tx.now, nil, []listEdit{{do: func(r *Record, _ style) *Record {
			if next, err := change(r); err == nil {
				return next
			}
			return r
		}}})
	})
}

// Redate sets updated_at to now even if that is earlier, and discards this edit's other changes
// to the issue; it refuses what Record refuses.
func (tx *Tx) Redate(id string) error {
	return tx.edit(id, func(r *Record) (*Record, error) { return r.redated(tx.now), nil })
}

func (tx *Tx) edit(id string, change func(*Record) (*Record, error)) error {
	is, err := tx.issue(id)
	if err != nil {
		return err
	}
	return tx.editIssue(is, change)
}

func (tx *Tx) editIssue(is *Issue, change func(*Record) (*Record, error)) error {
	r, err := tx.recordOf(is)
	if err != nil {
		return err
	}
	next, err := change(r)
	if err != nil {
		return err
	}
	if tx.snapshot.place.BR && next != r { // which skips files with such a line
		next = next.notBeforeMade()
	}
	tx.records[is] = next
	return nil
}

// issue returns an issue that may be written.
func (tx *Tx) issue(id string) (*Issue, error) {
	is, err := tx.counting(id)
	if err == nil && is.Status == StatusTombstone {
		return nil, &fault.Error{Code: fault.Refused,
			Path: tx.snapshot.place.Name(), Line: is.Line, Reason: is.ID + " was deleted (status tombstone)",
			Hint: "choose another issue"}
	}
	return is, err
}

// counting returns an issue whose id does not repeat.
func (tx *Tx) counting(id string) (*Issue, error) {
	is, err := tx.snapshot.Find(id)
	if err != nil {
		return nil, err
	}
	if lines := tx.snapshot.repeats[is.ID]; lines != nil {
		return nil, &fault.Error{Code: fault.Refused,
			Path: tx.snapshot.place.Name(), Line: lines[1], Reason: fmt.Sprintf("id %q is already used on line %d", is.ID, lines[0]),
			Hint: "keep one of the lines; stig check lists them all"}
	}
	return is, nil
}

// Changes lists the changes of the edit so far in the order of the lines, new issues last.
func (tx *Tx) Changes() (list []Change) {
	for _, is := range tx.changed() {
		r := tx.records[is]
		list = append(list, Change{ID: is.ID, Line: is.Line, Before: r.origin.line, After: r.line})
	}
	for _, a := range tx.added {
		list = append(list, Change{ID: a.id, After: a.line})
	}
	return list
}

// ChangesOf lists the issues that a text adds to a store, none if it has conflict markers.
func ChangesOf(text []byte) (list []Change) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if isConflictMarker(line) {
			return nil
		}
		if r, bad := parseRecord(line); bad == nil && r.Text(ID) != "" {
			list = append(list, Change{ID: r.Text(ID), After: line})
		}
	}
	return list
}

// Patch replaces the bytes from Start to End of a store's text by With.
type Patch struct {
	Start, End int64
	With       []byte
}

// Patches returns the edit as patches of the text that was read, in order.
func (tx *Tx) Patches() (list []Patch) {
	for _, a := range tx.added {
		list = append(list, Patch{a.off, a.off, a.text})
	}
	for _, is := range tx.changed() {
		list = append(list, Patch{is.off, is.off + int64(is.size), tx.records[is].line})
	}
	slices.SortStableFunc(list, func(a, b Patch) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

func (tx *Tx) changed() []*Issue {
	list := slices.SortedFunc(maps.Keys(tx.records), func(a, b *Issue) int { return a.Line - b.Line })
	return slices.DeleteFunc(list, func(is *Issue) bool { return tx.records[is].origin == nil })
}

// Try makes one edit of a store as read: it refuses a store with problems, calls fn, and judges
// the notes of the changed lines. The Tx holds what to write; the caller handles a dry run. The
// error is ErrStale if a line is no longer what was read.
func Try(f *Snapshot, o Options, fn func(*Tx) error) (*Tx, error) {
	if err := refuseProblems(f); err != nil {
		return nil, err
	}
	tx := &Tx{snapshot: f, now: o.Now, records: map[*Issue]*Record{}}
	if err := fn(tx); err != nil {
		if tx.stale {
			return nil, ErrStale
		}
		return nil, err
	}
	return tx, tx.judgeNotes(o.Notes)
}

// judgeNotes checks the lines last, just before they are written.
func (tx *Tx) judgeNotes(judge func(before, after string) error) error {
	for _, is := range tx.changed() {
		r := tx.records[is]
		before, after := r.origin.Text(Notes), r.Text(Notes)
		if before == after || before == "" && judge == nil {
			continue
		}
		err := errors.New("the edit would change the notes without saying what in them must survive")
		if judge != nil {
			err = judge(before, after)
		}
		if err != nil {
			return &fault.Error{Code: fault.Refused,
				Path: tx.snapshot.place.Name(), Line: is.Line, Reason: fmt.Sprintf("%s: %v", is.ID, err),
				Hint: "nothing was written; please report how this happened"}
		}
	}
	return nil
}

// CanEdit reports whether the store allows edits: one unreadable line blocks every issue, a
// repeated id only its issues.
func (f *Snapshot) CanEdit() bool { return refuseProblems(f) == nil }

// refuseProblems protects lines that another program may still repair: overwriting would lose
// them.
func refuseProblems(f *Snapshot) error {
	bad := slices.DeleteFunc(slices.Clone(f.problems), func(p Problem) bool { return p.Rule == DuplicateID })
	if len(bad) == 0 {
		return nil
	}
	reason := fmt.Sprintf("%s: %s", bad[0].Rule, bad[0].Message)
	if more := len(bad) - 1; more > 0 {
		reason += fmt.Sprintf(" (and %d more)", more)
	}
	hint := "fix the line; stig check lists every such place"
	switch {
	case bad[0].Rule == ConflictMarker && f.conflict(bad[0].Line) == nil:
		hint = "remove the marker by hand: it does not belong to a complete conflict"
	case bad[0].Rule == ConflictMarker:
		hint = "type stig merge --resolve to see the open decisions"
	}
	return &fault.Error{Code: fault.Refused, Path: f.place.Name(), Line: bad[0].Line, Reason: reason, Hint: hint}
}

// MarkClosed closes an issue: it sets status, close_reason, closed_at and updated_at together,
// with equal times. It is the only way to close: Set and Add refuse that status. The caller has
// evidence for it (checkpoint.Close). It refuses what Record refuses, a closed issue, and an
// empty reason.
func (tx *Tx) MarkClosed(id, reason string) error {
	return tx.edit(id, func(r *Record) (*Record, error) {
		switch {
		case r.Text(Status) == StatusClosed:
			return nil, fmt.Errorf("%s: %s: is closed already", r.Text(ID), Status)
		case reason == "":
			return nil, fmt.Errorf("%s: %s: must not be empty", r.Text(ID), CloseReason)
		}
		origin := r
		if r.origin != nil {
			origin = r.origin
		}
		at, err := origin.bump(tx.now, r, time.Second)
		if err != nil {
			return nil, err
		}
		return r.With(tx.now, Set{Status, StatusClosed}, Set{ClosedAt, at}, Set{CloseReason, reason})
	})
}

// refuseClosing prevents closing an issue as a side effect.
func refuseClosing(before, after *Record) error {
	if before.Text(Status) == StatusClosed || after.Text(Status) != StatusClosed {
		return nil
	}
	return fmt.Errorf("%s: %s: must not be set to %q: only MarkClosed closes an issue, on evidence", after.Text(ID), Status, StatusClosed)
}
