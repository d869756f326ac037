// Package draw draws issues and their dependencies: as indented text, DOT, Mermaid, and SVG
// with its own layout.
//
// It selects the issues of a picture, reads their signals and does the rest on that data: the
// same store gives the same bytes. It knows nothing of readiness, deadlocks or advice; a
// dependency cycle is only drawn as one.
//
//	picture, err := draw.Draw(file, graph, draw.Whole(file, graph), schema, now)
//	…
//	fmt.Print(picture.SVG())
package draw

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/dominikbraun/graph"

	"stig/dag"
	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// Picture is the issues to draw, sorted by id, and their edges.
type Picture struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`

	levels []int // by node; greater than those of its dependencies
}

// Node is an issue.
type Node struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Status   string `json:"status"`
	Priority int    `json:"priority"`
	Cynefin  string `json:"-"`       // "" without a signal table
	Waiting  bool   `json:"waiting"` // not closed, but cannot be started: blocked or deferred
	Pending  bool   `json:"pending"` // an unanswered question
	Itself   bool   `json:"itself"`  // it waits for itself
	Epic     int    `json:"epic"`    // index of its epic; -1 for none
	Closed   int    `json:"closed"`  // of an epic: number of closed children
	Total    int    `json:"total"`   // of an epic: number of children; 0 for others

	marked bool
}

// Mark has the box of an issue drawn as one of the longest chain.
func (p *Picture) Mark(id string) {
	for n := range p.Nodes {
		p.Nodes[n].marked = p.Nodes[n].marked || p.Nodes[n].ID == id
	}
}

// Edge says that one node waits for another; both are indices of nodes.
type Edge struct {
	From int  `json:"from"` // the blocking issue
	To   int  `json:"to"`   // the waiting issue
	Ring bool `json:"ring"` // marked edges: without them there is no cycle
}

// blockers returns what an issue has blocking dependencies on.
func blockers(f *beads.Snapshot, i int) (list []int) {
	for _, dep := range f.At(i).Deps {
		if at, ok := f.Index(dep.On); ok && dag.Blocks(dep.Type) {
			list = append(list, at)
		}
	}
	return list
}

// Whole selects the unclosed issues, and the closed ones that they depend on directly.
func Whole(f *beads.Snapshot, g *dag.Graph) []int {
	chosen := map[int]bool{}
	for i, issue := range f.All() {
		if at, _ := f.Index(issue.ID); at != i || g.Closed(i) {
			continue
		}
		chosen[i] = true
		for _, b := range blockers(f, i) {
			if f.At(b).Status != beads.StatusTombstone {
				chosen[b] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(chosen))
}

// Around selects an issue and all related ones: its dependencies and dependents, followed
// through unclosed issues, the epics above it and the issues in it.
func Around(f *beads.Snapshot, g *dag.Graph, i int) []int {
	chosen := reached(f, g, i, func(n int) []int { return blockers(f, n) })
	maps.Copy(chosen, reached(f, g, i, g.Dependents))
	for _, child := range g.Children(i) {
		chosen[child] = true
	}
	for at, ok := g.Epic(i); ok && !chosen[at]; at, ok = g.Epic(at) {
		chosen[at] = true
	}
	return slices.Sorted(maps.Keys(chosen))
}

// reached returns an issue and everything reachable from it through unclosed issues.
func reached(f *beads.Snapshot, g *dag.Graph, from int, next func(int) []int) map[int]bool {
	seen := map[int]bool{from: true}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, n := range next(queue[0]) {
			if seen[n] || f.At(n).Status == beads.StatusTombstone {
				continue
			}
			seen[n] = true
			if !g.Closed(n) {
				queue = append(queue, n)
			}
		}
	}
	return seen
}

// Draw reads the selected issues as of now. It fails only if a line of the store can no longer
// be read.
func Draw(f *beads.Snapshot, g *dag.Graph, chosen []int, schema *signals.Schema, now time.Time) (*Picture, error) {
	chosen = slices.Clone(chosen)
	slices.SortFunc(chosen, func(a, b int) int { return cmp.Compare(f.At(a).ID, f.At(b).ID) })
	place := map[int]int{}
	for n, i := range chosen {
		place[i] = n
	}
	p := &Picture{Nodes: []Node{}, Edges: []Edge{}}
	for n, i := range chosen {
		node, err := read(f, i, schema)
		if err != nil {
			return nil, err
		}
		if epic, ok := g.Epic(i); ok {
			if at, in := place[epic]; in {
				node.Epic = at
			}
		}
		node.Closed, node.Total = g.Progress(i)
		state := g.State(i, dag.Worker{Now: now})
		node.Waiting = state == dag.StateBlocked || state == dag.StateDeferred || state == dag.StateInProgress && g.Blocked(i)
		for _, b := range blockers(f, i) {
			from, in := place[b]
			switch edge := (Edge{From: from, To: n}); {
			case !in:
			case from == n:
				node.Itself = true
			default:
				p.Edges = append(p.Edges, edge)
			}
		}
		p.Nodes = append(p.Nodes, node)
	}
	slices.SortFunc(p.Edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	p.Edges = slices.Compact(p.Edges)
	p.markRings()
	return p, nil
}

func read(f *beads.Snapshot, i int, schema *signals.Schema) (Node, error) {
	issue := f.At(i)
	text := ""
	if issue.HasNotes {
		record, err := issue.Record()
		if err != nil {
			return Node{}, err
		}
		text = record.Text(beads.Notes)
	}
	doc := notes.Parse(text)
	table := signals.Read(doc, schema)
	node := Node{
		ID: issue.ID, Title: issue.Title, Status: issue.Status, Priority: issue.Priority,
		Pending: signals.Asks(doc, table), Epic: -1,
	}
	if table.Present() {
		node.Cynefin = table.Value(signals.Cynefin)
	}
	return node, nil
}

// markRings marks the edges that close cycles, and assigns levels to the nodes by the others.
func (p *Picture) markRings() {
	edges := make([]dag.Edge, len(p.Edges))
	for k, e := range p.Edges {
		edges[k] = dag.Edge{From: e.From, To: e.To}
	}
	var closing []bool
	p.levels, closing = dag.Levels(len(p.Nodes), edges)
	for k := range p.Edges {
		p.Edges[k].Ring = closing[k]
	}
}

// mostThinned limits thinning: a picture with more waiting or blocking issues keeps all its
// edges.
const mostThinned = 300

// thinned returns the edges without those implied by longer paths.
func (p *Picture) thinned() []Edge {
	linked := map[int]bool{}
	var edges []dag.Edge
	for _, e := range p.Edges {
		linked[e.From], linked[e.To] = true, true
		if !e.Ring {
			edges = append(edges, dag.Edge{From: e.From, To: e.To})
		}
	}
	if len(linked) > mostThinned {
		return p.Edges
	}
	var nodes []dag.Node
	for n := range linked {
		nodes = append(nodes, dag.Node{Number: n})
	}
	thin, err := graph.TransitiveReduction(dag.Part(nodes, edges))
	if err != nil { // only for a graph with a cycle
		panic("draw: " + err.Error())
	}
	return slices.DeleteFunc(slices.Clone(p.Edges), func(e Edge) bool {
		_, err := thin.Edge(dag.Node{Number: e.From}.Name(), dag.Node{Number: e.To}.Name())
		return !e.Ring && err != nil
	})
}
