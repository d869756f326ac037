package dag

import (
	"cmp"
	"slices"

	"stig/beads"
)

// Ring is a cycle of unclosed issues that wait for each other, and the row to
// remove to break it. More tells that cycles are left among the issues that wait
// for each other with these, see mostEdges.
type Ring struct {
	Steps  []Step
	Remove Row
	More   bool
}

// mostEdges bounds the work on deadlocks: in stores that are so tangled that
// more edges would have to be followed, the shortest cycle is the shortest of
// those seen, and cycles that share issues with one that is told are told next time.
const mostEdges = 1 << 26

// Deadlocks gives the cycles of the waiting-for relation among unclosed
// issues: of every strongly connected component the shortest cycle through "it
// can start" of an issue, then, as if its row were removed, of the components
// that are left of it, and so on. When the rows of all of them are removed no
// deadlock is left. A cycle of "it can close" alone is made of containment
// rows, which make the same cycle of "it can start" the other way round, so
// that none is missed and none told twice.
//
// Of equally short cycles it is the one with the smallest ids, so the order of
// lines and rows makes no difference. Each begins at its smallest id; they are
// sorted by that.
//
// The row to remove is the likeliest mistake: a blocking row between an issue
// and itself, or what contains it or is contained in it at any depth; then any
// other blocking row; then a containment row. Of several such the one whose
// holder has the last id, then that on the last id. Where the same two issues
// are linked by several blocking types all of them have to go.
func (g *Graph) Deadlocks() []Ring { return g.deadlocks(mostEdges) }

// deadlocks are those that are found along left edges.
func (g *Graph) deadlocks(left int) []Ring {
	order, rank := g.ranks()
	named := func(cycle []int32) []int32 {
		list := make([]int32, len(cycle))
		for k, node := range cycle {
			list[k] = 2*order[node/2] + node%2
		}
		return list
	}
	var rings []Ring
	for knots := split(g.relation(rank), nil); len(knots) > 0; knots = knots[1:] {
		knot := knots[0]
		cycle := knot.shortestCycle(func(node int32) bool { return Event(node%2) == Start }, &left)
		if cycle == nil {
			continue
		}
		steps := g.fromSmallest(stepsOf(named(cycle)))
		ring := Ring{Steps: steps, Remove: g.mistake(steps)}
		rings = append(rings, ring)
		rest := knot.without(needsOf(ring.Remove, rank))
		if left -= len(knot.edges.targets); left > 0 {
			knots = append(knots, rest...)
		} else {
			rings[len(rings)-1].More = len(rest) > 0
		}
	}
	slices.SortStableFunc(rings, func(a, b Ring) int { return g.byID(a.Steps[0].Issue, b.Steps[0].Issue) })
	return rings
}

// Tangles groups rings that share an issue, directly or through other rings,
// each group in the place of its first: several rows may close what is one cycle
// to a reader, such as those of all the children that wait for their own epic.
func Tangles(rings []Ring) [][]Ring {
	group := make([]int, len(rings)) // by ring: the first ring of its group
	of := map[int]int{}              // by issue: a ring that it is in
	for k, ring := range rings {
		group[k] = k
		for _, step := range ring.Steps {
			other, met := of[step.Issue]
			of[step.Issue] = k
			if !met || group[other] == group[k] {
				continue
			}
			from, to := max(group[other], group[k]), min(group[other], group[k])
			for j := range k + 1 {
				if group[j] == from {
					group[j] = to
				}
			}
		}
	}
	var tangles [][]Ring
	place := map[int]int{}
	for k, ring := range rings {
		if group[k] == k {
			place[k] = len(tangles)
			tangles = append(tangles, nil)
		}
		at := place[group[k]]
		tangles[at] = append(tangles[at], ring)
	}
	return tangles
}

// needsOf are the pairs of nodes that a row stands for, by the order of ids.
func needsOf(r Row, rank []int32) [][2]int32 {
	from, on := 2*rank[r.From], 2*rank[r.On]
	if kindOf(r.Type) == blocks {
		return [][2]int32{{from + int32(Start), on + int32(Close)}}
	}
	return [][2]int32{{from + int32(Start), on + int32(Start)}, {on + int32(Close), from + int32(Close)}}
}

// ranking is indices in an order, and the place of each in it.
type ranking struct{ order, rank []int32 }

// rankByID orders the issues that picked picks by their ids, and puts the
// others behind them: sorting is most of the work in a large store, and most
// issues in it are closed.
func (g *Graph) rankByID(picked func(i int) bool) ranking {
	var order, rest []int32
	for i := range g.issues.Len() {
		if picked(i) {
			order = append(order, int32(i))
		} else {
			rest = append(rest, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(g.byID(int(a), int(b)), cmp.Compare(a, b)) })
	r := ranking{order: append(order, rest...), rank: make([]int32, g.issues.Len())}
	for place, i := range r.order {
		r.rank[i] = int32(place)
	}
	return r
}

// ranks is the ranking of the unclosed issues.
func (g *Graph) ranks() (order, rank []int32) {
	r := g.ranked()
	return r.order, r.rank
}

// relation is the whole waiting-for relation among unclosed issues, with the
// place of an issue in the order of ids in its nodes, and targets in order.
func (g *Graph) relation(rank []int32) edges {
	w := waiting{graph: g}
	var links []link
	for i := range g.issues.Len() {
		if g.Closed(i) {
			continue
		}
		for _, node := range []int32{startOf(i), closeOf(i)} {
			w.each(node, func(need int32) {
				links = append(links, link{from: 2*rank[node/2] + node%2, to: 2*rank[need/2] + need%2})
			})
		}
	}
	return newSortedEdges(2*g.issues.Len(), links)
}

// fromSmallest turns a cycle so that it begins at its smallest id.
func (g *Graph) fromSmallest(steps []Step) []Step {
	first := 0
	for k := range steps {
		if g.byID(steps[k].Issue, steps[first].Issue) < 0 {
			first = k
		}
	}
	return slices.Concat(steps[first:], steps[:first])
}

// mistake picks the row to remove from a cycle.
func (g *Graph) mistake(steps []Step) Row {
	rows := make([]Row, len(steps))
	for k, s := range steps {
		rows[k] = g.rowOf(s)
	}
	return slices.MinFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(g.likelihood(a), g.likelihood(b)), g.byID(b.From, a.From), g.byID(b.On, a.On))
	})
}

// rowOf gives the row behind a step.
func (g *Graph) rowOf(s Step) Row {
	row := Row{From: s.Issue, On: s.For}
	if s.Does == Close {
		row.From, row.On = s.For, s.Issue
	}
	wanted := contains
	if s.Does == Start && s.Done == Close {
		wanted = blocks
	}
	id := g.issues.At(row.On).ID
	for _, dep := range g.issues.At(row.From).Deps {
		if dep.On == id && kindOf(dep.Type) == wanted && (row.Type == "" || dep.Type < row.Type) {
			row.Type = dep.Type
		}
	}
	return row
}

// likelihood is smaller the likelier a row of a cycle is a mistake.
func (g *Graph) likelihood(r Row) int {
	switch {
	case kindOf(r.Type) == contains && r.From == r.On:
		return 0
	case kindOf(r.Type) == contains:
		return 2
	case r.From == r.On || g.inside(r.From, r.On) || g.inside(r.On, r.From):
		return 0
	}
	return 1
}

// inside reports whether an epic contains an issue, at any depth.
func (g *Graph) inside(i, epic int) bool {
	seen := map[int32]bool{}
	for queue := slices.Clone(g.parents.of(i)); len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if int(at) == epic {
			return true
		}
		if !seen[at] {
			seen[at] = true
			queue = append(queue, g.parents.of(int(at))...)
		}
	}
	return false
}

// ClosedCycles gives, for every strongly connected component of the blocking
// edges alone, whatever the state of its issues, the shortest cycle through an
// issue that holds nothing up any more, closed or pinned: it is no deadlock,
// and yet no order of work. Each issue of a cycle waits for the next; it
// begins at its smallest id. Deleted issues (tombstones) are left out.
func (g *Graph) ClosedCycles() [][]int {
	kept := func(i int) bool { return g.issues.At(i).Status != beads.StatusTombstone }
	if !g.blockingRing(kept) {
		return nil
	}
	all := g.rankByID(kept)
	order, e := all.order, g.between(all.rank, kept)
	left := mostEdges
	var cycles [][]int
	for _, knot := range split(e, nil) {
		cycle := knot.shortestCycle(func(node int32) bool { return !g.holds(int(order[node])) }, &left)
		if cycle == nil {
			continue
		}
		first := slices.Index(cycle, slices.Min(cycle))
		var list []int
		for _, node := range slices.Concat(cycle[first:], cycle[:first]) {
			list = append(list, int(order[node]))
		}
		cycles = append(cycles, list)
	}
	slices.SortStableFunc(cycles, func(a, b []int) int { return g.byID(a[0], b[0]) })
	return cycles
}

// blockingRing reports whether any blocking edges make a ring: most often none
// do, and no order is needed then.
func (g *Graph) blockingRing(kept func(i int) bool) bool {
	places := make([]int32, g.issues.Len())
	for i := range places {
		places[i] = int32(i)
	}
	return len(split(g.between(places, kept), nil)) > 0
}

// between is the blocking edges between issues that keep picks, from issue to
// blocker, by the order of ids.
func (g *Graph) between(rank []int32, keep func(i int) bool) edges {
	var links []link
	for i := range g.issues.Len() {
		for _, b := range g.blockers.of(i) {
			if keep(i) && keep(int(b)) {
				links = append(links, link{from: rank[i], to: rank[b]})
			}
		}
	}
	return newSortedEdges(g.issues.Len(), links)
}
