package checkpoint

import (
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// Alert is something that the update brings to light.
type Alert = signals.Alert

// alerts compares the table before and after.
func alerts(before, after *signals.Table) []Alert {
	var list []Alert
	if before.Present() {
		list = raise(list, "")(signals.Shift(before.Value(signals.Cynefin), after.Value(signals.Cynefin)))
	}
	if s := after.Number(); s != before.Number() {
		list = raise(list, "")(signals.Divergence(s))
	}
	return list
}

// raise adds an alert, if it is one; about names the issue, "" for the one
// that the report is about.
func raise(list []Alert, about string) func(Alert, bool) []Alert {
	return func(a Alert, raised bool) []Alert {
		if !raised {
			return list
		}
		if about != "" {
			a.About, a.Message = about, about+": "+a.Message
		}
		return append(list, a)
	}
}

// around finds the alerts of an issue that gets a new table and of the issues
// around it: its epic, and those that wait for it and for nothing else. To
// these it counts as closed, which is when they will build on what it left.
type around struct {
	file   *beads.Snapshot
	graph  *dag.Graph
	at     int
	table  *signals.Table
	schema *signals.Schema
	now    time.Time
}

func (a around) alerts() ([]Alert, error) {
	list, err := a.ofChildren(a.at, "")
	if err != nil {
		return nil, err
	}
	if epic, ok := a.graph.Epic(a.at); ok {
		above, err := a.ofChildren(epic, a.file.At(epic).ID)
		if err != nil {
			return nil, err
		}
		list = append(list, above...)
	}
	if a.graph.Converges(a.at) {
		if list, err = a.converging(list, a.at, "", a.graph.ClosedBlockers(a.at), ""); err != nil {
			return nil, err
		}
	}
	for _, i := range a.graph.Waiting(a.at) {
		if !a.onlyOn(i) {
			continue
		}
		blockers, open := a.graph.ClosedBlockers(i), ""
		if !a.graph.Closed(a.at) {
			blockers, open = append(blockers, a.at), a.file.At(a.at).ID
		}
		if list, err = a.converging(list, i, a.file.At(i).ID, blockers, open); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// converging adds the alert about an issue that builds on blockers, if it is
// one; open is the id of the one that is not closed yet, "" for none.
func (a around) converging(list []Alert, i int, about string, blockers []int, open string) ([]Alert, error) {
	table, err := a.tableOf(i)
	if err != nil {
		return nil, err
	}
	surprise, err := a.surprise(blockers)
	if err != nil {
		return nil, err
	}
	return raise(list, about)(signals.Convergence(table.Value(signals.Cynefin), surprise, open)), nil
}

// ofChildren finds what the children of an unclosed epic amount to.
func (a around) ofChildren(epic int, about string) ([]Alert, error) {
	children := a.graph.Children(epic)
	if len(children) == 0 || a.graph.Closed(epic) {
		return nil, nil
	}
	var surprise []float64
	for _, i := range children {
		table, err := a.tableOf(i)
		if err != nil {
			return nil, err
		}
		if table.Has(signals.Surprise) {
			surprise = append(surprise, table.Number())
		}
	}
	own, err := a.tableOf(epic)
	if err != nil {
		return nil, err
	}
	tally := a.graph.Tally(epic, dag.Worker{Now: a.now, Asked: a.asked})
	list := raise(nil, about)(signals.Replanning(own.Value(signals.Cynefin), surprise))
	return raise(list, about)(signals.Stuck(tally.Unclosed(), tally.Startable(), tally.InProgress)), nil
}

// onlyOn reports whether an issue waits for this one at most.
func (a around) onlyOn(i int) bool {
	for _, b := range a.graph.OpenBlockers(i) {
		if b != a.at {
			return false
		}
	}
	return i != a.at
}

func (a around) surprise(issues []int) ([]float64, error) {
	list := make([]float64, len(issues))
	for k, i := range issues {
		table, err := a.tableOf(i)
		if err != nil {
			return nil, err
		}
		list[k] = table.Number()
	}
	return list, nil
}

// asked reports whether an issue has an unanswered question; one whose notes
// cannot be read has none, and fails where its table is read.
func (a around) asked(i int) bool {
	issue := a.file.At(i)
	if !issue.HasNotes {
		return false
	}
	record, err := issue.Record()
	if err != nil {
		return false
	}
	doc := notes.Parse(record.Text(beads.Notes))
	return signals.Asks(doc, signals.Read(doc, a.schema))
}

func (a around) tableOf(i int) (*signals.Table, error) {
	if i == a.at {
		return a.table, nil
	}
	issue := a.file.At(i)
	if !issue.HasNotes {
		return signals.Read(notes.Parse(""), a.schema), nil
	}
	record, err := issue.Record()
	if err != nil {
		return nil, err
	}
	return signals.Read(notes.Parse(record.Text(beads.Notes)), a.schema), nil
}
