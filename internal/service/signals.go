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

// These services edit only signal tables.

// SignalTable returns the signal table of an issue, and its full id.
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

// SetSignalsRequest sets rows of an issue's table.
type SetSignalsRequest struct {
	ID       string
	Set      map[signals.Signal]string
	Reaffirm bool // updates the dates of the rows even if their values stay
	DryRun   bool
}

// SetSignals sets rows of an issue's signal table, and nothing else.
func SetSignals(ctx context.Context, a *workspace.Run, r SetSignalsRequest) (*TableEdit, error) {
	update := signals.Update{Set: r.Set, Reaffirm: r.Reaffirm}
	return editTables(ctx, a, []string{r.ID}, r.DryRun, notes.Permit{Change: []string{signals.Section}}, applying(a, update))
}

// InitSignalsRequest names issues that get a table if they have none; without IDs all unclosed
// issues. Evidence adds the evidence rows.
type InitSignalsRequest struct {
	IDs              []string
	Evidence, DryRun bool
}

// InitSignals adds a signal table to issues without one.
func InitSignals(ctx context.Context, a *workspace.Run, r InitSignalsRequest) (*TableEdit, error) {
	ids, err := withoutTable(a, r.IDs)
	if err != nil {
		return nil, err
	}
	update := signals.Update{Evidence: r.Evidence}
	return editTables(ctx, a, ids, r.DryRun, notes.Permit{Change: []string{signals.Section}}, applying(a, update))
}

// ReconcileSignals combines the signal tables that a merge left in one issue.
func ReconcileSignals(ctx context.Context, a *workspace.Run, id string, dryRun bool) (*TableEdit, error) {
	all := notes.Permit{Unite: signals.United()}
	return editTables(ctx, a, []string{id}, dryRun, all, func(d *notes.Doc, _ time.Time) (*notes.Doc, []string, error) {
		return signals.Reconcile(d, a.Schema)
	})
}

// tableEdit is one edit of an issue's notes; it returns warnings too.
type tableEdit func(d *notes.Doc, now time.Time) (*notes.Doc, []string, error)

// applying returns the edit that applies an update as of today. The configuration decides at
// the time of the edit whether new tables have evidence rows.
func applying(a *workspace.Run, u signals.Update) tableEdit {
	return func(d *notes.Doc, now time.Time) (*notes.Doc, []string, error) {
		u.Today, u.Evidence = signals.Day(now), u.Evidence || a.Config.Signals.Evidence
		doc, _, warnings, err := signals.Apply(d, u, a.Schema)
		return doc, warnings, err
	}
}

// editTables edits the notes of all issues or of none. It may change only the sections that may
// permits.
func editTables(ctx context.Context, a *workspace.Run, ids []string, dryRun bool, may notes.Permit, edit tableEdit) (*TableEdit, error) {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return nil, err
	}
	options.Notes, options.Scope.IDs = may.Check, ids
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
