package dag

import (
	"errors"
	"hash/fnv"
	"math"
	"slices"

	"github.com/dominikbraun/graph"
)

// mostSteps bounds the search for cycles, in visited vertices and edges. In stores that would
// need more, the shortest cycle is the shortest one seen, and cycles that share issues with a
// reported one are reported next time.
const mostSteps = 1 << 22

// component is a strongly connected component that contains a cycle. Its vertices are numbered
// in the order of nodes.
type component struct {
	graph.Graph[string, Node]
	nodes   []int32
	edges   map[string]map[string]graph.Edge[string] // from its vertices to others
	size    int                                      // number of vertices and edges
	through []int                                    // vertices such that every cycle contains one
	length  []int                                    // lower bounds for the shortest cycle through each of those
}

// component builds one from nodes, in an order independent of that of lines. Its cycles are to
// pass through one of the first so many nodes.
func (e edges) component(nodes []int32, through int) *component {
	place := make(map[int32]int32, len(nodes))
	vertices := make([]Node, len(nodes))
	for at, node := range nodes {
		place[node], vertices[at] = int32(at), Node{Number: at}
	}
	var list []Edge
	var links []link
	for at, node := range nodes {
		for _, to := range e.of(int(node)) {
			if on, in := place[to]; in {
				links = append(links, link{from: int32(at), to: on})
				list = append(list, Edge{From: at, To: int(on), Weight: weight(at, int(on), len(nodes))})
			}
		}
	}
	k := &component{Graph: Part(vertices, list), nodes: nodes, size: len(nodes) + len(list)}
	var err error
	if k.edges, err = k.Graph.AdjacencyMap(); err != nil {
		panic("dag: " + err.Error()) // only a store of vertices can fail
	}
	_, entered := newEdges(len(nodes), links).order()
	for _, at := range entered {
		if int(at) < through {
			k.through, k.length = append(k.through, int(at)), append(k.length, 1)
		}
	}
	return k
}

// weight is the weight of an edge in a part with that many vertices: one unit plus a bit that
// only distinguishes paths of equally many edges, the same in each run. The weight of a path is
// exact as a float64.
func weight(from, to, vertices int) int {
	const most = math.MaxInt >> 11
	sum := fnv.New64a()
	sum.Write([]byte{byte(from), byte(from >> 8), byte(to), byte(to >> 8)})
	unit := most / (vertices + 1)
	return unit + int(sum.Sum64()%uint64(unit/(vertices+1)))
}

// AdjacencyMap returns the remaining edges, for the library.
func (k *component) AdjacencyMap() (map[string]map[string]graph.Edge[string], error) {
	return k.edges, nil
}

// cut removes the edge between two nodes, if it exists.
func (k *component) cut(from, to int32) {
	delete(k.edges[k.name(from)], k.name(to))
}

func (k *component) name(node int32) string { return Node{Number: slices.Index(k.nodes, node)}.Name() }

// shortest returns the nodes of the shortest cycle; nil if there is none. It subtracts its
// steps from left, and settles for the shortest so far when they run out.
func (k *component) shortest(left *int) []int32 {
	var best []int32
	for len(k.through) > 0 {
		at := slices.Index(k.length, slices.Min(k.length))
		if best != nil && (len(best) <= k.length[at] || *left <= 0) {
			break
		}
		ring := k.ring(Node{Number: k.through[at]}.Name())
		*left -= k.size + len(ring)*len(ring)/32
		if ring == nil {
			k.through, k.length = slices.Delete(k.through, at, at+1), slices.Delete(k.length, at, at+1)
			continue
		}
		k.length[at] = len(ring)
		if best == nil || len(ring) < len(best) {
			best = ring
		}
	}
	return best
}

// ring returns the nodes of the shortest cycle through a vertex; nil if there is none.
func (k *component) ring(vertex string) []int32 {
	const begin = "" // a second vertex with the same edges, so that the way back has two ends
	k.edges[begin] = k.edges[vertex]
	defer delete(k.edges, begin)
	way, err := graph.ShortestPath[string, Node](k, begin, vertex)
	switch {
	case errors.Is(err, graph.ErrTargetNotReachable):
		return nil
	case err != nil: // only a store of vertices can fail
		panic("dag: " + err.Error())
	}
	ring := numbers(k, way[1:])
	for at, n := range ring {
		ring[at] = k.nodes[n]
	}
	return ring
}

// walked is a cycle of a component too large to be searched, along the first targets.
func (e edges) walked(nodes []int32) []int32 {
	in := make(map[int32]bool, len(nodes))
	for _, node := range nodes {
		in[node] = true
	}
	met := map[int32]int{}
	var way []int32
	for at := nodes[0]; ; {
		if k, again := met[at]; again {
			return way[k:]
		}
		met[at] = len(way)
		way = append(way, at)
		to := slices.IndexFunc(e.of(int(at)), func(to int32) bool { return in[to] })
		at = e.of(int(at))[to]
	}
}
