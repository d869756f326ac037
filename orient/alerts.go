package orient

import (
	"stig/dag"
	"stig/internal/beads"
	"stig/signals"
)

// alarm finds the alerts of issues.
type alarm struct {
	signals.Around
	file  *beads.Snapshot
	graph *dag.Graph
	rules Rules
}

// newAlarm leaves open where what the issues note is read from: the survey has all of it,
// a briefing reads what it needs.
func newAlarm(f *beads.Snapshot, g *dag.Graph, rules Rules, read func(i int) (noted, error)) alarm {
	worker := dag.Worker{Now: rules.Now, Asked: func(i int) bool { // one that cannot be read fails where its alerts are asked for
		n, err := read(i)
		return err == nil && n.Asks
	}}
	return alarm{file: f, graph: g, rules: rules, Around: signals.Around{
		Graph: g,
		Tally: func(epic int) (unclosed, startable, inProgress int) {
			t := g.Tally(epic, worker)
			return t.Unclosed(), t.Startable(), t.InProgress
		},
		Read: func(i int) (signals.Noted, error) {
			n, err := read(i)
			return n.Noted, err
		},
	}}
}

// of lists the alerts of an unclosed issue, the most urgent first; closed ones
// have none.
func (a alarm) of(i int) ([]signals.Alert, error) {
	list := []signals.Alert{}
	if a.graph.Closed(i) {
		return list, nil
	}
	if issue := a.file.At(i); issue.Status == beads.StatusInProgress {
		if alert, is := signals.Stale(issue.UpdatedAt, a.rules.Now, a.rules.StaleDays); is {
			list = append(list, alert)
		}
	}
	alerts, err := a.OfChildren(i)
	list = append(list, alerts...)
	if err == nil && a.graph.Converges(i) {
		alerts, err = a.OfBlockers(i, a.graph.ClosedBlockers(i), "")
		list = append(list, alerts...)
	}
	return list, err
}

// alerts are those of the issue, then those of its epic. c are its children, nil where
// they were not read.
func (a assembly) alerts(i int, c *Children) ([]signals.Alert, error) {
	alarm := newAlarm(a.file, a.graph, a.rules, func(i int) (noted, error) { return notedOf(a.file.At(i), a.rules.Schema) })
	list, err := alarm.of(i)
	if err != nil {
		return nil, err
	}
	for k := range list {
		if list[k], err = a.named(list[k], i, c); err != nil {
			return nil, err
		}
	}
	epic, ok := a.graph.Epic(i)
	if !ok || a.graph.Closed(i) {
		return list, nil
	}
	above, err := alarm.of(epic)
	if err != nil {
		return nil, err
	}
	for _, alert := range above {
		if alert, err = a.named(alert, epic, nil); err != nil {
			return nil, err
		}
		alert.Message = a.file.At(epic).ID + ": " + alert.Message
		list = append(list, alert)
	}
	return list, nil
}
