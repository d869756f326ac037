package orient

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/signals"
)

// Children is the state of the issues that an epic contains directly.
type Children struct {
	Total      int         `json:"total"`
	Closed     int         `json:"closed"`
	Open       []Child     `json:"open"`             // startable ones first, blocked ones last
	Done       []Done      `json:"done"`             // closed children, by id
	Surprising []Surprised `json:"surprising"`       // closed children with the highest surprise, at most three
	Undone     string      `json:"undone,omitempty"` // if all are closed: how the undone ones ended

	done bool // all are closed, and at least one was done
}

// Child is an unclosed child.
type Child struct {
	beads.Ref
	State     string   `json:"state"` // one of the Child constants
	Priority  int      `json:"priority"`
	Assignee  string   `json:"assignee"`
	BlockedBy []string `json:"blocked_by"` // ids
	Closed    int      `json:"closed"`     // the number of its own closed children
	Total     int      `json:"total"`

	deferred bool
	because  string // what blocks it other than an issue
}

// Values of Child.State, in listing order.
const (
	childReady    = "ready"
	childProgress = "in progress"
	childAsked    = "waiting for an answer"
	childEpic     = "epic" // its own children are to be closed first
	childBlocked  = "blocked"
	childOther    = "other" // deferred, pinned or a status of the project's own
)

func childStates() []string {
	return []string{childReady, childProgress, childAsked, childEpic, childBlocked, childOther}
}

// Surprised is a closed issue with its recorded surprise.
type Surprised struct {
	beads.Ref
	Surprise float64 `json:"surprise"`
}

// Done is a closed child with its close reason in one line.
type Done struct {
	beads.Ref
	Reason string `json:"reason"`
}

func (d Done) size() int { return utf8.RuneCountInString(d.ID + d.Title + d.Reason) }

// mostReasons limits the closed children whose reasons are read.
const mostReasons = 200

// mostSurprising limits the closed children that a briefing of an epic names.
const mostSurprising = 3

// children returns the children of the issue at i; nil if it has none.
func (a assembly) children(i int) (*Children, error) {
	children := a.graph.Children(i)
	if len(children) == 0 {
		return nil, nil
	}
	asked, err := Pending(a.file, children, "", a.rules.Schema)
	if err != nil {
		return nil, err
	}
	c := &Children{Total: len(children), Open: []Child{}, Done: []Done{}}
	for k, at := range children {
		if a.graph.Closed(at) {
			c.Closed++
			done := Done{Ref: a.file.At(at).Ref()}
			if len(c.Done) < mostReasons {
				done.Reason = a.reason(at)
			}
			c.Done = append(c.Done, done)
			continue
		}
		c.Open = append(c.Open, a.child(at, asked[k]))
	}
	states := childStates()
	slices.SortStableFunc(c.Open, func(x, y Child) int {
		return cmp.Or(slices.Index(states, x.State)-slices.Index(states, y.State), x.Priority-y.Priority)
	})
	if len(c.Open) == 0 {
		c.Undone, c.done = a.graph.Ends(i).Words(), a.graph.DoneByClose(i)
	}
	c.Surprising, err = a.surprising(children)
	return c, err
}

func (a assembly) child(at int, asked bool) Child {
	issue := a.file.At(at)
	c := Child{
		Ref:      issue.Ref(),
		Priority: issue.Priority, Assignee: issue.Assignee, BlockedBy: []string{},
	}
	for _, held := range a.holding(at) {
		c.BlockedBy = append(c.BlockedBy, a.file.At(held.by).ID)
	}
	c.Closed, c.Total = a.graph.Progress(at)
	anybody := dag.Worker{Now: a.rules.Now, Asked: func(int) bool { return asked }}
	state := a.graph.State(at, anybody)
	c.State = childState(state, asked, len(c.BlockedBy) > 0)
	c.deferred = state == dag.StateDeferred
	if c.State == childBlocked && len(c.BlockedBy) == 0 || c.deferred && issue.Status != beads.StatusDeferred {
		c.because = a.graph.Standing(at, anybody).Words(at, func(i int) string { return a.file.At(i).ID })[0]
	}
	return c
}

// childState returns the state shown for a child in the list of its epic.
func childState(state dag.State, asked, blocked bool) string {
	switch {
	case asked && state != dag.StateDeferred:
		return childAsked
	case blocked || state == dag.StateBlocked:
		return childBlocked
	case state == dag.StateInProgress:
		return childProgress
	case state == dag.StateEpic:
		return childEpic
	case state == dag.StateReady || state == dag.StateAssigned || state == dag.StateComplete:
		return childReady
	}
	return childOther
}

// surprising returns the closed issues with the highest recorded surprise.
func (a assembly) surprising(issues []int) ([]Surprised, error) {
	list := []Surprised{}
	for _, at := range issues {
		if !a.graph.Closed(at) {
			continue
		}
		t, err := notedOf(a.file.At(at), a.rules.Schema)
		if err != nil {
			return nil, err
		}
		if t.Surprise > 0 {
			list = append(list, Surprised{a.file.At(at).Ref(), t.Surprise})
		}
	}
	slices.SortStableFunc(list, func(x, y Surprised) int { return cmp.Compare(y.Surprise, x.Surprise) })
	return list[:min(len(list), mostSurprising)], nil
}

// named adds to an alert about the children of an epic the names of the children concerned. c
// are the epic's children, nil if they were not read.
func (a assembly) named(alert signals.Alert, epic int, c *Children) (signals.Alert, error) {
	var names []string
	switch alert.Rule {
	case signals.AlertStuck:
		var err error
		if c == nil {
			c, err = a.children(epic)
		}
		if err != nil || c == nil {
			return alert, err
		}
		for _, child := range c.Open {
			names = append(names, fmt.Sprintf("%s (%s)", child.ID, strings.Join(append([]string{child.state()}, child.whys()...), "; ")))
		}
	case signals.AlertReplanning:
		list, err := a.surprising(a.graph.Children(epic))
		if err != nil {
			return alert, err
		}
		for _, s := range list {
			names = append(names, s.ID+" "+signals.Decimal(s.Surprise))
		}
	}
	const most = 5
	if left := len(names) - most; left > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", left))
	}
	if len(names) > 0 {
		alert.Message += ": " + strings.Join(names, ", ")
	}
	return alert, nil
}

func (c Child) size() int {
	return utf8.RuneCountInString(c.ID + c.Title + c.State + strings.Join(c.BlockedBy, ", "))
}

// state returns the child's state, in the project's own word if it has one.
func (c Child) state() string {
	switch {
	case c.State == childOther && c.deferred:
		return "deferred"
	case c.State == childOther:
		return cmp.Or(c.Status, "no status")
	}
	return c.State
}

// why returns what an unclosed child waits for, or who works on it.
func (c Child) why() string { return strings.Join(c.whys(), "; ") }

func (c Child) whys() (words []string) {
	const most = 4
	switch {
	case c.State == childProgress:
		words = append(words, cmp.Or(visible.OneLine(c.Assignee), "nobody named"))
	case c.Assignee != "":
		words = append(words, "assigned to "+visible.OneLine(c.Assignee))
	}
	if len(c.BlockedBy) > 0 {
		words = append(words, "by "+visible.Some(c.BlockedBy, most))
	}
	if c.because != "" {
		words = append(words, c.because)
	}
	if c.Total > 0 {
		words = append(words, fmt.Sprintf("%d of %d closed", c.Closed, c.Total))
	}
	return words
}

// childrenOf lists the children of the issue.
func (b *Briefing) childrenOf(w *page) {
	c := b.Children
	if c == nil {
		return
	}
	w.heading("Children")
	for _, child := range c.Open {
		why := child.why()
		if why != "" {
			why = " (" + why + ")"
		}
		w.linef("- %s: P%d %s %s%s", child.state(), child.Priority, child.ID, visible.OneLine(child.Title), why)
	}
	for _, d := range c.Done {
		line := fmt.Sprintf("- closed: %s %s", d.ID, title(d.Title))
		if d.Reason != "" {
			line += ": “" + d.Reason + "”"
		}
		w.line(line)
	}
	closed := fmt.Sprintf("- %d of %d closed", c.Closed, c.Total)
	for k, s := range c.Surprising {
		if k == 0 {
			closed += ", the most surprising: "
		} else {
			closed += ", "
		}
		closed += fmt.Sprintf("%s %s (%s)", s.ID, title(s.Title), signals.Decimal(s.Surprise))
	}
	switch {
	case b.complete() && c.Undone != "":
		closed += " (" + c.Undone + "): close it"
	case b.complete():
		closed += ": close it"
	case c.Undone != "":
		closed += ": none of the work was done: " + c.Undone
	}
	w.line(closed)
}

// complete reports whether all work in an unclosed epic is done.
func (b *Briefing) complete() bool {
	return b.Children != nil && b.Children.done && !b.over()
}
