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

// Why an item is in an inbox. If there are several reasons, the first one counts.
const (
	WhyTo       = "to"       // a trace names the actor
	WhyRole     = "role"     // a trace is for one of its roles
	WhyKind     = "kind"     // a trace is for @agents or @people
	WhyAll      = "all"      // a trace is for @all
	WhyAnswer   = "answer"   // a trace answers a question or a trace of the actor
	WhyFeedback = "feedback" // a trace gives feedback on an issue assigned to it
	WhyHelp     = "help"     // a trace asks for help from one of its roles
	WhyFinding  = "finding"  // a trace reports a finding on a blocker of its issues
	WhyMention  = "mention"  // a comment names it
	WhyReady    = "ready"    // an issue assigned to it can be started now
	WhyBlocker  = "blocker"  // a blocker of its issue in progress was closed
	WhyReopened = "reopened" // a blocker of its issue in progress was reopened
	WhyGate     = "gate"     // the checks of its issue failed
	WhyWatched  = "watch"    // something that it watches happened
)

// Item is one thing that concerns an actor.
type Item struct {
	Project string    `json:"project,omitempty"` // of several projects, whose item it is
	ID      string    `json:"id"`                // name of the trace, or else WHY/ISSUE/KEY
	Why     string    `json:"why"`
	Issue   string    `json:"issue"`
	Title   string    `json:"title"`   // of the issue
	At      time.Time `json:"at"`      // UTC; of an answer only the date
	By      string    `json:"by"`      // "" if unknown
	Type    string    `json:"type"`    // of the trace, "" for none
	Text    string    `json:"text"`    // one line
	Command string    `json:"command"` // the command that handles it
	Acked   bool      `json:"acked"`

	Stig   string `json:"-"` // stig as it is typed for the project
	Thread string `json:"-"` // ISSUE/AUTHOR of the first trace in the chain of answers; "" if not a trace
	ByRole bool   `json:"-"` // one answer by any addressee is enough
}

// Wakes reports whether an idle loop is started for the item: it asks something of the actor,
// names it, or answers it. News and thanks do not.
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

// isAsked reports whether a trace of this type asks for an answer.
func isAsked(kind string) bool {
	switch kind {
	case trace.Request, trace.Query, trace.Directive, trace.RequestForHelp:
		return true
	}
	return false
}

// Owner is the actor of an inbox.
type Owner struct {
	Name  string
	Kind  string // human, agent or program
	Roles []string
	Watch []string  // issues and labels
	Since time.Time // when the actor first appeared; older items do not concern it
}

// FailedChecks is a failed run of an issue's checks.
type FailedChecks struct {
	At   time.Time
	By   string // who ran them
	Text string // what failed
}

// Query asks for the items of an actor.
type Query struct {
	For   Owner
	Now   time.Time
	Acked func(id string, at time.Time) bool // nil means none is acknowledged
	// MayTake reports whether the actor may continue another holder's work; nil means no.
	MayTake func(holder string) bool
	// Claimed returns when the actor got issues, as far as known; nil means unknown.
	Claimed func(issues []string) map[string]time.Time
	// Failed returns the last run of an issue's checks if they failed; nil means none failed.
	Failed func(issue string) (FailedChecks, bool)
}

// ItemsKept is how long a closed issue still has items, and how long their acknowledgements are
// kept.
const ItemsKept = 7 * 24 * time.Hour

// ItemsOf returns the items of an actor, including acknowledged ones, which are marked. They
// are sorted oldest first, with those of one issue together at the place of its oldest. Errors
// come from reading the store.
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

// LongGone reports whether an acknowledgement made at a time can be dropped, because ItemsOf no
// longer returns items of the issue: it was closed long ago. closed is zero for an unclosed
// issue.
func LongGone(closed, at, now time.Time) bool {
	return !closed.IsZero() && now.Sub(closed) > ItemsKept && now.Sub(at) > ItemsKept
}

// mine reports whether a name is the actor's, or that of an agent that works for it.
func (a Owner) mine(name string) bool { return clone.BelongsTo(name, a.Name) }

// group returns the address of the actor's kind.
func (a Owner) group() string {
	if a.Kind == "human" {
		return "@people"
	}
	return "@agents"
}

// addressed returns why something sent to those names is for the actor; "" if it is not.
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

// issue returns the project and the issue of an item.
func (i Item) issue() [2]string { return [2]string{i.Project, i.Issue} }

// IsBeside reports whether two items are about the same issue.
func (i Item) IsBeside(other Item) bool { return i.issue() == other.issue() }

func byTime(a, b Item) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Project, b.Project), strings.Compare(a.Issue, b.Issue), strings.Compare(a.ID, b.ID))
}

// grouped sorts items oldest first, with those of one issue together.
func grouped(items []Item) []Item {
	slices.SortFunc(items, byTime)
	place := map[[2]string]int{}
	for i, item := range items {
		if _, there := place[item.issue()]; !there {
			place[item.issue()] = i
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return place[a.issue()] - place[b.issue()] })
	return items
}
