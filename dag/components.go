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
