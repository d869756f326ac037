package dag

// components gives each node the number of its strongly connected component,
// and how many there are. Components are numbered so that a node's targets
// have numbers no greater than its own: the ends of all ways come first.
//
// It is Tarjan's algorithm with its own stack, since a chain of 100,000 issues
// is as deep: R. E. Tarjan, Depth-first search and linear graph algorithms, 1972.
func (e edges) components() (of []int32, count int) {
	nodes := len(e.start) - 1
	const none = -1
	of = make([]int32, nodes)
	low := make([]int32, nodes)   // the number of the visit, then the least one reached
	next := make([]int32, nodes)  // the edge to follow next
	visit := make([]int32, nodes) // 0 before the first visit
	var way, open []int32         // the nodes from the root to here; those without a component
	visits := int32(0)
	for i := range of {
		of[i] = none
	}
	for root := range nodes {
		if visit[root] != 0 {
			continue
		}
		way = append(way, int32(root))
		for len(way) > 0 {
			at := way[len(way)-1]
			if visit[at] == 0 {
				visits++
				visit[at], low[at], next[at] = visits, visits, e.start[at]
				open = append(open, at)
			}
			deeper := false
			for next[at] < e.start[at+1] {
				to := e.targets[next[at]]
				if visit[to] == 0 {
					way, deeper = append(way, to), true
					break
				}
				if of[to] == none {
					low[at] = min(low[at], low[to])
				}
				next[at]++
			}
			if deeper {
				continue
			}
			way = way[:len(way)-1]
			if low[at] != visit[at] {
				continue
			}
			for {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				of[last] = int32(count)
				if last == at {
					break
				}
			}
			count++
		}
	}
	return of, count
}

// members lists the nodes of each component, in the order of their numbers.
func members(of []int32, count int) edges {
	links := make([]link, len(of))
	for node, c := range of {
		links[node] = link{from: c, to: int32(node)}
	}
	return newEdges(count, links)
}

// shortestCycle gives the shortest cycle through one of the sources that stays
// in one component, along targets in their order: from the first source that
// has one of the least length. It is nil when there is none. Ways longer than
// the best are not followed; after `most` edges the best so far is taken.
func (e edges) shortestCycle(sources []int32, of []int32, seen *visited, most int) []int32 {
	var best []int32
	for _, from := range sources {
		if cycle := e.cycleThrough(from, of, seen, len(best), &most); cycle != nil {
			best = cycle
		}
		if len(best) == 1 || most <= 0 {
			break
		}
	}
	return best
}

// visited remembers how nodes were reached; one serves many searches, each of
// which costs only what it touches.
type visited struct {
	round  int32
	in     []int32 // the round in which a node was reached
	before []int32
	depth  []int32
	queue  []int32
}

func newVisited(nodes int) *visited {
	return &visited{in: make([]int32, nodes), before: make([]int32, nodes), depth: make([]int32, nodes)}
}

// cycleThrough gives the shortest cycle through a node that is shorter than
// `under` (0: of any length).
func (e edges) cycleThrough(from int32, of []int32, seen *visited, under int, most *int) []int32 {
	seen.round++
	seen.in[from], seen.depth[from] = seen.round, 1
	seen.queue = append(seen.queue[:0], from)
	for k := 0; k < len(seen.queue); k++ {
		at := seen.queue[k]
		if under > 0 && int(seen.depth[at]) >= under {
			return nil
		}
		for _, to := range e.of(int(at)) {
			*most--
			if to == from {
				return seen.way(from, at)
			}
			if of[to] == of[from] && seen.in[to] != seen.round {
				seen.in[to], seen.before[to], seen.depth[to] = seen.round, at, seen.depth[at]+1
				seen.queue = append(seen.queue, to)
			}
		}
	}
	return nil
}

// way gives the nodes on the way that was found.
func (v *visited) way(from, to int32) []int32 {
	way := make([]int32, v.depth[to])
	for k, at := len(way)-1, to; k >= 0; k, at = k-1, v.before[at] {
		way[k] = at
	}
	return way
}
