package dag

import (
	"time"

	"stig/internal/beads"
)

// State is where an issue stands for somebody looking for work. Every issue has exactly one, so
// that counts of states add up.
type State string

const (
	StateReady      State = "ready" // can be taken: everything below is ruled out
	StateInProgress State = "in_progress"
	StateBlocked    State = "blocked"  // waits for another issue or for what cannot be read, itself or through its epic
	StateDeferred   State = "deferred" // put off, by its status or until a day, itself or with its epic
	StateEpic       State = "epic"     // has unclosed children, which are its work, or children of which none was done
	StateComplete   State = "complete" // all its children are closed, and not all undone: to be closed itself
	StateAsked      State = "asked"    // waits for a person's answer
	StateReview     State = "review"   // its work is done, and waits for reviewers
	StateHeld       State = "held"     // open here, and somebody works on it in another work tree
	StateAssigned   State = "assigned" // open, and assigned to somebody else
	StateClosed     State = "closed"
	StateUnknown    State = "unknown" // of a status that stig does not know, such as "in review": nobody's to take
	StateOther      State = "other"   // no work: pinned, a channel, ephemeral, a template, another program's record
)

// Worker is who looks for work, and when.
type Worker struct {
	Now  time.Time
	Name string // issues assigned to this name can be claimed; "" if nobody is named
	// MayTake reports whether issues assigned to another name can be claimed; nil means never.
	MayTake func(name string) bool
	// Asked reports whether an issue has an unanswered question; nil means never.
	Asked func(i int) bool
	// Reviewed describes the request for review that an issue waits for; "" for none; nil means
	// never.
	Reviewed func(i int) string
	// Held reports whether somebody works on an issue elsewhere, so that it cannot be claimed;
	// nil means never.
	Held func(i int) bool
}

// State returns where an issue stands for a worker. It is the one place that decides what can
// be claimed: an issue that is ready (IsReady), has no children and no unanswered question, and
// belongs to nobody else here or elsewhere. Standing says why.
func (g *Graph) State(i int, w Worker) State {
	issue := g.issues.At(i)
	switch {
	case g.Closed(i):
		return StateClosed
	case !offered(issue):
		return StateOther
	case !isKnown(issue.Status):
		return StateUnknown
	case issue.Status == beads.StatusInProgress:
		return StateInProgress
	case g.deferred(i, w.Now):
		return StateDeferred
	case issue.Status == beads.StatusBlocked || g.blocked[i] || g.damaged(i):
		return StateBlocked
	}
	switch closed, total := g.Progress(i); {
	case total > 0 && closed == total && g.DoneByClose(i):
		return StateComplete
	case total > 0:
		return StateEpic
	case w.Asked != nil && w.Asked(i):
		return StateAsked
	case w.Reviewed != nil && w.Reviewed(i) != "":
		return StateReview
	case w.Held != nil && w.Held(i):
		return StateHeld
	case w.isOthers(issue):
		return StateAssigned
	}
	return StateReady
}

// isOthers reports whether an issue is assigned to somebody from whom the worker may not take
// it.
func (w Worker) isOthers(issue *beads.Issue) bool {
	return issue.Assignee != "" && issue.Assignee != w.Name && (w.MayTake == nil || !w.MayTake(issue.Assignee))
}

// offered distinguishes work from notices, channels, templates and other programs' records.
func offered(issue *beads.Issue) bool { return kindWords(issue) == "" }

// damaged reports whether something in an issue's line cannot be read or written.
func (g *Graph) damaged(i int) bool {
	return (len(g.issues.At(i).Unread) > 0 || len(g.repeated) > 0) && len(g.damage(i)) > 0
}

// isKnown distinguishes the statuses of unclosed work that stig knows from others.
func isKnown(status string) bool {
	switch status {
	case beads.StatusOpen, beads.StatusInProgress, beads.StatusBlocked, beads.StatusDeferred:
		return true
	}
	return false
}

// Takeable lists what a worker can claim now, in the order of Ready.
func (g *Graph) Takeable(w Worker) []int {
	return g.ranking(func(i int) bool { return g.counts(i) && g.IsReady(i, w.Now) && g.State(i, w) == StateReady })
}

// Tally counts issues by state. Total is the sum of the others.
type Tally struct {
	Total, Ready, InProgress, Blocked, Deferred, Epics, Complete, Asked, Assigned, Closed, Unknown, Other int
}

// Add counts one more issue.
func (t *Tally) Add(s State) {
	t.Total++
	switch s {
	case StateReady:
		t.Ready++
	case StateInProgress:
		t.InProgress++
	case StateBlocked:
		t.Blocked++
	case StateDeferred:
		t.Deferred++
	case StateEpic:
		t.Epics++
	case StateComplete:
		t.Complete++
	case StateAsked, StateReview:
		t.Asked++
	case StateAssigned, StateHeld:
		t.Assigned++
	case StateClosed:
		t.Closed++
	case StateUnknown:
		t.Unknown++
	default:
		t.Other++
	}
}

// Unclosed is how many remain to be closed.
func (t Tally) Unclosed() int { return t.Total - t.Closed }

// Startable is how many somebody could start: the ready ones, the assigned ones, and epics,
// whose own children say more.
func (t Tally) Startable() int { return t.Ready + t.Assigned + t.Epics + t.Complete }

// Tally counts an epic's direct children, except ephemeral ones and templates.
func (g *Graph) Tally(epic int, w Worker) Tally {
	var t Tally
	for _, c := range g.Children(epic) {
		if g.Lasting(c) {
			t.Add(g.State(c, w))
		}
	}
	return t
}

// Lasting reports whether a survey counts an issue: it is on the line that counts for its id,
// and is not deleted, ephemeral or a template.
func (g *Graph) Lasting(i int) bool {
	issue := g.issues.At(i)
	return g.counts(i) && issue.Status != beads.StatusTombstone && !issue.Ephemeral && !issue.Template
}
