package traces

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/trace"
)

// Why an item is in an inbox. Of several reasons the first one counts.
const (
	WhyTo       = "to"       // a trace names the actor
	WhyRole     = "role"     // a trace is for one of its roles
	WhyKind     = "kind"     // a trace is for @agents or @people
	WhyAll      = "all"      // a trace is for @all
	WhyAnswer   = "answer"   // to a question that it asked, or to a trace of its own
	WhyFeedback = "feedback" // on an issue that is assigned to it
	WhyHelp     = "help"     // somebody needs one of its roles
	WhyFinding  = "finding"  // on an issue that its own waits for
	WhyMention  = "mention"  // a comment names it
	WhyReady    = "ready"    // an issue that is assigned to it can be started now
	WhyBlocker  = "blocker"  // what an issue in its hands waits for was closed
	WhyReopened = "reopened" // what an issue in its hands waits for was opened again
	WhyGate     = "gate"     // the checks of its issue failed
	WhyWatched  = "watch"    // something happened that it watches
)

// Item is one thing that concerns an actor.
type Item struct {
	ID      string    `json:"id"` // the name of the trace, else WHY/ISSUE/KEY
	Why     string    `json:"why"`
	Issue   string    `json:"issue"`
	Title   string    `json:"title"`   // of the issue
	At      time.Time `json:"at"`      // UTC; of an answer the day
	By      string    `json:"by"`      // "" where nobody is known
	Type    string    `json:"type"`    // of the trace, "" for none
	Text    string    `json:"text"`    // one line
	Command string    `json:"command"` // that deals with it
	Acked   bool      `json:"acked"`

	Thread string `json:"-"` // what it is part of: ISSUE/AUTHOR of the trace that its answers go back to; "" for no trace
	ByRole bool   `json:"-"` // one answer is enough, whoever gives it
}

// Wakes reports whether a loop that has nothing to do is started for the item: it asks
// something of the actor, names it, or answers it. News and thanks do not.
func (i Item) Wakes() bool {
	switch i.Type {
	case trace.Result, trace.Approval, trace.Notification:
		return false
	}
	switch i.Why {
	case WhyTo, WhyRole, WhyKind, WhyAll:
		return isAsked(i.Type)
	}
	return i.Why == WhyHelp || i.Why == WhyMention || i.Why == WhyAnswer
}

// isAsked reports whether a trace of a type asks for an answer.
func isAsked(kind string) bool {
	switch kind {
	case trace.Request, trace.Query, trace.Directive, trace.RequestForHelp:
		return true
	}
	return false
}

// Owner is whose inbox it is.
type Owner struct {
	Name  string
	Kind  string // human, agent or program
	Roles []string
	Watch []string  // issues, and labels of issues
	Since time.Time // its first sign of life: what is older is none of its concern
}

// FailedChecks is a run of an issue's checks that failed.
type FailedChecks struct {
	At   time.Time
	By   string // who had them run
	Text string // what failed
}

// Query asks for the items of an actor.
type Query struct {
	For   Owner
	Now   time.Time
	Acked func(id string, at time.Time) bool // nil for none is
	// MayTake reports whether the actor may go on with what another holds; nil for none.
	MayTake func(holder string) bool
	// Claimed gives the time at which an issue came into the actor's hands; false where
	// that is not known.
	Claimed func(issue string) (time.Time, bool)
	// Failed gives the last run of an issue's checks if they failed; nil for none.
	Failed func(issue string) (FailedChecks, bool)
}

// ItemsKept is for how long an issue that is closed still has items, and how long
// acknowledgements of them are kept.
const ItemsKept = 7 * 24 * time.Hour

// ItemsOf gives the items of an actor, acknowledged ones too, which say so: the oldest
// first, those of an issue together, at the place of its oldest. Errors are those of
// reading the store.
func ItemsOf(file *beads.Snapshot, graph *dag.Graph, r Query) ([]Item, error) {
	s := newSearch(file, graph, r)
	if err := s.comments(); err != nil {
		return nil, err
	}
	if err := s.own(); err != nil {
		return nil, err
	}
	return s.items(), nil
}

// LongGone reports whether what was acknowledged on an issue at a time needs no record any
// more, since ItemsOf gives it no more: the issue was closed long ago. closed is zero for
// an issue that is not closed.
func LongGone(closed, at, now time.Time) bool {
	return !closed.IsZero() && now.Sub(closed) > ItemsKept && now.Sub(at) > ItemsKept
}

// mine reports whether a name is the actor's, or that of somebody who works for it.
func (a Owner) mine(name string) bool { return clone.BelongsTo(name, a.Name) }

// group is what its kind is addressed as.
func (a Owner) group() string {
	if a.Kind == "human" {
		return "@people"
	}
	return "@agents"
}

// addressed says why something that is for those names is for the actor, "" where it
// is not.
func (a Owner) addressed(to []string) string {
	isRole := func(name string) bool { return slices.Contains(a.Roles, name) }
	switch {
	case slices.ContainsFunc(to, a.mine):
		return WhyTo
	case slices.ContainsFunc(to, isRole):
		return WhyRole
	case slices.Contains(to, a.group()):
		return WhyKind
	case slices.Contains(to, "@all"):
		return WhyAll
	}
	return ""
}

func byTime(a, b Item) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Issue, b.Issue), strings.Compare(a.ID, b.ID))
}

// grouped sorts items: the oldest first, those of an issue together.
func grouped(items []Item) []Item {
	slices.SortFunc(items, byTime)
	place := map[string]int{}
	for i, item := range items {
		if _, there := place[item.Issue]; !there {
			place[item.Issue] = i
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return place[a.Issue] - place[b.Issue] })
	return items
}
