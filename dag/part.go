package dag

import (
	"strconv"

	"github.com/dominikbraun/graph"
)

// mostTangled is the most vertices of a part that the library handles, since it keeps maps of
// names.
const mostTangled = 5_000

// Node is a vertex of a part of a store, by its number there. Look is its appearance in DOT.
type Node struct {
	Number int
	Look   map[string]string
}

// Name is the node's name in its part.
func (n Node) Name() string { return "n" + strconv.Itoa(n.Number) }

// Edge leads from one node of a part to another, by number. Weight 0 means 1.
type Edge struct {
	From, To, Weight int
	Look             map[string]string
}

// Part builds a graph of a part of a store: a component, what is between two issues, a picture.
// Repeated names count once, and edges to other nodes are ignored.
func Part(nodes []Node, list []Edge) graph.Graph[string, Node] {
	part := graph.New(Node.Name, graph.Directed(), graph.Weighted())
	for _, n := range nodes {
		_ = part.AddVertex(n, graph.VertexAttributes(n.Look)) // fails only for a duplicate
	}
	for _, e := range list { // fails only for a duplicate, or an end that is not a node
		_ = part.AddEdge(Node{Number: e.From}.Name(), Node{Number: e.To}.Name(), graph.EdgeWeight(max(1, e.Weight)), graph.EdgeAttributes(e.Look))
	}
	return part
}

// numbers are the nodes for names of a part.
func numbers(part graph.Graph[string, Node], names []string) []int32 {
	list := make([]int32, len(names))
	for k, name := range names {
		node, err := part.Vertex(name)
		if err != nil { // the part gave the name
			panic("dag: " + err.Error())
		}
		list[k] = int32(node.Number)
	}
	return list
}
