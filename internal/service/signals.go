package service

import (
	"context"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// These services edit signal tables alone.

// SignalTable reads the signal table of an issue, and gives its full id.
func SignalTable(a *workspace.Run, id string) (full string, table *signals.Table, err error) {
	full, doc, err := notesOf(a, id)
	if err != nil {
		return "", nil, err
	}
	return full, signals.Read(doc, a.Schema), nil
}

// TableEdit is the result of an edit of signal tables.
type TableEdit struct {
	Changes  []beads.Change
	Warnings []string // each names its issue
}

// SetSignalsRequest sets rows of the table of an issue.
type SetSignalsRequest struct {
	ID       string
	Set      map[signals.Signal]string
	Reaffirm bool // dates the rows even where their value stays
	DryRun   bool
}

// SetSignals sets rows of the signal table of an issue, and nothing else.
func SetSignals(ctx context.Context, a *workspace.Run, r SetSignalsRequest) (*TableEdit, error) {
	update := signals.Update{Set: r.Set, Reaffirm: r.Reaffirm}
	return editTables(ctx, a, []string{r.ID}, r.DryRun, notes.Permit{Change: []string{signals.Section}}, applying(a, update))
}

// InitSignalsRequest names issues that get a table where they have none; without
// IDs these are all that are not closed. Evidence gives the evidence rows too.
type InitSignalsRequest struct {
	IDs              []string
	Evidence, DryRun bool
}

// InitSignals gives a signal table to issues that have none.
func InitSignals(ctx context.Context, a *workspace.Run, r InitSignalsRequest) (*TableEdit, error) {
	ids, err := withoutTable(a, r.IDs)
	if err != nil {
		return nil, err
	}
	update := signals.Update{Evidence: r.Evidence}
	return editTables(ctx, a, ids, r.DryRun, notes.Permit{Change: []string{signals.Section}}, applying(a, update))
}

// ReconcileSignals unites the signal tables that a merge left in one issue.
func ReconcileSignals(ctx context.Context, a *workspace.Run, id string, dryRun bool) (*TableEdit, error) {
	all := notes.Permit{Unite: signals.United()}
	return editTables(ctx, a, []string{id}, dryRun, all, func(d *notes.Doc, _ time.Time) (*notes.Doc, []string, error) {
		return signals.Reconcile(d, a.Schema)
	})
}

// tableEdit is one edit of the notes of an issue; it gives warnings too.
type tableEdit func(d *notes.Doc, now time.Time) (*notes.Doc, []string, error)

// applying is the edit that applies an update as of today. Whether new tables have
// evidence rows is read from the configuration when the edit is made.
func applying(a *workspace.Run, u signals.Update) tableEdit {
	return func(d *notes.Doc, now time.Time) (*notes.Doc, []string, error) {
		u.Today, u.Evidence = signals.Day(now), u.Evidence || a.Config.Signals.Evidence
		doc, _, warnings, err := signals.Apply(d, u, a.Schema)
		return doc, warnings, err
	}
}

// editTables makes one edit of the notes of each issue, of all or of none; it may do
// no more to their sections than is permitted.
func editTables(ctx context.Context, a *workspace.Run, ids []string, dryRun bool, may notes.Permit, edit tableEdit) (*TableEdit, error) {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return nil, err
	}
	options.Notes = may.Check
	var warnings []string
	changes, err := store.Edit(ctx, options, func(tx *beads.Tx) error {
		warnings = nil
		for _, id := range ids {
			record, err := tx.Record(id)
			if err != nil {
				return err
			}
			doc, said, err := edit(notes.Parse(record.Text(beads.Notes)), options.Now)
			if err != nil {
				return &checkpoint.IssueError{ID: record.Text(beads.ID), Err: err}
			}
			for _, w := range said {
				warnings = append(warnings, record.Text(beads.ID)+": "+w)
			}
			if err := tx.Set(id, beads.Set{Key: beads.Notes, Text: doc.Text()}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !dryRun {
		notify(ctx, a, store.Place(), options.Now, shiftNotices(changes, a.Schema, signals.Day(options.Now)))
	}
	return &TableEdit{changes, warnings}, nil
}
