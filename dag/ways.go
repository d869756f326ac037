package dag

import (
	"cmp"
	"slices"

	"github.com/dominikbraun/graph"
)

const (
	mostWays    = 100   // ways that are reported
	mostBetween = 1_000 // vertices on them: above this only the shortest way is reported
)

// Ways returns every way in which one issue waits for another to be closed, shortest first:
// through blockers, through epics that wait, and through the children of epics. more is true if
// there may be others: it returns at most mostWays, and only the shortest if it passes more
// than mostBetween vertices or a deadlock.
func (g *Graph) Ways(from, to int) (ways [][]Step, more bool) {
	if g.Closed(from) || !g.holds(to) || from == to {
		return nil, false
	}
	w := waiting{graph: g}
	b := w.between(closeOf(from), closeOf(to))
	if b.goal == none {
		return nil, false
	}
	vertices, list, more, ok := b.kept(g)
	if !ok {
		return [][]Step{g.along(w.path([]int32{closeOf(from)}, closeOf(to)))}, true
	}
	part := Part(vertices, list)
	paths, err := graph.AllPathsBetween(part, Node{}.Name(), Node{Number: int(b.goal)}.Name())
	if err != nil { // only a store of vertices can fail
		panic("dag: " + err.Error())
	}
	for _, names := range paths {
		path := numbers(part, names)
		for k, at := range path {
			path[k] = b.nodes[at]
		}
		if steps := g.along(path); !roundabout(steps) {
			ways = append(ways, steps)
		}
	}
	slices.SortFunc(ways, func(a, b []Step) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.CompareFunc(a, b, func(x, y Step) int { return g.byID(x.For, y.For) }))
	})
	return ways, more
}

// roundabout reports whether a way returns to an issue: to an epic through its child, which
// only says that the epic waits.
func roundabout(steps []Step) bool {
	met, last := map[int]bool{}, steps[0].Issue
	for _, s := range steps {
		if s.For == last {
			continue
		}
		if met[last] = true; met[s.For] {
			return true
		}
		last = s.For
	}
	return false
}

// between is what a vertex needs, directly or indirectly: on the way to another, and off it.
type between struct {
	nodes []int32 // the vertex first
	edges         // by index in nodes
	on    []bool  // the goal can be reached from here
	far   []int   // in so many steps
	goal  int32   // its index; none if it is not needed
}

func (w waiting) between(from, goal int32) between {
	b := between{nodes: []int32{from}, goal: none}
	place := map[int32]int32{from: 0}
	var links []link
	for k := 0; k < len(b.nodes); k++ {
		if b.nodes[k] == goal {
			b.goal = int32(k)
			continue
		}
		w.each(b.nodes[k], func(need int32) {
			at, met := place[need]
			if !met {
				at = int32(len(b.nodes))
				place[need], b.nodes = at, append(b.nodes, need)
			}
			if at > 0 { // no way returns to the first
				links = append(links, link{from: int32(k), to: at})
			}
		})
	}
	b.edges = newEdges(len(b.nodes), links)
	b.on, b.far = make([]bool, len(b.nodes)), make([]int, len(b.nodes))
	if b.goal == none {
		return b
	}
	b.on[b.goal] = true
	back := b.reversed()
	for queue := []int32{b.goal}; len(queue) > 0; queue = queue[1:] {
		for _, at := range back.of(int(queue[0])) {
			if !b.on[at] {
				b.on[at], b.far[at] = true, b.far[queue[0]]+1
				queue = append(queue, at)
			}
		}
	}
	return b
}

// kept returns the vertices and edges of at most mostWays ways, and whether others are omitted.
// It fails if there are more than mostBetween vertices, or a cycle.
func (b between) kept(g *Graph) (vertices []Node, list []Edge, more, ok bool) {
	left := slices.Clone(b.on)
	order := b.peel(b.reversed(), left)
	if len(order) > mostBetween || slices.Contains(left, true) {
		return nil, nil, false, false
	}
	ways, next := make([]int, len(b.nodes)), make([][]int32, len(b.nodes))
	ways[b.goal] = 1
	for _, at := range order {
		vertices = append(vertices, Node{Number: int(at)})
		targets := slices.DeleteFunc(slices.Clone(b.of(int(at))), func(to int32) bool { return !b.on[to] })
		slices.SortFunc(targets, func(x, y int32) int {
			return cmp.Or(cmp.Compare(b.far[x], b.far[y]), g.byID(int(b.nodes[x]/2), int(b.nodes[y]/2)), cmp.Compare(x, y))
		})
		for _, to := range slices.Compact(targets) {
			switch {
			case b.backTo(at, to, next):
			case ways[at]+ways[to] > mostWays:
				more = true
			default:
				ways[at] += ways[to]
				next[at] = append(next[at], to)
				list = append(list, Edge{From: int(at), To: int(to)})
			}
		}
	}
	return vertices, list, more, true
}

// backTo reports whether closing a child leads only back to its epic.
func (b between) backTo(epic, child int32, next [][]int32) bool {
	for _, done := range []Event{Close, Start} {
		if Event(b.nodes[child]%2) != done || len(next[child]) != 1 {
			return false
		}
		child = next[child][0]
	}
	return b.nodes[child] == startOf(int(b.nodes[epic]/2)) && Event(b.nodes[epic]%2) == Close
}
