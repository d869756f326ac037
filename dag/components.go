package dag

// components are the strongly connected components of a graph, numbered so that
// a node's targets have numbers no greater than its own: the ends of all ways
// come first.
type components struct {
	of    []int32 // the component of each node
	nodes edges   // the nodes of each component, in the order of their numbers
}

func (c components) count() int { return len(c.nodes.start) - 1 }

// components finds them by Tarjan's algorithm with its own stack, since a chain
// of 100,000 issues is as deep: R. E. Tarjan, Depth-first search and linear
// graph algorithms, 1972.
func (e edges) components() components {
	nodes := len(e.start) - 1
	t := tarjan{
		edges: e, of: make([]int32, nodes), low: make([]int32, nodes),
		visit: make([]int32, nodes), next: make([]int32, nodes),
	}
	for i := range t.of {
		t.of[i] = none
	}
	for root := range t.of {
		if t.visit[root] == 0 {
			t.search(int32(root))
		}
	}
	links := make([]link, nodes)
	for node, c := range t.of {
		links[node] = link{from: c, to: int32(node)}
	}
	return components{of: t.of, nodes: newEdges(int(t.count), links)}
}

// condensed is the edges from one component to another.
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

// none is the component of a node that has none yet.
const none = -1

// tarjan is how far the algorithm is.
type tarjan struct {
	edges
	of     []int32 // the component of each node, or none
	count  int32   // of components
	visit  []int32 // the number of the visit to each node; 0 before it
	visits int32
	low    []int32 // that number, then the least one reached from the node
	next   []int32 // the edge to follow next
	way    []int32 // the nodes from the root to here
	open   []int32 // those without a component, as they were visited
}

// search goes over all that a root reaches and nothing before it did.
func (t *tarjan) search(root int32) {
	t.enter(root)
	for len(t.way) > 0 {
		at := t.way[len(t.way)-1]
		if to := t.unvisited(at); to != none {
			t.enter(to)
			continue
		}
		t.way = t.way[:len(t.way)-1]
		if len(t.way) > 0 {
			before := t.way[len(t.way)-1]
			t.low[before] = min(t.low[before], t.low[at])
		}
		if t.low[at] == t.visit[at] {
			t.close(at)
		}
	}
}

func (t *tarjan) enter(node int32) {
	t.visits++
	t.visit[node], t.low[node], t.next[node] = t.visits, t.visits, t.start[node]
	t.way, t.open = append(t.way, node), append(t.open, node)
}

// unvisited follows the edges of a node up to one that leads somewhere new, and
// notes of the others how far back they lead.
func (t *tarjan) unvisited(at int32) int32 {
	for end := t.start[at+1]; t.next[at] < end; {
		to := t.targets[t.next[at]]
		t.next[at]++
		if t.visit[to] == 0 {
			return to
		}
		if t.of[to] == none {
			t.low[at] = min(t.low[at], t.visit[to])
		}
	}
	return none
}

// close makes a component of a node and of all that is open since its visit.
func (t *tarjan) close(at int32) {
	for {
		last := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.of[last] = t.count
		if last == at {
			t.count++
			return
		}
	}
}
