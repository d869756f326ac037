// Package dag answers questions about how the issues of a store are linked:
// what an issue was built on, what it waits for, who waits for it, what can
// start now, and which dependency would keep issues from ever starting.
//
// Two relations are kept: blocking (an issue waits for another) and
// containment (an epic holds its children). Every other dependency type never
// blocks and is left out. All answers are indices into the store as read,
// sorted by id, so that the same store gives the same bytes.
//
// It does not know notes, signals or how anything is printed.
//
//	g := dag.New(file)
//	for _, d := range g.ClosedDependencies(i) {
//		fmt.Println(d.Distance, file.At(d.Index).ID)
//	}
package dag

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/beads"
)

// Issues is a store as read; *beads.Snapshot is one.
type Issues interface {
	Len() int
	At(i int) *beads.Issue
	// Index gives the place of an id; of a repeated id the one that counts.
	Index(id string) (int, bool)
}

// Graph holds the links of a store over the indices of its issues. It is
// built once, in time linear in issues and edges, and never changes.
type Graph struct {
	issues   Issues
	blockers edges          // issue → what it waits for
	waiters  edges          // issue → who waits for it
	parents  edges          // child → epic
	children edges          // epic → child
	gates    edges          // issue → the epics whose children it waits for
	gated    edges          // epic → who waits for its children
	open     map[int32]bool // by epic whose children are waited for: one of them is not closed
	counted  []bool
	blocked  []bool
	putOff   []bool         // may be deferred, by itself or through an epic above it
	repeated map[int]bool   // the id stands on other lines too
	odd      []int          // issues with something that is not written as it must be
	own      map[int][]Hold // what holds an issue and those in it up, beside issues that are not closed

	// found when first asked for
	unblocks func() []int
	ranked   func() ranking
}

// New links the issues of a store. Rows that name an id which the store does not hold
// link nothing; those that point outside on purpose, and those that cannot be read, hold.
func New(issues Issues) *Graph {
	g := &Graph{issues: issues, counted: countedOf(issues), repeated: map[int]bool{}, open: map[int32]bool{}, own: map[int][]Hold{}}
	l := linker{Graph: g}
	for i := range issues.Len() {
		issue := issues.At(i)
		if issue.Status == beads.StatusDeferred || !issue.DeferUntil.IsZero() {
			l.putOff = append(l.putOff, int32(i))
		}
		if g.counts(i) {
			l.read(i, issue)
		} else if at, ok := issues.Index(issue.ID); ok {
			g.repeated[at] = true
		}
	}
	n := issues.Len()
	g.parents, g.children = newEdges(n, l.containment), newEdges(n, reversed(l.containment))
	l.gather()
	l.judge()
	g.blockers, g.waiters = newEdges(n, l.blocking), newEdges(n, reversed(l.blocking))
	if len(l.gating) > 0 {
		g.gates, g.gated = newEdges(n, l.gating), newEdges(n, reversed(l.gating))
	}
	for _, row := range l.gating {
		if _, known := g.open[row.to]; !known {
			g.open[row.to] = g.hasOpenChild(int(row.to))
		}
	}
	g.blocked = g.findBlocked()
	g.putOff = g.spread(l.putOff)
	g.unblocks = sync.OnceValue(g.countWaiting)
	g.ranked = sync.OnceValue(func() ranking { return g.rankByID(func(i int) bool { return !g.Closed(i) }) })
	return g
}

// countedOf tells of every line whether it is the one that its id stands for.
// A store that knows its ids to be distinct spares the looking up.
func countedOf(issues Issues) []bool {
	counted := make([]bool, issues.Len())
	known, ok := issues.(interface{ Distinct() bool })
	distinct := ok && known.Distinct()
	for i := range counted {
		if counted[i] = distinct; !distinct {
			at, ok := issues.Index(issues.At(i).ID)
			counted[i] = ok && at == i
		}
	}
	return counted
}

// counts reports whether the line at i is the one that its id stands for: of
// repeated ids only one is linked.
func (g *Graph) counts(i int) bool { return g.counted[i] }

// Closed reports whether an issue is over: closed or a tombstone.
func (g *Graph) Closed(i int) bool { return beads.IsClosed(g.issues.At(i).Status) }

// Incoming is a dependency row that points at an issue.
type Incoming struct {
	From int // the issue that holds the row
	Type string
}

// AllIncoming lists the rows of every type, blocking or not, that point at the
// issue at i, by the id of their holder, then by type.
func AllIncoming(issues Issues, i int) []Incoming {
	id := issues.At(i).ID
	var rows []Incoming
	for from := range issues.Len() {
		for _, dep := range issues.At(from).Deps {
			if dep.On == id {
				rows = append(rows, Incoming{From: from, Type: dep.Type})
			}
		}
	}
	slices.SortFunc(rows, func(a, b Incoming) int {
		return cmp.Or(cmp.Compare(issues.At(a.From).ID, issues.At(b.From).ID), cmp.Compare(a.Type, b.Type))
	})
	return rows
}

// holds reports whether an issue holds up those that wait for it. Pinned ones
// are notices, and channels places to talk, not work.
func (g *Graph) holds(i int) bool {
	issue := g.issues.At(i)
	return !beads.IsClosed(issue.Status) && !issue.IsPinned() && !issue.Channel
}

// Outstanding reports whether an issue is work that is left to do: neither
// closed nor pinned nor a channel, and on the line that its id stands for.
func (g *Graph) Outstanding(i int) bool { return g.counts(i) && g.holds(i) }

// OpenBlockers lists the issues that an issue waits for and that are not closed, sorted by
// id: its blockers that hold, and the unclosed children of what it gathers. Those of its
// epics are not among them; see Holds.
func (g *Graph) OpenBlockers(i int) []int {
	return g.sorted(g.gathered(i), g.holds)
}

// gathered are the blockers of an issue, and the children of the epics whose children it
// waits for.
func (g *Graph) gathered(i int) []int32 {
	targets := g.blockers.of(i)
	if epics := g.gates.of(i); len(epics) > 0 {
		targets = slices.Clone(targets)
		for _, epic := range epics {
			for _, child := range g.Children(int(epic)) {
				targets = append(targets, int32(child))
			}
		}
	}
	return targets
}

// Dependents lists the issues that wait for this one or for its children, closed ones too,
// sorted by id.
func (g *Graph) Dependents(i int) []int {
	return g.sorted(g.waitingFor(i), func(int) bool { return true })
}

// Waiting lists the unclosed issues that wait for this one, or for its children, sorted by id.
func (g *Graph) Waiting(i int) []int {
	return g.sorted(g.waitingFor(i), func(j int) bool { return !g.Closed(j) })
}

func (g *Graph) waitingFor(i int) []int32 {
	list := g.waiters.of(i)
	if len(g.gated.targets) == 0 {
		return list
	}
	list = slices.Concat(list, g.gated.of(i))
	for _, epic := range g.parentsOf(i) {
		list = append(list, g.gated.of(epic)...)
	}
	return list
}

// Blocked reports whether an issue must wait: something of its own holds it, or
// an unclosed epic above it, at any depth; see Holds for what.
func (g *Graph) Blocked(i int) bool { return g.blocked[i] }

// waits reports whether a blocker of an issue's own holds, or anything else does.
func (g *Graph) waits(i int) bool {
	return slices.ContainsFunc(g.blockers.of(i), func(b int32) bool { return g.holds(int(b)) }) ||
		slices.ContainsFunc(g.gates.of(i), func(epic int32) bool { return g.open[epic] }) || len(g.own) > 0 && len(g.own[i]) > 0
}

// hasOpenChild reports whether a child of an epic is work that is left to do.
func (g *Graph) hasOpenChild(epic int) bool {
	return slices.ContainsFunc(g.children.of(epic), func(c int32) bool { return g.isChild(epic, int(c)) && g.holds(int(c)) })
}

// findBlocked spreads blockage from what waits for something down through containment.
func (g *Graph) findBlocked() []bool {
	var waiting []int32
	for i := range g.issues.Len() {
		if !g.Closed(i) && g.waits(i) {
			waiting = append(waiting, int32(i))
		}
	}
	return g.spread(waiting)
}

// spread marks unclosed issues, and the unclosed ones in them.
func (g *Graph) spread(queue []int32) []bool {
	marked := make([]bool, g.issues.Len())
	for _, i := range queue {
		marked[i] = !g.Closed(int(i))
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !marked[at] {
			continue
		}
		for _, child := range g.children.of(int(at)) {
			if !marked[child] && !g.Closed(int(child)) {
				marked[child] = true
				queue = append(queue, child)
			}
		}
	}
	return marked
}

// Epic gives the issue that contains this one. Where a store names several,
// the smallest id is taken.
func (g *Graph) Epic(i int) (epic int, ok bool) {
	parents := g.parentsOf(i)
	if len(parents) == 0 {
		return 0, false
	}
	return parents[0], true
}

// Parents lists the issues that contain an issue directly, sorted by id.
func (g *Graph) Parents(i int) []int { return g.parentsOf(i) }

func (g *Graph) parentsOf(i int) []int {
	return g.sorted(g.parents.of(i), func(p int) bool { return p != i })
}

// Children lists what an epic contains directly, tombstones left out, sorted by id.
func (g *Graph) Children(epic int) []int {
	return g.sorted(g.children.of(epic), func(c int) bool { return g.isChild(epic, c) })
}

// isChild tells what counts among those that rows put into an epic.
func (g *Graph) isChild(epic, c int) bool {
	return c != epic && g.issues.At(c).Status != beads.StatusTombstone
}

// Progress counts an epic's children, and how many of them are closed.
func (g *Graph) Progress(epic int) (closed, total int) {
	children := g.Children(epic)
	for _, c := range children {
		if g.Closed(c) {
			closed++
		}
	}
	return closed, len(children)
}

// Ready lists what can be started now: by priority, then by how many wait for
// it (Unblocks), the most first, then by id.
func (g *Graph) Ready(now time.Time) []int {
	return g.ranking(func(i int) bool { return g.counts(i) && g.IsReady(i, now) })
}

// ranking lists the issues that picked picks in the order of Ready.
func (g *Graph) ranking(picked func(i int) bool) []int {
	var list []int
	for i := range g.issues.Len() {
		if picked(i) {
			list = append(list, i)
		}
	}
	unblocks := g.Unblocks()
	slices.SortFunc(list, func(a, b int) int {
		x, y := g.issues.At(a), g.issues.At(b)
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(unblocks[b], unblocks[a]), strings.Compare(x.ID, y.ID))
	})
	return list
}

// IsReady reports whether an issue can be started now: open, held up by nothing, and
// work rather than a notice, a channel, a template or another program's record. Who may
// start it is what State says.
func (g *Graph) IsReady(i int, now time.Time) bool {
	issue := g.issues.At(i)
	return issue.Status == beads.StatusOpen && !g.blocked[i] && offered(issue) && !g.damaged(i) && !g.deferred(i, now)
}

// Due is the first time after now until which an unclosed issue is put off; zero for none.
func (g *Graph) Due(now time.Time) (due time.Time) {
	for i := range g.issues.Len() {
		if at := g.issues.At(i).DeferUntil; at.After(now) && !g.Closed(i) && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

// isWork tells issues from the records that other programs keep in a store.
func isWork(issueType string) bool {
	switch issueType {
	case "merge-request", "gate", "molecule", "message", "agent", "role", "rig", "event":
		return false
	}
	return true
}

// sorted turns targets into indices without repeats, in the order of their ids.
func (g *Graph) sorted(targets []int32, keep func(int) bool) []int {
	var list []int
	for _, t := range targets {
		if keep(int(t)) {
			list = append(list, int(t))
		}
	}
	slices.SortFunc(list, g.byID)
	return slices.Compact(list)
}

func (g *Graph) byID(a, b int) int { return strings.Compare(g.issues.At(a).ID, g.issues.At(b).ID) }
