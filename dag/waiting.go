package dag

import (
	"fmt"
	"slices"

	"stig/internal/beads"
)

// The waiting-for relation has two nodes for each issue, "it can start" and "it can close". x
// can close once it could start; x can start once every blocker is closed and its epic could
// start; an epic can close once every child is closed. Unclosed issues in a cycle of that
// relation never finish.
//
// What waits for an epic's children waits until they could be closed: they could not start
// before the epic could. For a closed epic with unclosed children the second node stands for
// these alone.
//
// A node is an int32: twice the index of the issue, and one more for closing.

func startOf(i int) int32 { return int32(2 * i) }
func closeOf(i int) int32 { return int32(2*i + 1) }

// Row is a dependency row, existing or to be added: the issue at index From depends on the one
// at index On.
type Row struct {
	From, On int
	Type     string
}

// Event is what an issue waits to do, or waits for another to do.
type Event int

const (
	Start Event = iota
	Close
)

// Step is one step of a cycle: an issue cannot do something before another one could, or did.
type Step struct {
	Issue int
	Does  Event
	For   int
	Done  Event
	Gate  bool // it is about the epic's children, not the epic
}

// Words phrases a step; name returns the name of an issue.
func (s Step) Words(name func(i int) string) string {
	who, whom := name(s.Issue), name(s.For)
	switch {
	case s.implied():
		return fmt.Sprintf("%s can be closed only after it could start", who)
	case s.Gate && s.Does == Start:
		return fmt.Sprintf("%s can start only after the children of %s are closed", who, whom)
	case s.Gate:
		return fmt.Sprintf("the children of %s are closed only after %s is", who, whom)
	case s.Does == Start && s.Done == Close:
		return fmt.Sprintf("%s can start only after %s is closed", who, whom)
	case s.Does == Start:
		return fmt.Sprintf("%s can start only after its epic %s can", who, whom)
	}
	return fmt.Sprintf("%s can be closed only after its child %s is", who, whom)
}

// Circle phrases the steps of a cycle; of a long one both ends.
func Circle(steps []Step, name func(i int) string) []string {
	words := make([]string, len(steps))
	for k, s := range steps {
		words[k] = s.Words(name)
	}
	return Ends(words)
}

// Ends returns the words of a cycle; of a long one both ends, and how many are between.
func Ends(words []string) []string {
	const most, end = 12, 4
	if len(words) <= most {
		return words
	}
	between := fmt.Sprintf("… %d more …", len(words)-2*end)
	return slices.Concat(words[:end], []string{between}, words[len(words)-end:])
}

// implied reports whether every issue has the step by itself.
func (s Step) implied() bool { return s.Issue == s.For && s.Does == Close && s.Done == Start }

// Deadlock returns the shortest cycle of unclosed issues that wait for each other through at
// least one of the added rows, all added at once; nil if there is none. It begins with the step
// of such a row and omits the trivial steps from close to start. An index one past the last
// issue stands for an issue that is about to be created and has no other rows.
//
// It takes time linear in issues and edges for each step that the rows add.
func (g *Graph) Deadlock(added ...Row) []Step {
	w := waiting{graph: g, more: map[int32][]int32{}}
	var first [][2]int32
	for _, row := range added {
		for _, need := range w.needsOf(row) {
			w.more[need[0]] = append(w.more[need[0]], need[1])
			first = append(first, need)
		}
	}
	var shortest []int32
	for _, need := range first {
		if path := w.path([]int32{need[1]}, need[0]); path != nil && (shortest == nil || len(path) < len(shortest)) {
			shortest = path
		}
	}
	return g.stepsOf(shortest)
}

// waiting is the relation over the issues of a graph and added rows.
type waiting struct {
	graph *Graph
	more  map[int32][]int32
}

// unclosed reports whether an issue takes part; a new one does.
func (w waiting) unclosed(i int) bool { return i >= w.graph.issues.Len() || !w.graph.Closed(i) }

// holds reports whether a blocker takes part.
func (w waiting) holds(i int) bool { return i >= w.graph.issues.Len() || w.graph.holds(i) }

// needsOf returns the pairs of nodes that a row adds to the relation.
func (w waiting) needsOf(row Row) (pairs [][2]int32) {
	if !w.unclosed(row.From) {
		return nil
	}
	if row.On < w.graph.issues.Len() {
		w.graph.need(row.On, beads.Around) // its gates
	}
	switch kind := kindOf(row.Type); {
	case kind == blocks && w.gathers(row):
		return [][2]int32{{startOf(row.From), closeOf(row.On)}}
	case kind == contains && w.unclosed(row.On):
		pairs = [][2]int32{{startOf(row.From), startOf(row.On)}, {closeOf(row.On), closeOf(row.From)}}
	case kind == contains:
		pairs = [][2]int32{{closeOf(row.On), closeOf(row.From)}}
	}
	if kindOf(row.Type) == contains && row.On < w.graph.issues.Len() { // who waits for the children waits for this one
		for _, i := range w.graph.gated.of(row.On) {
			pairs = append(pairs, [2]int32{startOf(int(i)), closeOf(row.On)})
		}
	}
	return pairs
}

// gathers reports whether a blocking row would block: one that waits for children does if one
// of these is not closed.
func (w waiting) gathers(row Row) bool {
	if row.Type == beads.WaitsFor && row.On < w.graph.issues.Len() && len(w.graph.Children(row.On)) > 0 {
		return w.graph.hasOpenChild(row.On)
	}
	return w.holds(row.On)
}

// each calls visit with every node that a node needs.
func (w waiting) each(node int32, visit func(int32)) {
	i := int(node / 2)
	for _, need := range w.more[node] {
		visit(need)
	}
	if node == closeOf(i) && w.unclosed(i) {
		visit(startOf(i))
	}
	if i >= w.graph.issues.Len() {
		return
	}
	if node == closeOf(i) {
		w.graph.needInside(i)
		for _, child := range w.graph.children.of(i) {
			if w.unclosed(int(child)) {
				visit(closeOf(int(child)))
			}
		}
		return
	}
	for _, b := range w.graph.blockers.of(i) {
		if w.holds(int(b)) {
			visit(closeOf(int(b)))
		}
	}
	for _, epic := range w.graph.gates.of(i) {
		if w.graph.open[epic] {
			visit(closeOf(int(epic)))
		}
	}
	for _, epic := range w.graph.parents.of(i) {
		if w.unclosed(int(epic)) {
			visit(startOf(int(epic)))
		}
	}
}

// needInside notes that an answer depends on everything in an epic.
func (g *Graph) needInside(epic int) {
	extent := beads.Descendants
	if len(g.children.of(epic)) == 0 {
		extent = beads.Children // of which it has none
	}
	g.need(epic, extent)
}

// path returns the shortest path from one of some nodes to another along what each needs,
// including both ends; nil if there is none. On a tie it follows the rows that come first in
// the store.
func (w waiting) path(from []int32, to int32) []int32 {
	before := map[int32]int32{}
	for _, node := range from {
		before[node] = none
	}
	_, met := before[to]
	for queue := slices.Clone(from); len(queue) > 0 && !met; queue = queue[1:] {
		w.each(queue[0], func(need int32) {
			if _, seen := before[need]; !seen {
				before[need] = queue[0]
				queue = append(queue, need)
				met = met || need == to
			}
		})
	}
	if !met {
		return nil
	}
	var path []int32
	for at := to; at != none; at = before[at] {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}

// RingThrough returns the shortest cycle of unclosed issues that wait for each other and that
// contains an issue, beginning at its smallest id; nil if there is none. It takes time linear
// in what the issue waits for, directly or indirectly.
func (g *Graph) RingThrough(i int) []Step {
	if g.Closed(i) {
		return nil
	}
	return g.ring(startOf(i), closeOf(i))
}

// ring returns the shortest cycle through one of some nodes; nil if there is none.
func (g *Graph) ring(nodes ...int32) []Step {
	w := waiting{graph: g}
	var shortest []int32
	for _, node := range nodes {
		var needs []int32
		w.each(node, func(need int32) { needs = append(needs, need) })
		if path := w.path(needs, node); path != nil && (shortest == nil || len(path) < len(shortest)) {
			shortest = path
		}
	}
	if shortest == nil {
		return nil
	}
	return g.fromSmallest(g.stepsOf(shortest))
}

// stepsOf turns a path into a cycle that begins with the step from its last node to its first.
func (g *Graph) stepsOf(path []int32) []Step {
	if len(path) == 0 {
		return nil
	}
	return g.along(slices.Concat(path[len(path)-1:], path))
}

// along returns the steps from node to node of a path.
func (g *Graph) along(path []int32) (steps []Step) {
	for k, node := range path[1:] {
		from := path[k]
		s := Step{Issue: int(from / 2), Does: Event(from % 2), For: int(node / 2), Done: Event(node % 2)}
		if s.Gate = g.isGate(s); !s.implied() {
			steps = append(steps, s)
		}
	}
	return steps
}

// isGate reports whether a step is about the children of an epic alone.
func (g *Graph) isGate(s Step) bool {
	n := g.issues.Len()
	if s.Issue >= n || s.For >= n || s.Done != Close {
		return false
	}
	if s.Does == Close {
		return g.Closed(s.Issue)
	}
	return slices.Contains(g.gates.of(s.Issue), int32(s.For)) && !slices.Contains(g.blockers.of(s.Issue), int32(s.For))
}
