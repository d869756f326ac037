package checkpoint

import (
	"stig/dag"
	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// Alert is a condition that the update makes visible.
type Alert = signals.Alert

// alerts finds the alerts of an issue that gets new notes and of the issues around it: its
// epic, and issues that wait only for it. For the latter the issue counts as closed, because
// they will build on what it left.
type alerts struct {
	file   *beads.Snapshot
	graph  *dag.Graph
	at     int
	doc    *notes.Doc // its new notes
	rules  Rules
	worker dag.Worker
}

func newAlerts(f *beads.Snapshot, g *dag.Graph, at int, doc *notes.Doc, rules Rules) *alerts {
	a := &alerts{file: f, graph: g, at: at, doc: doc, rules: rules}
	a.worker = dag.Worker{Now: rules.Now, Asked: a.asked}
	return a
}

func (a *alerts) find() (list []Alert, err error) {
	of := signals.Around{Graph: a.graph, Tally: a.tally, Read: a.read}
	add := func(about string, alerts []Alert, failed error) {
		for _, alert := range alerts {
			if about != "" {
				alert.About, alert.Message = about, about+": "+alert.Message
			}
			list = append(list, alert)
		}
		if err == nil {
			err = failed
		}
	}
	ofChildren := func(about string, i int) {
		alerts, err := of.OfChildren(i)
		add(about, alerts, err)
	}
	ofBlockers := func(about string, i int, blockers []int, open string) {
		alerts, err := of.OfBlockers(i, blockers, open)
		add(about, alerts, err)
	}
	ofChildren("", a.at)
	if epic, ok := a.graph.Epic(a.at); ok {
		ofChildren(a.file.At(epic).ID, epic)
	}
	if a.graph.Converges(a.at) {
		ofBlockers("", a.at, a.graph.ClosedBlockers(a.at), "")
	}
	for _, i := range a.graph.Waiting(a.at) {
		if !a.onlyOn(i) {
			continue
		}
		blockers, open := a.graph.ClosedBlockers(i), ""
		if !a.graph.Closed(a.at) {
			blockers, open = append(blockers, a.at), a.file.At(a.at).ID
		}
		ofBlockers(a.file.At(i).ID, i, blockers, open)
	}
	return list, err
}

// onlyOn reports whether an issue waits for no issue except this one.
func (a *alerts) onlyOn(i int) bool {
	for _, b := range a.graph.OpenBlockers(i) {
		if b != a.at {
			return false
		}
	}
	return i != a.at
}

func (a *alerts) tally(epic int) (unclosed, startable, inProgress int) {
	t := a.graph.Tally(epic, a.worker)
	return t.Unclosed(), t.Startable(), t.InProgress
}

// asked reports whether an issue has an unanswered question in the store. If its notes cannot
// be read it returns false; computing the issue's alerts returns the error.
func (a *alerts) asked(i int) bool {
	n, err := a.summary(i)
	return err == nil && n.Asks
}

func (a *alerts) read(i int) (signals.Summary, error) {
	if i == a.at {
		return signals.Note(a.doc, signals.Read(a.doc, a.rules.Schema)), nil
	}
	return a.summary(i)
}

// summary reads the summary of an issue's notes in the store.
func (a *alerts) summary(i int) (signals.Summary, error) {
	issue := a.file.At(i)
	if !issue.HasNotes {
		return signals.EmptySummary(), nil
	}
	record, err := issue.Record()
	if err != nil {
		return signals.Summary{}, err
	}
	doc := notes.Parse(record.Text(beads.Notes))
	return signals.Note(doc, signals.Read(doc, a.rules.Schema)), nil
}
