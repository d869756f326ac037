package signals

import (
	"slices"
	"strings"

	"stig/notes"
)

// Summary is what an issue's notes tell the issues around it. It contains no text of the notes,
// so that the summaries of a whole store are small.
type Summary struct {
	Cynefin  string
	Surprise float64
	Rated    bool   // has a surprise
	Asks     bool   // has an unanswered question
	Review   string // the request that it waits for; "" for none

	only string // the workers whom the questions hold back, a line each; "" if they hold back everybody
}

// Holds reports whether an unanswered question holds a worker back from the issue.
func (n Summary) Holds(worker string) bool {
	return n.Asks && (n.only == "" || slices.Contains(strings.Split(n.only, "\n"), worker))
}

// EmptySummary is the summary of an issue without notes.
func EmptySummary() Summary { return Summary{Cynefin: Cynefin.Default()} }

// Note returns the summary of a document and its table.
func Note(doc *notes.Doc, table *Table) Summary {
	return Summary{
		Cynefin:  strings.Clone(table.Value(Cynefin)),
		Surprise: table.Number(), Rated: table.Has(Surprise),
		Asks: Asks(doc, table), only: only(doc), Review: InReview(doc),
	}
}

// only returns the workers whom a document's unanswered questions hold back, a line each; "" if
// one of them holds back everybody.
func only(doc *notes.Doc) string {
	var names []string
	for _, q := range Questions(Escalations(doc)) {
		name := q.Only()
		if name == "" {
			return ""
		}
		names = append(names, name)
	}
	return strings.Join(names, "\n")
}

// Graph is what alerts need to know about the issue graph.
type Graph interface {
	Closed(i int) bool
	Children(epic int) []int
}

// Around finds the alerts for an issue that come from the issues around it.
type Around struct {
	Graph Graph
	// Tally counts an epic's children: the unclosed ones, those that could be started, and
	// those in progress.
	Tally func(epic int) (unclosed, startable, inProgress int)
	Read  func(i int) (Summary, error)
}

// OfChildren returns the alerts for an unclosed epic, none for another issue.
func (a Around) OfChildren(epic int) ([]Alert, error) {
	children := a.Graph.Children(epic)
	if len(children) == 0 || a.Graph.Closed(epic) {
		return nil, nil
	}
	own, err := a.Read(epic)
	if err != nil {
		return nil, err
	}
	var surprise []float64
	for _, i := range children {
		child, err := a.Read(i)
		if err != nil {
			return nil, err
		}
		if child.Rated {
			surprise = append(surprise, child.Surprise)
		}
	}
	list := raised(nil)(Replanning(own.Cynefin, surprise))
	return raised(list)(Stuck(a.Tally(epic))), nil
}

// OfBlockers returns the alerts for an issue with blockers; open is the id of the one that is
// not closed yet, "" for none.
func (a Around) OfBlockers(i int, blockers []int, open string) ([]Alert, error) {
	own, err := a.Read(i)
	if err != nil {
		return nil, err
	}
	surprise := make([]float64, len(blockers))
	for k, b := range blockers {
		blocker, err := a.Read(b)
		if err != nil {
			return nil, err
		}
		surprise[k] = blocker.Surprise
	}
	return raised(nil)(Convergence(own.Cynefin, surprise, open)), nil
}

// AlertsOf returns the alerts for an issue whose table changed.
func AlertsOf(before, after *Table) (list []Alert) {
	if before.Present() {
		list = raised(list)(Shift(before.Value(Cynefin), after.Value(Cynefin)))
	}
	if s := after.Number(); s != before.Number() {
		list = raised(list)(Divergence(s))
	}
	return list
}

// raised appends an alert, if there is one.
func raised(list []Alert) func(Alert, bool) []Alert {
	return func(a Alert, is bool) []Alert {
		if is {
			list = append(list, a)
		}
		return list
	}
}
