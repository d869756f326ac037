package checkpoint

import (
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/notes"
)

// asClosed is a snapshot in which one issue is closed.
type asClosed struct {
	*beads.Snapshot
	at     int
	issue  beads.Issue
	reason string
}

func (v *asClosed) At(i int) *beads.Issue {
	if i == v.at {
		return &v.issue
	}
	return v.Snapshot.At(i)
}

// Outcome returns the outcome of an issue; for the closed one it follows from the new close
// reason.
func (v *asClosed) Outcome(i int) beads.Outcome {
	if i == v.at {
		return beads.OutcomeOf(v.reason)
	}
	return v.Snapshot.Outcome(i)
}

// follow reports the consequences of the close for the issues around it.
func (c *Closed) follow(f *beads.Snapshot, r *beads.Record, rules Rules) error {
	at, _ := f.Index(c.ID)
	view := &asClosed{Snapshot: f, at: at, issue: *f.At(at), reason: c.Reason}
	view.issue.Status = beads.StatusClosed
	before, after := dag.New(f), dag.New(view)

	near := newAlerts(f, after, at, notes.Parse(r.Text(beads.Notes)), rules)
	var ready []int
	f.Need(at, beads.Around)
	for i := range f.Len() {
		if i == at || !after.IsReady(i, rules.Now) || before.IsReady(i, rules.Now) {
			continue
		}
		if state := after.State(i, near.worker); state == dag.StateReady || state == dag.StateAssigned {
			ready = append(ready, i)
		}
	}
	slices.SortFunc(ready, func(a, b int) int { return strings.Compare(f.At(a).ID, f.At(b).ID) })
	c.Unblocked = f.Refs(ready)
	for _, i := range before.Waiting(at) {
		if !after.IsReady(i, rules.Now) {
			c.StillBlocked++
		}
	}

	if epic, ok := after.Epic(at); ok {
		closed, total := after.Progress(epic)
		record, err := f.At(epic).Record()
		if err != nil {
			return err
		}
		c.Epic = &EpicTold{Ref: f.At(epic).Ref(), Closed: closed, Total: total, NoCriteria: len(gate.Of(record)) == 0}
		if closed == total {
			c.Epic.Undone, c.Epic.done = after.Ends(epic).Words(), after.DoneByClose(epic) && !after.Blocked(epic)
		}
	}
	list, err := near.find()
	c.Alerts = append(c.Alerts, list...)
	c.Alerts = append(c.Alerts, standstill(f, after, at)...)
	return err
}

// standstill finds deadlocks among the issues that waited for this one: closing it does not help
// them.
func standstill(f *beads.Snapshot, g *dag.Graph, at int) (list []Alert) {
	known := map[int]bool{} // by the issue at which a cycle begins
	for _, i := range g.Waiting(at) {
		ring := g.RingThrough(i)
		if ring == nil || known[ring[0].Issue] {
			continue
		}
		known[ring[0].Issue] = true
		words := dag.Circle(ring, func(i int) string { return f.At(i).ID })
		list = append(list, Alert{Rule: alertDeadlock, Message: fmt.Sprintf(
			"%s: they form a dependency cycle: %s: see stig cycles", f.At(ring[0].Issue).ID, strings.Join(words, "; "))})
	}
	return list
}

// alertDeadlock is the rule of the alert about dependency cycles.
const alertDeadlock = "deadlock"
