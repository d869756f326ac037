package dag

import (
	"errors"
	"hash/fnv"
	"math"
	"slices"

	"github.com/dominikbraun/graph"
)

// mostSteps bounds the work on rings, in vertices and edges that are looked at: in stores
// that are so tangled that more would have to be, the shortest ring is the shortest of
// those seen, and rings that share issues with one that is told are told next time.
const mostSteps = 1 << 22

// knot is a strongly connected component that holds a ring. Its vertices are numbered in the
// order of nodes.
type knot struct {
	graph.Graph[string, Node]
	nodes   []int32
	edges   map[string]map[string]graph.Edge[string] // from its vertices to others
	size    int                                      // of vertices and edges
	through []int                                    // vertices, one of which is in each ring
	length  []int                                    // of the shortest ring through each of those: no more than it is
}

// knot makes one of nodes in an order that does not depend on that of lines. Its rings are
// to lead through one of the first so many.
func (e edges) knot(nodes []int32, through int) *knot {
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
	k := &knot{Graph: Part(vertices, list), nodes: nodes, size: len(nodes) + len(list)}
	var err error
	if k.edges, err = k.Graph.AdjacencyMap(); err != nil {
		panic("dag: " + err.Error()) // only for a store of vertices that can fail
	}
	_, entered := newEdges(len(nodes), links).order()
	for _, at := range entered {
		if int(at) < through {
			k.through, k.length = append(k.through, int(at)), append(k.length, 1)
		}
	}
	return k
}

// weight is that of an edge of a part with so many vertices: one unit, and so little more
// that it only tells apart ways of equally many edges, the same in each run. The weight of a
// way is exact as a float64.
func weight(from, to, vertices int) int {
	const most = math.MaxInt >> 11
	sum := fnv.New64a()
	sum.Write([]byte{byte(from), byte(from >> 8), byte(to), byte(to >> 8)})
	unit := most / (vertices + 1)
	return unit + int(sum.Sum64()%uint64(unit/(vertices+1)))
}

// AdjacencyMap is what is left of the edges, for the library to look at.
func (k *knot) AdjacencyMap() (map[string]map[string]graph.Edge[string], error) { return k.edges, nil }

// cut takes out the edge between two nodes, if it is there.
func (k *knot) cut(from, to int32) {
	delete(k.edges[k.name(from)], k.name(to))
}

func (k *knot) name(node int32) string { return Node{Number: slices.Index(k.nodes, node)}.Name() }

// shortest gives the nodes of the shortest ring; nil when there is none. It takes the steps
// that it needs from left, and is content with the shortest so far when there are none.
func (k *knot) shortest(left *int) []int32 {
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

// ring gives the nodes of the shortest ring through a vertex; nil when there is none.
func (k *knot) ring(vertex string) []int32 {
	const begin = "" // a second vertex with the same edges, so that the way back has two ends
	k.edges[begin] = k.edges[vertex]
	defer delete(k.edges, begin)
	way, err := graph.ShortestPath[string, Node](k, begin, vertex)
	switch {
	case errors.Is(err, graph.ErrTargetNotReachable):
		return nil
	case err != nil: // only for a store of vertices that can fail
		panic("dag: " + err.Error())
	}
	ring := numbers(k, way[1:])
	for at, n := range ring {
		ring[at] = k.nodes[n]
	}
	return ring
}

// walked is a ring of a knot that is too large to be searched, along the first targets.
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
