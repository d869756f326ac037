// Package dag answers questions about how a store's issues are linked: what an issue was built
// on, what it waits for, who waits for it, what can start now, and which dependencies form
// cycles that would keep issues from ever starting.
//
// It uses two relations: blocking (an issue waits for another) and containment (an epic has
// children). Other dependency types never block and are ignored. All answers are indices into
// the store as read, sorted by id, so that the same store gives the same bytes.
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
	// Index returns the index of an id; of a repeated id the line that counts.
	Index(id string) (int, bool)
}

// Graph holds the links between a store's issues, by index. It is built once, in time linear in
// issues and edges, and is immutable.
type Graph struct {
	issues   Issues
	blockers edges          // issue → what it waits for
	waiters  edges          // issue → its dependents
	parents  edges          // child → epic
	children edges          // epic → child
	gates    edges          // issue → the epics whose children it waits for
	gated    edges          // epic → who waits for its children
	open     map[int32]bool // by epic whose children are awaited: one of them is not closed
	counted  []bool
	blocked  []bool
	putOff   []bool         // may be deferred, itself or through an epic above it
	repeated map[int]bool   // the id is on other lines too
	odd      []int          // issues with a malformed value
	own      map[int][]Hold // what blocks an issue and its children, other than unclosed issues
	upon     map[int]Upon   // issues that are worked on although an issue in review blocks them

	// computed on first use
	unblocks func() []int
	need     func(i int, extent beads.Extent) // see beads.Snapshot.Need
	ranked   func() ranking
}

// New links the issues of a store. Rows with an id unknown to the store link nothing;
// deliberate references to other stores, and unreadable rows, block.
func New(issues Issues) *Graph {
	g := &Graph{issues: issues, counted: countedOf(issues), repeated: map[int]bool{}, open: map[int32]bool{}, own: map[int][]Hold{}, need: needOf(issues)}
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
	g.stack()
	g.blocked = g.findBlocked()
	g.putOff = g.spread(l.putOff)
	g.unblocks = sync.OnceValue(g.countWaiting)
	g.ranked = sync.OnceValue(func() ranking { return g.rankByID(func(i int) bool { return !g.Closed(i) }) })
	return g
}

// needOf returns what notes that an answer depends on what points at an issue, for issues of
// which only some were read.
func needOf(issues Issues) func(i int, extent beads.Extent) {
	if part, ok := issues.(interface{ Need(int, beads.Extent) }); ok {
		return part.Need
	}
	return func(int, beads.Extent) {}
}

// needAll notes that an answer depends on every issue of the store.
func (g *Graph) needAll() { g.need(0, beads.Everything) }

// countedOf reports for every line whether it is the one that counts for its id. For a store
// with distinct ids this needs no lookup.
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

// counts reports whether the line at i is the one that counts for its id: only one line of a
// repeated id is linked.
func (g *Graph) counts(i int) bool { return g.counted[i] }

// Closed reports whether an issue is finished: closed or a tombstone.
func (g *Graph) Closed(i int) bool { return beads.IsClosed(g.issues.At(i).Status) }

// Incoming is a dependency row that points at an issue.
type Incoming struct {
	From int // the issue that holds the row
	Type string
}

// AllIncoming lists the rows of every type, blocking or not, that point at the issue at i, by
// the id of their holder, then by type.
func AllIncoming(issues Issues, i int) []Incoming {
	needOf(issues)(i, beads.Around)
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

// holds reports whether an issue blocks its dependents. Pinned issues are notices and channels
// are places to talk, not work.
func (g *Graph) holds(i int) bool {
	issue := g.issues.At(i)
	return !beads.IsClosed(issue.Status) && !issue.IsPinned() && !issue.Channel
}

// Outstanding reports whether an issue is work left to do: not closed, pinned or a channel, and
// on the line that counts for its id.
func (g *Graph) Outstanding(i int) bool { return g.counts(i) && g.holds(i) }

// OpenBlockers lists the unclosed issues that an issue waits for, sorted by id: its blockers
// that hold, and the unclosed children it waits for. Those of its epics are not included; see
// Holds.
func (g *Graph) OpenBlockers(i int) []int {
	return g.sorted(g.gathered(i), g.holds)
}

// gathered returns the blockers of an issue, and the children of the epics whose children it
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

// Dependents lists the issues that wait for this one or its children, including closed ones,
// sorted by id.
func (g *Graph) Dependents(i int) []int {
	return g.sorted(g.waitingFor(i), func(int) bool { return true })
}

// Waiting lists the unclosed issues that wait for this one or its children, sorted by id.
func (g *Graph) Waiting(i int) []int {
	return g.sorted(g.waitingFor(i), func(j int) bool { return !g.Closed(j) })
}

func (g *Graph) waitingFor(i int) []int32 {
	g.need(i, beads.Around)
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

// Blocked reports whether an issue must wait because of its own blockers or of those of an
// unclosed epic above it, at any depth; see Holds.
func (g *Graph) Blocked(i int) bool { return g.blocked[i] }

// waits reports whether one of an issue's own blockers holds, or anything else does.
func (g *Graph) waits(i int) bool {
	return slices.ContainsFunc(g.blockers.of(i), func(b int32) bool { return g.holds(int(b)) }) ||
		slices.ContainsFunc(g.gates.of(i), func(epic int32) bool { return g.open[epic] }) || len(g.own) > 0 && len(g.own[i]) > 0
}

// hasOpenChild reports whether a child of an epic is work left to do.
func (g *Graph) hasOpenChild(epic int) bool {
	g.need(epic, beads.Children)
	return slices.ContainsFunc(g.children.of(epic), func(c int32) bool { return g.isChild(epic, int(c)) && g.holds(int(c)) })
}

// findBlocked propagates blockage from what waits down through containment.
func (g *Graph) findBlocked() []bool {
	var waiting []int32
	for i := range g.issues.Len() {
		if _, stacked := g.upon[i]; !stacked && !g.Closed(i) && g.waits(i) {
			waiting = append(waiting, int32(i))
		}
	}
	return g.spread(waiting)
}

// spread marks unclosed issues and their unclosed descendants.
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

// Epic returns the issue that contains this one, the smallest id if there are several.
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

// Children lists the direct children of an epic without tombstones, sorted by id.
func (g *Graph) Children(epic int) []int {
	g.need(epic, beads.Children)
	return g.sorted(g.children.of(epic), func(c int) bool { return g.isChild(epic, c) })
}

// isChild reports which of the issues that rows put into an epic count.
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

// Ready lists what can be started now: by priority, then by how many wait for it (Unblocks),
// most first, then by id.
func (g *Graph) Ready(now time.Time) []int {
	return g.ranking(func(i int) bool { return g.counts(i) && g.IsReady(i, now) })
}

// ranking lists the picked issues in the order of Ready.
func (g *Graph) ranking(picked func(i int) bool) []int {
	g.needAll()
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

// IsReady reports whether an issue can be started now: it is open, nothing blocks it, and it is
// work rather than a notice, a channel, a template or another program's record. State says who
// may start it.
func (g *Graph) IsReady(i int, now time.Time) bool {
	issue := g.issues.At(i)
	return issue.Status == beads.StatusOpen && !g.blocked[i] && offered(issue) && !g.damaged(i) && !g.deferred(i, now)
}

// Due returns the first time after now at which a deferred, unclosed issue becomes due; zero
// for none.
func (g *Graph) Due(now time.Time) (due time.Time) {
	g.needAll()
	for i := range g.issues.Len() {
		if at := g.issues.At(i).DeferUntil; at.After(now) && !g.Closed(i) && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

// isWork distinguishes issues from the records that other programs keep in a store.
func isWork(issueType string) bool {
	switch issueType {
	case "merge-request", "gate", "molecule", "message", "agent", "role", "rig", "event":
		return false
	}
	return true
}

// sorted returns the targets as distinct indices, ordered by id.
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
