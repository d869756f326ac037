package dag

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/visible"
)

// HoldKind is the kind of a reason that keeps an issue from being claimed.
type HoldKind string

const (
	HeldByClose      HoldKind = "closed"      // it is over
	HeldByKind       HoldKind = "no-work"     // pinned, a channel, ephemeral, a template, another program's record
	HeldByStatus     HoldKind = "status"      // its status is none that can be taken
	HeldByRing       HoldKind = "deadlock"    // issues that wait for each other hold it up
	HeldByBlocker    HoldKind = "blocker"     // On is not closed
	HeldByFirstChild HoldKind = "first-child" // no child of On is closed
	HeldByCondition  HoldKind = "condition"   // it is for the case that On fails, and On did not
	HeldByExternal   HoldKind = "external"    // Raw is in another store, and not proved done: Why
	HeldByRow        HoldKind = "unread-row"  // a dependency that cannot be read
	HeldByTime       HoldKind = "unread-time" // a time that cannot be read
	HeldByLine       HoldKind = "unread-line" // its line cannot be written
	HeldByDeferral   HoldKind = "deferred"    // until a time, or by a status
	HeldByChildren   HoldKind = "children"    // its children are the work
	HeldByComplete   HoldKind = "complete"    // its children are closed, and it is to be closed itself
	HeldByEnds       HoldKind = "undone"      // its children are closed, and none was done
	HeldByQuestion   HoldKind = "question"    // waits for a person's answer
	HeldByReview     HoldKind = "review"      // its work is done, and waits for reviewers; Raw has the request
	HeldByStack      HoldKind = "stack"       // it is built upon On, which is in review: it cannot be closed before
	HeldByLease      HoldKind = "lease"       // somebody works on it in another work tree
	HeldByAssignee   HoldKind = "assignee"    // it is somebody else's
)

// Hold is one reason why an issue cannot be claimed.
type Hold struct {
	Kind    HoldKind
	On      int       // the issue that blocks it; -1 for none
	Through int       // the issue with the reason: this one, or an epic above it
	Raw     string    // raw text from the store: an id elsewhere, a value, a status, a name
	Count   int       // number of children
	Until   time.Time // end of a deferral
	Ring    []Step
	Why     string // why what Raw names in another store does not count as done
}

// Unreadable reports whether the reason is something unreadable in the store.
func (h Hold) Unreadable() bool {
	return h.Kind == HeldByRow || h.Kind == HeldByTime || h.Kind == HeldByLine
}

// Words phrases the reason, to follow the id of the issue at i; name returns the name of an
// issue.
func (h Hold) Words(i int, name func(i int) string) string {
	raw := visible.OneLine(h.Raw)
	words := ""
	switch h.Kind {
	case HeldByClose:
		return "is closed"
	case HeldByKind:
		return "is " + raw
	case HeldByStatus:
		return fmt.Sprintf("has the status %q, and only open issues can be claimed", h.Raw)
	case HeldByRing:
		return "is in a dependency cycle: " + strings.Join(Circle(h.Ring, name), "; ")
	case HeldByBlocker:
		words = "is blocked by " + name(h.On)
	case HeldByFirstChild:
		words = "waits for the first child of " + name(h.On) + " to be closed"
	case HeldByCondition:
		words = "is needed only if " + name(h.On) + " fails, and " + name(h.On) + " was closed without failing"
	case HeldByExternal:
		words = "waits for " + raw + ", in another store: " + visible.OneLine(h.Why)
	case HeldByRow:
		words = "has a dependency that cannot be read: " + raw
	case HeldByTime:
		words = "has a time that cannot be read: " + raw
	case HeldByLine:
		return "cannot be written: " + raw
	case HeldByDeferral:
		return h.deferral(i, name)
	case HeldByChildren:
		return "has " + visible.Counted(h.Count, "unclosed child issue") + ", the work on it"
	case HeldByComplete:
		return "has all its children closed; it only needs to be closed itself"
	case HeldByEnds:
		return "is not finished by its children: " + raw
	case HeldByQuestion:
		return "has an unanswered question"
	case HeldByReview:
		return "is " + raw
	case HeldByStack:
		return "is built upon " + name(h.On) + ", which is in review"
	case HeldByLease:
		return "is held in another work tree"
	case HeldByAssignee:
		return "is claimed by " + raw
	}
	switch {
	case h.Through == i || h.Through == none:
		return words
	case h.Kind == HeldByBlocker:
		return words + ", which its epic " + name(h.Through) + " waits for"
	}
	return "is in " + name(h.Through) + ", which " + words
}

// deferral says until when something is deferred, and by what.
func (h Hold) deferral(i int, name func(i int) string) string {
	words := "is deferred"
	if !h.Until.IsZero() {
		words += " until " + h.Until.UTC().Format(time.DateOnly)
	}
	if h.Through != i {
		words += " with its epic " + name(h.Through)
	}
	return words
}

// Standing is where an issue stands for a worker, and why it cannot be claimed.
type Standing struct {
	State State
	Holds []Hold // none if it can be claimed
	of    int    // the issue
	stack []Hold // that it is built upon an issue in review
}

// Free reports whether the worker can claim the issue.
func (s Standing) Free() bool { return len(s.Holds) == 0 }

// KeepsOpen filters the reasons to those that also prevent closing the issue: its own. What an
// epic above it waits for decides when work may begin, not whether finished work counts. Work
// in flight may have begun despite a blocker in another store.
func (s Standing) KeepsOpen() Standing {
	keeps := s.only(func(h Hold) bool {
		switch h.Kind {
		case HeldByBlocker, HeldByFirstChild, HeldByRow:
			return h.Through == s.of
		case HeldByRing:
			return slices.ContainsFunc(s.Holds, func(o Hold) bool { return o.Kind == HeldByBlocker && o.Through == s.of })
		case HeldByExternal:
			return h.Through == s.of && s.State != StateInProgress
		}
		return h.Kind == HeldByChildren
	})
	keeps.Holds = append(keeps.Holds, s.stack...)
	return keeps
}

// Inherited filters the reasons to those that come from the epics above the issue.
func (s Standing) Inherited() Standing {
	return s.only(func(h Hold) bool {
		switch h.Kind {
		case HeldByBlocker, HeldByFirstChild, HeldByRow, HeldByExternal, HeldByCondition:
			return h.Through != s.of && h.On != s.of
		}
		return false
	})
}

// only filters the reasons by keep.
func (s Standing) only(keep func(Hold) bool) Standing {
	s.Holds = slices.DeleteFunc(slices.Clone(s.Holds), func(h Hold) bool { return !keep(h) })
	return s
}

// Condition is a row that makes an issue necessary only if another one fails.
type Condition struct {
	On     int
	Failed bool // it was closed, and its reason says that it failed
}

// Conditions lists an issue's conditions on others in the store.
func (g *Graph) Conditions(i int) (list []Condition) {
	for _, dep := range g.issues.At(i).Deps {
		if dep.Type != beads.Conditional {
			continue
		}
		if on, ok := g.issues.Index(dep.On); ok {
			list = append(list, Condition{On: on, Failed: g.Closed(on) && g.outcome(on).Failed})
		}
	}
	return list
}

// Words phrases the condition; name returns the name of an issue.
func (c Condition) Words(name func(i int) string) string {
	if c.Failed {
		return "only because " + name(c.On) + " failed"
	}
	return "only if " + name(c.On) + " fails"
}

// Missing lists the ids that an issue waits for and the store lacks: they do not block.
func (g *Graph) Missing(i int) (ids []string) {
	for _, dep := range g.issues.At(i).Deps {
		if kindOf(dep.Type) != blocks || IsExternal(dep.On) {
			continue
		}
		if _, ok := g.issues.Index(dep.On); !ok && !slices.Contains(ids, dep.On) {
			ids = append(ids, dep.On)
		}
	}
	return ids
}

// Words phrases the reasons, most important first; of many blockers it names the first.
func (s Standing) Words(i int, name func(i int) string) (words []string) {
	const most = 5
	for k := 0; k < len(s.Holds); {
		h := s.Holds[k]
		end := k + 1
		for end < len(s.Holds) && h.Kind == HeldByBlocker && s.Holds[end].Kind == HeldByBlocker && s.Holds[end].Through == h.Through {
			end++
		}
		words = append(words, h.Words(i, func(at int) string {
			if at != h.On || h.Kind != HeldByBlocker {
				return name(at)
			}
			text := name(at)
			for _, more := range s.Holds[k+1 : min(end, k+most)] {
				text += ", " + name(more.On)
			}
			if end-k > most {
				text += fmt.Sprintf(" and %d more", end-k-most)
			}
			return text
		}))
		k = end
	}
	return words
}

// Has returns the first reason of a kind.
func (s Standing) Has(kind HoldKind) (Hold, bool) {
	k := slices.IndexFunc(s.Holds, func(h Hold) bool { return h.Kind == kind })
	if k < 0 {
		return Hold{}, false
	}
	return s.Holds[k], true
}

// Standing is State with every reason. It takes time linear in what the issue waits for,
// directly or indirectly.
func (g *Graph) Standing(i int, w Worker) Standing {
	s := Standing{State: g.State(i, w), of: i}
	if s.State != StateReady {
		s.Holds = g.holdsOf(i, w)
	}
	if u, ok := g.upon[i]; ok {
		s.stack = []Hold{{Kind: HeldByStack, On: u.On, Through: i}}
	}
	return s
}

func (g *Graph) holdsOf(i int, w Worker) (list []Hold) {
	issue := g.issues.At(i)
	add := func(h Hold) { list = append(list, h) }
	if g.Closed(i) {
		return []Hold{{Kind: HeldByClose, On: none, Through: i}}
	}
	if words := kindWords(issue); words != "" {
		add(Hold{Kind: HeldByKind, On: none, Through: i, Raw: words})
	}
	if !isKnown(issue.Status) || issue.Status == beads.StatusBlocked {
		add(Hold{Kind: HeldByStatus, On: none, Through: i, Raw: issue.Status})
	}
	list = append(list, g.Holds(i, w.Now)...)
	list = append(list, g.byChildren(i)...)
	if w.Asked != nil && w.Asked(i) {
		add(Hold{Kind: HeldByQuestion, On: none, Through: i})
	}
	if w.Reviewed != nil {
		if words := w.Reviewed(i); words != "" {
			add(Hold{Kind: HeldByReview, On: none, Through: i, Raw: words})
		}
	}
	if w.Held != nil && w.Held(i) {
		add(Hold{Kind: HeldByLease, On: none, Through: i})
	}
	if w.isOthers(issue) {
		add(Hold{Kind: HeldByAssignee, On: none, Through: i, Raw: issue.Assignee})
	}
	return list
}

// Holds returns what keeps anybody from starting an issue: its blockers and those of unclosed
// epics above it, a deferral, and what cannot be read.
func (g *Graph) Holds(i int, now time.Time) (list []Hold) {
	if g.Closed(i) {
		return nil
	}
	if by, ok := g.deferral(i, now); ok {
		until := g.issues.At(by).DeferUntil
		if !until.After(now) {
			until = time.Time{}
		}
		list = append(list, Hold{Kind: HeldByDeferral, On: none, Through: by, Until: until})
	}
	if g.blocked[i] {
		held := g.Above(i)
		if ring := g.ringOf(held); ring != nil {
			list = append(list, Hold{Kind: HeldByRing, On: none, Through: i, Ring: ring})
		}
		for _, at := range held {
			for _, b := range g.OpenBlockers(at) {
				list = append(list, Hold{Kind: HeldByBlocker, On: b, Through: at})
			}
			list = append(list, g.own[at]...)
		}
	}
	return append(list, g.damage(i)...)
}

// Above returns an issue and the unclosed epics that contain it, nearest first.
func (g *Graph) Above(i int) []int {
	list, seen := []int{i}, map[int]bool{i: true}
	for k := 0; k < len(list); k++ {
		for _, epic := range g.parentsOf(list[k]) {
			if !seen[epic] && !g.Closed(epic) {
				seen[epic] = true
				list = append(list, epic)
			}
		}
	}
	return list
}

// ringOf returns a cycle that keeps an issue from being started: through itself, or through the
// start of the nearest epic above it that is in one. held is Above.
func (g *Graph) ringOf(held []int) []Step {
	ring := g.RingThrough(held[0])
	for _, epic := range held[1:] {
		if ring == nil && g.blocked[epic] {
			ring = g.ring(startOf(epic))
		}
	}
	return ring
}

// deferral returns what defers an issue: itself, or the nearest unclosed epic above it.
func (g *Graph) deferral(i int, now time.Time) (by int, ok bool) {
	if !g.putOff[i] {
		return none, false
	}
	for _, at := range g.Above(i) {
		if issue := g.issues.At(at); issue.Status == beads.StatusDeferred || issue.DeferUntil.After(now) {
			return at, true
		}
	}
	return none, false
}

func (g *Graph) deferred(i int, now time.Time) bool {
	_, ok := g.deferral(i, now)
	return ok
}

// damage is what of an issue's line cannot be read or written, except its rows.
func (g *Graph) damage(i int) (list []Hold) {
	if g.repeated[i] {
		list = append(list, Hold{Kind: HeldByLine, On: none, Through: i, Raw: "its id is on another line too"})
	}
	for _, u := range g.issues.At(i).Unread {
		switch {
		case u.Rule == beads.UnreadTime && u.Time.IsZero() && u.Key != beads.DeferUntil && u.Key != beads.ClosedAt:
			list = append(list, Hold{Kind: HeldByTime, On: none, Through: i, Raw: string(u.Key) + " " + u.Raw})
		case u.Rule == beads.WrongType || u.Rule == beads.RepeatedKey:
			list = append(list, Hold{Kind: HeldByLine, On: none, Through: i, Raw: fmt.Sprintf("%q %s", string(u.Key), u.Why)})
		}
	}
	return list
}

// Beside returns what blocks an issue itself other than unclosed issues: another store,
// something unreadable, an unmet condition.
func (g *Graph) Beside(i int) Standing {
	return Standing{State: StateBlocked, of: i, Holds: append(slices.Clone(g.own[i]), g.damage(i)...)}
}

// HeldBeside lists the unclosed issues that something other than issues blocks, in the order of
// the store.
func (g *Graph) HeldBeside() (list []int) {
	g.needAll()
	some := slices.Concat(g.odd, slices.Collect(maps.Keys(g.own)), slices.Collect(maps.Keys(g.repeated)))
	slices.Sort(some)
	for _, i := range slices.Compact(some) {
		if (len(g.own[i]) > 0 || g.damaged(i)) && g.Outstanding(i) {
			list = append(list, i)
		}
	}
	return list
}

// Unread filters the reasons to unreadable ones.
func (s Standing) Unread() Standing {
	return s.only(Hold.Unreadable)
}

// byChildren returns the reasons from an issue's children against claiming it.
func (g *Graph) byChildren(i int) []Hold {
	h := Hold{On: none, Through: i}
	switch closed, total := g.Progress(i); {
	case total == 0:
		return nil
	case closed < total:
		h.Kind, h.Count = HeldByChildren, total-closed
	case g.DoneByClose(i):
		h.Kind = HeldByComplete
	default:
		h.Kind, h.Raw = HeldByEnds, g.Ends(i).Words()
	}
	return []Hold{h}
}

// kindWords says why an issue is not work; "" if it is.
func kindWords(issue *beads.Issue) string {
	switch {
	case issue.IsPinned():
		return "pinned: a notice, not work"
	case issue.Channel:
		return "a channel: a place to talk, not work"
	case issue.Template:
		return "a template, not work"
	case issue.Ephemeral:
		return "ephemeral, not work"
	case !isWork(issue.Type):
		return "another program's record, of type " + issue.Type
	}
	return ""
}
