package dag

import (
	"slices"

	"stig/internal/beads"
)

// Dependency is a closed issue on which another one was built.
type Dependency struct {
	Index    int
	Distance int // number of blocking edges on the shortest path: 1 for a direct dependency
}

// ClosedDependencies lists the closed issues that this one waited for, directly or through
// other closed ones, dependencies before dependents, ties by id. What is behind an open blocker
// belongs to that blocker's own list. Closed issues in a blocking cycle have no such order: the
// cycle is entered at its smallest id.
func (g *Graph) ClosedDependencies(i int) []Dependency {
	distance, looked := map[int]int{i: 0}, map[int32]bool{}
	var found []int
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, b := range g.builtOn(at, looked) {
			b := int(b)
			if _, seen := distance[b]; seen || g.issues.At(b).Status != beads.StatusClosed {
				continue
			}
			distance[b] = distance[at] + 1
			found = append(found, b)
			queue = append(queue, b)
		}
	}
	list := make([]Dependency, 0, len(found))
	for _, b := range g.topological(found) {
		list = append(list, Dependency{Index: b, Distance: distance[b]})
	}
	return list
}

// builtOn is gathered, without the children of epics visited before.
func (g *Graph) builtOn(i int, looked map[int32]bool) []int32 {
	targets := g.blockers.of(i)
	for _, epic := range g.gates.of(i) {
		if !looked[epic] {
			looked[epic] = true
			g.need(int(epic), beads.Descendants)
			targets = slices.Concat(targets, g.children.of(int(epic)))
		}
	}
	return targets
}

// topological sorts nodes so that blockers come before what they block, ties by id.
func (g *Graph) topological(nodes []int) []int {
	slices.SortFunc(nodes, g.byID)
	place := make(map[int]int32, len(nodes))
	for k, n := range nodes {
		place[n] = int32(k)
	}
	var links []link
	epics := map[int32]int32{} // a node after those of the issues stands for the children of each
	for k, n := range nodes {
		for _, b := range g.blockers.of(n) {
			if on, in := place[int(b)]; in && int(b) != n {
				links = append(links, link{from: int32(k), to: on})
			}
		}
		for _, epic := range g.gates.of(n) {
			at, known := epics[epic]
			if !known {
				at = int32(len(nodes) + len(epics))
				epics[epic] = at
				for _, child := range g.children.of(int(epic)) {
					if on, in := place[int(child)]; in {
						links = append(links, link{from: at, to: on})
					}
				}
			}
			links = append(links, link{from: int32(k), to: at})
		}
	}
	list := make([]int, 0, len(nodes))
	order, _ := newEdges(len(nodes)+len(epics), links).order()
	for _, at := range order {
		if int(at) < len(nodes) {
			list = append(list, nodes[at])
		}
	}
	return list
}
