package dag

import (
	"cmp"
	"slices"

	"stig/internal/beads"
)

// Ring is a cycle of unclosed issues that wait for each other, and the row to remove to break
// it. More is the number of issues among which there are further, unreported cycles, because
// they exceed mostTangled vertices or mostSteps.
type Ring struct {
	Steps  []Step
	Remove Row
	More   int
}

// Deadlocks returns the dependency cycles among unclosed issues: for every strongly connected
// component the shortest cycle through an "it can start", then, as if its row were removed,
// those of the remaining components, and so on. Removing the rows of all of them leaves no
// deadlock. A cycle of "it can close" alone consists of containment rows, which form the same
// cycle of "it can start" in reverse, so none is missed and none reported twice.
//
// The order of lines and rows does not matter. Each cycle begins at its smallest id; cycles are
// sorted by that, then by length, then by their rows.
//
// The row to remove is the most likely mistake: first a blocking row between an issue and
// itself, an ancestor or a descendant; then any other blocking row; then a containment row. On
// a tie it is the one whose holder has the last id, then the last target. If several blocking
// types link the same two issues, all must go.
func (g *Graph) Deadlocks() []Ring {
	g.needAll()
	return g.deadlocks(mostSteps)
}

// deadlocks are those found within a number of steps.
func (g *Graph) deadlocks(left int) (rings []Ring) {
	e := g.relation()
	_, groups, _ := e.knots()
	for _, group := range groups {
		if len(group) > 1 || slices.Contains(e.of(int(group[0])), group[0]) {
			rings = append(rings, g.untangle(e, group, &left)...)
		}
	}
	slices.SortStableFunc(rings, func(a, b Ring) int {
		return cmp.Or(g.byID(a.Steps[0].Issue, b.Steps[0].Issue), cmp.Compare(len(a.Steps), len(b.Steps)),
			g.byID(a.Remove.From, b.Remove.From), g.byID(a.Remove.On, b.Remove.On))
	})
	return rings
}

// untangle returns the cycles of a component, shortest first, each as if the rows of the
// previous ones were removed.
func (g *Graph) untangle(e edges, group []int32, left *int) (rings []Ring) {
	issues := make(map[int32]bool, len(group)) // the issues of the component
	starts := 0
	for _, node := range group {
		issues[node/2] = true
		if Event(node%2) == Start {
			starts++
		}
	}
	slices.SortFunc(group, func(a, b int32) int { return cmp.Or(cmp.Compare(a%2, b%2), g.byID(int(a/2), int(b/2))) })
	tell := func(nodes []int32, more int) Row {
		steps := g.fromSmallest(g.stepsOf(nodes))
		rings = append(rings, Ring{Steps: steps, Remove: g.mistake(steps), More: more})
		return rings[len(rings)-1].Remove
	}
	if len(group) > mostTangled {
		tell(e.walked(group), len(issues))
		return rings
	}
	k := e.component(group, starts)
	for nodes := k.shortest(left); nodes != nil; nodes = k.shortest(left) {
		for _, pair := range needsOf(tell(nodes, 0)) {
			k.cut(pair[0], pair[1])
		}
		if *left <= 0 {
			if k.shortest(left) != nil {
				rings[len(rings)-1].More = len(issues)
			}
			break
		}
	}
	return rings
}

// CycleGroups groups cycles that share an issue, directly or through other cycles, each group
// at the position of its first: several rows may close what a reader sees as one cycle, such as
// the rows of all children that wait for their own epic.
func CycleGroups(rings []Ring) [][]Ring {
	group := make([]int, len(rings)) // by cycle: the first one of its group
	of := map[int]int{}              // by issue: a cycle that contains it
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

// needsOf returns the pairs of nodes that a row stands for.
func needsOf(r Row) [][2]int32 {
	if kindOf(r.Type) == blocks {
		return [][2]int32{{startOf(r.From), closeOf(r.On)}}
	}
	return [][2]int32{{startOf(r.From), startOf(r.On)}, {closeOf(r.On), closeOf(r.From)}}
}

// ranking is a sorted list of indices, with the rank of each.
type ranking struct{ order, rank []int32 }

// rankByID sorts the picked issues by id and puts the others after them: sorting is most of the
// work in a large store, and most issues there are closed.
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
	g.needAll()
	r := g.ranked()
	return r.order, r.rank
}

// relation is the whole waiting-for relation among unclosed issues.
func (g *Graph) relation() edges {
	g.needAll()
	w := waiting{graph: g}
	var links []link
	for i := range g.issues.Len() {
		if g.Closed(i) {
			if len(g.gated.of(i)) > 0 {
				w.each(closeOf(i), func(need int32) { links = append(links, link{from: closeOf(i), to: need}) })
			}
			continue
		}
		for _, node := range []int32{startOf(i), closeOf(i)} {
			w.each(node, func(need int32) { links = append(links, link{from: node, to: need}) })
		}
	}
	return newEdges(2*g.issues.Len(), links)
}

// fromSmallest rotates a cycle so that it begins at its smallest id.
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

// rowOf returns the row behind a step.
func (g *Graph) rowOf(s Step) Row {
	row := Row{From: s.Issue, On: s.For}
	if s.Does == Close {
		row.From, row.On = s.For, s.Issue
	}
	wanted := contains
	if s.Does == Start && s.Done == Close {
		wanted = blocks
	}
	id, found := g.issues.At(row.On).ID, false
	for _, dep := range g.issues.At(row.From).Deps {
		if dep.On == id && kindOf(dep.Type) == wanted && (!found || dep.Type < row.Type) {
			row.Type, found = dep.Type, true
		}
	}
	if !found && wanted == contains { // a row written differently
		row.Type = "parent-child"
	}
	return row
}

// likelihood is smaller the more likely a row of a cycle is a mistake.
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

// ClosedCycles returns, for every strongly connected component of the blocking edges alone,
// whatever the status of its issues, the shortest cycle through an issue that blocks nothing
// any more, closed or pinned: such a cycle is not a deadlock, but no valid order of work
// either. Each issue of a cycle waits for the next; the cycle begins at its smallest id.
// Tombstones are ignored. Above mostTangled issues it returns some cycle.
func (g *Graph) ClosedCycles() (cycles [][]int) {
	g.needAll()
	left, e := mostSteps, g.between(nil, func(i int) bool { return g.issues.At(i).Status != beads.StatusTombstone })
	_, groups, _ := e.knots()
	for _, group := range groups {
		over := 0 // how many block nothing: they come first
		for k, node := range group {
			if !g.holds(int(node)) {
				group[k], group[over] = group[over], node
				over++
			}
		}
		if over == 0 || len(group) == 1 && !slices.Contains(e.of(int(group[0])), group[0]) {
			continue
		}
		for _, part := range [][]int32{group[:over], group[over:]} {
			slices.SortFunc(part, func(a, b int32) int { return g.byID(int(a), int(b)) })
		}
		var nodes []int32
		if len(group) > mostTangled {
			nodes = e.walked(group)
		} else {
			nodes = e.component(group, over).shortest(&left)
		}
		var cycle []int
		for _, node := range nodes {
			cycle = append(cycle, int(node))
		}
		first := slices.Index(cycle, slices.MinFunc(cycle, g.byID))
		cycles = append(cycles, slices.Concat(cycle[first:], cycle[:first]))
	}
	slices.SortStableFunc(cycles, func(a, b []int) int { return g.byID(a[0], b[0]) })
	return cycles
}

// between returns the blocking edges between the issues that keep picks, from issue to blocker,
// by rank; nil for their indices.
func (g *Graph) between(rank []int32, keep func(i int) bool) edges {
	var links []link
	for i := range g.issues.Len() {
		for _, b := range g.blockers.of(i) {
			if keep(i) && keep(int(b)) {
				l := link{from: int32(i), to: b}
				if rank != nil {
					l = link{from: rank[i], to: rank[b]}
				}
				links = append(links, l)
			}
		}
	}
	return newEdges(g.issues.Len(), links)
}
