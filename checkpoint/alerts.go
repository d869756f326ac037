package checkpoint

import (
	"time"

	"stig/beads"
	"stig/dag"
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
			a.Message = about + ": " + a.Message
		}
		return append(list, a)
	}
}

// around finds the alerts of the issues around one that gets a new table: its
// epic, and those that wait for it and for nothing else. To these it counts as
// closed, which is when they will build on what it left.
type around struct {
	file   *beads.File
	graph  *dag.Graph
	at     int
	table  *signals.Table
	schema *signals.Schema
	now    time.Time
}

func (a around) alerts() ([]Alert, error) {
	list, err := a.ofEpic()
	if err != nil {
		return nil, err
	}
	for _, i := range a.graph.Waiting(a.at) {
		if !a.onlyOn(i) {
			continue
		}
		table, err := a.tableOf(i)
		if err != nil {
			return nil, err
		}
		blockers := a.graph.ClosedBlockers(i)
		if !a.graph.Closed(a.at) {
			blockers = append(blockers, a.at)
		}
		surprise, err := a.surprise(blockers)
		if err != nil {
			return nil, err
		}
		list = raise(list, a.file.At(i).ID)(signals.Convergence(table.Value(signals.Cynefin), surprise))
	}
	return list, nil
}

func (a around) ofEpic() ([]Alert, error) {
	epic, ok := a.graph.Epic(a.at)
	if !ok || a.graph.Closed(epic) {
		return nil, nil
	}
	surprise, err := a.surprise(a.graph.Children(epic))
	if err != nil {
		return nil, err
	}
	id := a.file.At(epic).ID
	tally := a.graph.Tally(epic, a.now)
	list := raise(nil, id)(signals.Replanning(surprise))
	return raise(list, id)(signals.Stuck(tally.Unclosed(), tally.Ready, tally.InProgress)), nil
}

// onlyOn tells whether an issue waits for this one at most.
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
