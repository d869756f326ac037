package signals

import (
	"slices"
	"strings"

	"stig/notes"
)

// Noted is what the notes of an issue say to the issues around it. It holds no text of
// the notes, so that those of a whole store are small.
type Noted struct {
	Cynefin  string
	Surprise float64
	Rated    bool // a surprise is recorded
	Asks     bool // a question is unanswered

	only string // the workers whom the questions keep from the issue, a line each; "" where they keep everybody
}

// Holds reports whether an unanswered question keeps a worker from the issue.
func (n Noted) Holds(worker string) bool {
	return n.Asks && (n.only == "" || slices.Contains(strings.Split(n.only, "\n"), worker))
}

// Unnoted is what an issue without notes says.
func Unnoted() Noted { return Noted{Cynefin: Cynefin.Default()} }

// Note gives what a document and its table say.
func Note(doc *notes.Doc, table *Table) Noted {
	return Noted{
		Cynefin:  strings.Clone(table.Value(Cynefin)),
		Surprise: table.Number(), Rated: table.Has(Surprise),
		Asks: Asks(doc, table), only: only(doc),
	}
}

// only are the workers whom the unanswered questions of a document hold back, a line each; ""
// where one of them holds back everybody.
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

// Graph is what alerts have to know of the graph of issues.
type Graph interface {
	Closed(i int) bool
	Children(epic int) []int
}

// Around finds the alerts about an issue that come from those around it.
type Around struct {
	Graph Graph
	// Tally counts the children of an epic: those that are unclosed, that somebody could
	// start, and that are in progress.
	Tally func(epic int) (unclosed, startable, inProgress int)
	Read  func(i int) (Noted, error)
}

// OfChildren are the alerts about an unclosed epic, none about another issue.
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

// OfBlockers are the alerts about an issue that builds on some; open is the id of the one
// of them that is not closed yet, "" for none.
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

// AlertsOf are the alerts about an issue whose table changed.
func AlertsOf(before, after *Table) (list []Alert) {
	if before.Present() {
		list = raised(list)(Shift(before.Value(Cynefin), after.Value(Cynefin)))
	}
	if s := after.Number(); s != before.Number() {
		list = raised(list)(Divergence(s))
	}
	return list
}

// raised adds an alert, if it is one.
func raised(list []Alert) func(Alert, bool) []Alert {
	return func(a Alert, is bool) []Alert {
		if is {
			list = append(list, a)
		}
		return list
	}
}
