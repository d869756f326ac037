package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/dag"
	"stig/orient"
	"stig/signals"
)

// elsewhereRows is how many other issues are listed for whoever asked.
const elsewhereRows = 3

// Elsewhere lists the first issues that whoever asked can take meanwhile.
func (a *App) Elsewhere(ctx context.Context, store beads.Store, asked, actor string, now time.Time) ([]ReadyRow, error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := a.ReadyRows(ctx, file, dag.New(file), now, actor)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(Takeable(rows), func(r ReadyRow) bool { return r.ID == asked })
	return rows[:min(len(rows), elsewhereRows)], nil
}

// Folded folds white space, so that a text cannot break the line it stands in.
func Folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// Unseen gives the questions that were not seen before, and marks them seen.
func (a *App) Unseen(store beads.Store, seen map[string]bool) ([]orient.Asked, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	list, err := a.Pending(store, now)
	if err != nil {
		return nil, err
	}
	fresh := []orient.Asked{}
	for _, q := range list {
		key := strings.Join([]string{q.ID, q.Since, q.By, q.Kind, q.Question}, "\x00")
		if !seen[key] {
			seen[key] = true
			fresh = append(fresh, q)
		}
	}
	return fresh, nil
}

// Settle waits a moment, so that several changes in a row are read once.
func Settle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// Pending lists the questions that wait for a person.
func (a *App) Pending(store beads.Store, now time.Time) ([]orient.Asked, error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return orient.Escalations(file, dag.New(file), orient.Rules{Schema: a.Schema, Now: now})
}

// EscalateRequest asks a person about an issue. By and Evidence of the question are
// found out here.
type EscalateRequest struct {
	ID string
	checkpoint.Question
	DryRun bool
}

// Escalated says what asking changed, and what whoever asked can take meanwhile.
type Escalated struct {
	*checkpoint.Report
	Ready []ReadyRow `json:"ready"`
}

// Escalate asks a person, and notifies of the question.
func (a *App) Escalate(ctx context.Context, r EscalateRequest) (*Escalated, error) {
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	q := r.Question
	q.Evidence = a.Config.Signals.Evidence
	if q.By, err = a.MustActor(ctx); err != nil {
		return nil, err
	}
	report, err := checkpoint.Escalate(ctx, store, options, r.ID, q, a.writeRules(options.Now))
	if err != nil {
		return nil, err
	}
	if !r.DryRun {
		a.Notify(ctx, store.Place(), options.Now, ReportNotices(report, q, signals.Day(options.Now)))
	}
	ready, err := a.Elsewhere(ctx, store, report.ID, q.By, options.Now)
	return &Escalated{report, ready}, err
}

// EscalateOutput is what came of Escalate as data.
func EscalateOutput(e *Escalated, dryRun bool) (Output, error) {
	return EditOutput("escalate", e, e.Lines, dryRun)
}
