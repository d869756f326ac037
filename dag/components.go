package dag

import (
	"container/heap"
	"slices"

	"github.com/dominikbraun/graph"
)

// peel repeatedly removes the remaining nodes whose targets are gone, and returns them in that
// order (A. B. Kahn, Topological sorting of large networks, 1962). back has the edges reversed.
func (e edges) peel(back edges, left []bool) (order []int32) {
	targets := make([]int32, len(left)) // for each node, its remaining targets
	order = make([]int32, 0, len(left))
	for node, is := range left {
		if !is {
			continue
		}
		for _, to := range e.of(node) {
			if left[to] {
				targets[node]++
			}
		}
		if targets[node] == 0 {
			order = append(order, int32(node))
		}
	}
	for k := 0; k < len(order); k++ {
		left[order[k]] = false
		for _, from := range back.of(int(order[k])) {
			if targets[from]--; targets[from] == 0 && left[from] {
				order = append(order, from)
			}
		}
	}
	return order
}

// knots partitions a graph: nodes that reach no cycle, targets first; then groups of those that
// reach a cycle and are reached by one; then those that only reach one. The groups are the
// strongly connected components, targets first; if they have more than mostTangled nodes in
// all, there is one group of all.
func (e edges) knots() (free []int32, groups [][]int32, waiting []int32) {
	left := make([]bool, len(e.start)-1)
	for node := range left {
		left[node] = true
	}
	back := e.reversed()
	free = e.peel(back, left)
	if len(free) == len(left) {
		return free, nil, nil
	}
	waiting = back.peel(e, left)
	slices.Reverse(waiting)
	var tangled []int32
	for node, is := range left {
		if is {
			tangled = append(tangled, int32(node))
		}
	}
	if len(tangled) > mostTangled {
		return free, [][]int32{tangled}, waiting
	}
	part := e.part(tangled)
	parts, err := graph.StronglyConnectedComponents(part)
	if err != nil { // only for an undirected graph
		panic("dag: " + err.Error())
	}
	for _, names := range parts { // Tarjan's algorithm finishes each after everything it reaches
		groups = append(groups, numbers(part, names))
	}
	return free, groups, waiting
}

// part is the graph of some nodes.
func (e edges) part(nodes []int32) graph.Graph[string, Node] {
	vertices := make([]Node, len(nodes))
	var list []Edge
	for k, node := range nodes {
		vertices[k] = Node{Number: int(node)}
		for _, to := range e.of(int(node)) {
			list = append(list, Edge{From: int(node), To: int(to)})
		}
	}
	return Part(vertices, list)
}

// components are the strongly connected components of a graph, numbered so that a node's
// targets have numbers no greater than its own. What knots leaves in one group is one
// component.
type components struct {
	of    []int32 // the component of each node
	nodes edges   // the nodes of each component, in order
}

func (c components) count() int { return len(c.nodes.start) - 1 }

func (e edges) components() components {
	free, groups, waiting := e.knots()
	of := make([]int32, len(e.start)-1)
	count := int32(0)
	number := func(nodes ...int32) {
		for _, node := range nodes {
			of[node] = count
		}
		count++
	}
	for _, node := range free {
		number(node)
	}
	for _, group := range groups {
		number(group...)
	}
	for _, node := range waiting {
		number(node)
	}
	links := make([]link, len(of))
	for node, c := range of {
		links[node] = link{from: c, to: int32(node)}
	}
	return components{of: of, nodes: newEdges(int(count), links)}
}

// condensed has the edges between components.
func (e edges) condensed(parts components) edges {
	var links []link
	for node, c := range parts.of {
		for _, to := range e.of(node) {
			if parts.of[to] != c {
				links = append(links, link{from: c, to: parts.of[to]})
			}
		}
	}
	return newEdges(parts.count(), links)
}

// none is the index that means nothing.
const none = -1

// order lists all nodes, targets first; among those that could come next it takes the smallest
// number. A cycle is entered at its smallest node once everything it leads to outside is
// listed.
func (e edges) order() (order, entered []int32) {
	parts, back := e.components(), e.reversed()
	inside, outside := make([]int32, len(parts.of)), make([]int32, parts.count()) // targets not listed yet, by node and by component
	for node, c := range parts.of {
		for _, to := range e.of(node) {
			if inside[node]++; parts.of[to] != c {
				outside[c]++
			}
		}
	}
	free, rings := &smallest{}, &smallest{}
	for node, c := range parts.of {
		if inside[node] == 0 {
			heap.Push(free, int32(node))
		} else if outside[c] == 0 {
			heap.Push(rings, int32(node))
		}
	}
	listed := make([]bool, len(parts.of))
	for len(order) < len(listed) {
		from := free
		if free.Len() == 0 {
			from = rings
		}
		node := heap.Pop(from).(int32)
		if listed[node] {
			continue
		}
		if inside[node] > 0 {
			entered = append(entered, node)
		}
		listed[node] = true
		order = append(order, node)
		for _, before := range back.of(int(node)) {
			if inside[before]--; inside[before] == 0 {
				heap.Push(free, before)
			}
			if c := parts.of[before]; c != parts.of[node] {
				if outside[c]--; outside[c] == 0 {
					for _, n := range parts.nodes.of(int(c)) {
						heap.Push(rings, n)
					}
				}
			}
		}
	}
	return order, entered
}

// Levels assigns a level to each of n nodes: one more than the highest level of its targets, 0
// without targets. Edges that close a cycle are skipped and returned.
func Levels(nodes int, list []Edge) (level []int, closing []bool) {
	links := make([]link, len(list))
	for k, l := range list {
		links[k] = link{from: int32(l.To), to: int32(l.From)}
	}
	e := newEdges(nodes, links)
	place := make([]int, nodes)
	order, _ := e.order()
	for k, node := range order {
		place[node] = k
	}
	level = make([]int, nodes)
	for k, node := range order {
		for _, from := range e.of(int(node)) {
			if place[from] < k {
				level[node] = max(level[node], level[from]+1)
			}
		}
	}
	closing = make([]bool, len(list))
	for k, l := range list {
		closing[k] = place[l.From] >= place[l.To]
	}
	return level, closing
}

// smallest is a heap of nodes.
type smallest []int32

func (s smallest) Len() int           { return len(s) }
func (s smallest) Less(a, b int) bool { return s[a] < s[b] }
func (s smallest) Swap(a, b int)      { s[a], s[b] = s[b], s[a] }
func (s *smallest) Push(x any)        { *s = append(*s, x.(int32)) }
func (s *smallest) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
