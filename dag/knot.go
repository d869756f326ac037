package dag

import "slices"

// knot is a strongly connected component that holds a cycle, with numbers of
// its own for its nodes.
type knot struct {
	nodes []int32 // the node that each stands for, in their order
	edges edges
}

// split gives the knots of a graph; nodes are what its nodes stand for, nil
// for themselves.
func split(e edges, nodes []int32) (knots []knot) {
	parts := e.components()
	local := make([]int32, len(parts.of))
	for c := range parts.count() {
		group := parts.nodes.of(c)
		if len(group) == 1 && !slices.Contains(e.of(int(group[0])), group[0]) {
			continue
		}
		part := knot{nodes: make([]int32, len(group))}
		for k, node := range group {
			local[node] = int32(k)
			if part.nodes[k] = node; nodes != nil {
				part.nodes[k] = nodes[node]
			}
		}
		var links []link
		for _, node := range group {
			for _, to := range e.of(int(node)) {
				if parts.of[to] == int32(c) {
					links = append(links, link{from: local[node], to: local[to]})
				}
			}
		}
		part.edges = newEdges(len(group), links)
		knots = append(knots, part)
	}
	return knots
}

// without gives the knots that are left when edges between pairs of nodes are
// taken out.
func (k knot) without(pairs [][2]int32) []knot {
	gone := make(map[[2]int32]bool, len(pairs))
	for _, pair := range pairs {
		gone[pair] = true
	}
	var links []link
	for node := range k.nodes {
		for _, to := range k.edges.of(node) {
			if !gone[[2]int32{k.nodes[node], k.nodes[to]}] {
				links = append(links, link{from: int32(node), to: to})
			}
		}
	}
	return split(newEdges(len(k.nodes), links), k.nodes)
}

// shortestCycle gives the nodes of the shortest cycle through one that through
// picks, from the first such node on one of the least length, along targets in
// their order; nil when there is none. It takes the edges that it follows from
// left, and is content with the best so far when there are none.
func (k knot) shortestCycle(through func(node int32) bool, left *int) []int32 {
	search := newSearch(len(k.nodes))
	var best []int32
	for from, node := range k.nodes {
		if !through(node) {
			continue
		}
		if cycle := search.cycle(k.edges, int32(from), len(best), left); cycle != nil {
			best = cycle
		}
		if len(best) == 1 || *left <= 0 && best != nil {
			break
		}
	}
	for at, node := range best {
		best[at] = k.nodes[node]
	}
	return best
}

// search remembers how nodes were reached. One serves many searches, each of
// which costs only what it touches.
type search struct {
	round  int32
	in     []int32 // the round in which a node was reached last
	before []int32
	depth  []int32 // number of nodes on the way
	queue  []int32
}

func newSearch(nodes int) *search {
	return &search{in: make([]int32, nodes), before: make([]int32, nodes), depth: make([]int32, nodes)}
}

// cycle gives the shortest cycle through a node that has less than under nodes
// (0: however many).
func (s *search) cycle(e edges, from int32, under int, left *int) []int32 {
	s.round++
	s.in[from], s.depth[from] = s.round, 1
	s.queue = append(s.queue[:0], from)
	for k := 0; k < len(s.queue); k++ {
		at := s.queue[k]
		if under > 0 && int(s.depth[at]) >= under {
			return nil
		}
		targets := e.of(int(at))
		*left -= len(targets)
		for _, to := range targets {
			if to == from {
				return s.way(at)
			}
			if s.in[to] != s.round {
				s.in[to], s.before[to], s.depth[to] = s.round, at, s.depth[at]+1
				s.queue = append(s.queue, to)
			}
		}
	}
	return nil
}

// way gives the nodes on the way to one that was reached.
func (s *search) way(to int32) []int32 {
	way := make([]int32, s.depth[to])
	for k, at := len(way)-1, to; k >= 0; k, at = k-1, s.before[at] {
		way[k] = at
	}
	return way
}
