package orient

import (
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/signals"
)

// alarm finds the alerts of issues. Where they are read from is left open:
// the survey has them all, a briefing reads those it needs.
type alarm struct {
	file      *beads.Snapshot
	graph     *dag.Graph
	now       time.Time
	staleDays int
	read      func(i int) (noted, error)
}

// of lists the alerts of an unclosed issue, the most urgent first; closed ones
// have none.
func (a alarm) of(i int) ([]signals.Alert, error) {
	if a.graph.Closed(i) {
		return []signals.Alert{}, nil
	}
	list := []signals.Alert{}
	add := func(alert signals.Alert, raised bool) {
		if raised {
			list = append(list, alert)
		}
	}
	if issue := a.file.At(i); issue.Status == beads.StatusInProgress {
		add(signals.Stale(issue.UpdatedAt, a.now, a.staleDays))
	}
	children, converges := a.graph.Children(i), a.graph.Converges(i)
	if len(children) == 0 && !converges {
		return list, nil
	}
	own, err := a.read(i)
	if err != nil {
		return nil, err
	}
	if len(children) > 0 {
		surprise, err := a.rated(children)
		if err != nil {
			return nil, err
		}
		add(signals.Replanning(own.cynefin, surprise))
		tally := a.graph.Tally(i, dag.Worker{Now: a.now, Asked: a.asked})
		add(signals.Stuck(tally.Unclosed(), tally.Startable(), tally.InProgress))
	}
	if converges {
		surprise, err := a.surprise(a.graph.ClosedBlockers(i))
		if err != nil {
			return nil, err
		}
		add(signals.Convergence(own.cynefin, surprise, ""))
	}
	return list, nil
}

// asked reports whether an issue has an unanswered question; one whose notes
// cannot be read has none, and fails where its alerts are asked for.
func (a alarm) asked(i int) bool {
	t, err := a.read(i)
	return err == nil && t.pending
}

// rated is the surprise of those issues that record one.
func (a alarm) rated(issues []int) ([]float64, error) {
	list := make([]float64, 0, len(issues))
	for _, i := range issues {
		t, err := a.read(i)
		if err != nil {
			return nil, err
		}
		if t.rated {
			list = append(list, t.surprise)
		}
	}
	return list, nil
}

func (a alarm) surprise(issues []int) ([]float64, error) {
	list := make([]float64, len(issues))
	for k, i := range issues {
		t, err := a.read(i)
		if err != nil {
			return nil, err
		}
		list[k] = t.surprise
	}
	return list, nil
}

// alerts are those of the issue, then those of its epic. c are its children, nil where
// they were not read.
func (a assembly) alerts(i int, c *Children) ([]signals.Alert, error) {
	alarm := alarm{file: a.file, graph: a.graph, now: a.rules.Now, staleDays: a.rules.StaleDays,
		read: func(i int) (noted, error) { return notedOf(a.file.At(i), a.rules.Schema) }}
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
