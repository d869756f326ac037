package dag

import (
	"strconv"

	"github.com/dominikbraun/graph"
)

// mostTangled is how many vertices a part of a store may have for the library, which
// keeps maps of names.
const mostTangled = 5_000

// Node is a vertex of a part of a store, by its number there. Look is how DOT shows it.
type Node struct {
	Number int
	Look   map[string]string
}

// Name is the node's name in its part.
func (n Node) Name() string { return "n" + strconv.Itoa(n.Number) }

// Edge leads from one node of a part to another, by their numbers. An edge of weight 0
// has weight 1.
type Edge struct {
	From, To, Weight int
	Look             map[string]string
}

// Part makes a graph of a part of a store: of a knot, of what lies between two issues, of
// a picture. What is named twice counts once, and edges to other nodes are left out.
func Part(nodes []Node, list []Edge) graph.Graph[string, Node] {
	part := graph.New(Node.Name, graph.Directed(), graph.Weighted())
	for _, n := range nodes {
		_ = part.AddVertex(n, graph.VertexAttributes(n.Look)) // fails only for a repeat
	}
	for _, e := range list { // fails only for a repeat, or an end that is no node
		_ = part.AddEdge(Node{Number: e.From}.Name(), Node{Number: e.To}.Name(), graph.EdgeWeight(max(1, e.Weight)), graph.EdgeAttributes(e.Look))
	}
	return part
}

// numbers are the nodes that names of a part stand for.
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
