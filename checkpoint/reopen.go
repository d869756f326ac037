package checkpoint

import (
	"context"
	"fmt"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

// Reopened describes an issue that was reopened.
type Reopened struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Changed    bool        `json:"changed"` // false if it was not closed
	Status     string      `json:"status"`
	Was        string      `json:"close_reason"` // the old close reason
	Freed      string      `json:"freed"`        // the removed assignee; "" for none
	Dependents []beads.Ref `json:"dependents"`   // unclosed issues that wait for it again
	Warnings   []string    `json:"warnings"`

	stored
}

// Reopen opens a closed issue: it sets status open and removes closed_at and close_reason. The
// old close reason, the new reason and the actor ("" for nobody) are recorded in a section of
// the notes. An unclosed issue is not changed. An assignee that has ended is removed. An empty
// reason is a fault.Usage.
func Reopen(ctx context.Context, s beads.Store, o beads.Options, id, reason, actor string, ended func(assignee string) bool, rules Rules) (*Reopened, error) {
	o.Notes = notes.Permit{Change: []string{signals.ReopenSection}}.Check
	return editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (*Reopened, error) {
		full := record.Text(beads.ID)
		reopened := &Reopened{
			ID: full, Title: record.Text(beads.Title), Status: record.Text(beads.Status),
			Was: record.Text(beads.CloseReason), Dependents: []beads.Ref{}, Warnings: []string{},
		}
		switch {
		case reopened.Status != beads.StatusClosed:
			reopened.Was = ""
			return reopened, nil
		case strings.TrimSpace(reason) == "":
			return nil, &fault.Error{Code: fault.Usage, ID: full, Reason: "a reason is missing", Hint: "say what is wrong with it: --reason …"}
		}
		doc, err := notes.Parse(record.Text(beads.Notes)).Extend(signals.ReopenSection, reopening(reason, actor, reopened.Was, rules))
		if err != nil {
			return nil, &IssueError{ID: full, Err: err}
		}
		reopened.Status, reopened.Changed = beads.StatusOpen, true
		reopened.addDependents(tx.Snapshot())
		sets := []beads.Set{{Key: beads.Status, Text: beads.StatusOpen}, {Key: beads.ClosedAt}, {Key: beads.CloseReason}, {Key: beads.Notes, Text: doc.Text()}}
		if who := record.Text(beads.Assignee); who != "" && ended(who) {
			reopened.Freed = who
			sets = append(sets, beads.Set{Key: beads.Assignee})
		}
		return reopened, tx.Set(full, sets...)
	})
}

// reopening returns the text that one reopening adds to the section.
func reopening(reason, actor, was string, rules Rules) string {
	heading := "## " + signals.Reopening + " (" + rules.today() + ")"
	if actor != "" {
		heading += " by " + actor
	}
	text := heading + "\n" + strings.TrimSpace(reason)
	if was != "" {
		text += "\n\nIt had been closed: " + was
	}
	return text
}

// addDependents adds the issues that the reopening affects.
func (r *Reopened) addDependents(f *beads.Snapshot) {
	at, _ := f.Index(r.ID)
	g := dag.New(f)
	r.Dependents = f.Refs(g.Waiting(at))
	for _, i := range g.Dependents(at) {
		if g.Closed(i) && f.At(i).Status == beads.StatusClosed {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s was built on it and is closed", f.At(i).ID))
		}
	}
	if epic, ok := g.Epic(at); ok && g.Closed(epic) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("its epic %s is closed", f.At(epic).ID))
	}
}
