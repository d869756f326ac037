package dag

import (
	"container/heap"
	"maps"
	"slices"

	"stig/beads"
)

// Dependency is a closed issue that another one was built on.
type Dependency struct {
	Index    int
	Distance int // number of blocking edges on the shortest way: 1 for a direct one
}

// ClosedDependencies lists the closed issues that this one waits for, directly
// or through other closed ones, dependencies before dependents, ties by id.
// What lies behind an open blocker belongs to that blocker's own list.
// Closed issues that block each other in a ring have no such order, nor has what waits
// for them: of these the smallest id comes first.
func (g *Graph) ClosedDependencies(i int) []Dependency {
	distance := map[int]int{i: 0}
	var found []int
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, b := range g.blockers.of(at) {
			b := int(b)
			if _, seen := distance[b]; seen || g.issues.At(b).Status != beads.StatusClosed {
				continue
			}
			distance[b] = distance[at] + 1
			found = append(found, b)
			queue = append(queue, b)
		}
	}
	list := make([]Dependency, 0, len(found))
	for _, b := range g.topological(found) {
		list = append(list, Dependency{Index: b, Distance: distance[b]})
	}
	return list
}

// topological sorts nodes so that blockers come before what they block, ties
// by id. It is linear but for the heap. A ring cannot be sorted: what is left then is
// entered at its smallest id.
func (g *Graph) topological(nodes []int) []int {
	waits := make(map[int]int, len(nodes)) // blockers not yet listed
	for _, n := range nodes {
		waits[n] = 0
	}
	for _, n := range nodes {
		for _, w := range g.waiters.of(n) {
			if _, in := waits[int(w)]; in && int(w) != n {
				waits[int(w)]++
			}
		}
	}
	free := &byID{g: g}
	for _, n := range nodes {
		if waits[n] == 0 {
			free.list = append(free.list, n)
		}
	}
	heap.Init(free)
	order := make([]int, 0, len(nodes))
	for len(waits) > 0 {
		if free.Len() == 0 {
			heap.Push(free, g.entrance(waits))
		}
		n := heap.Pop(free).(int)
		order = append(order, n)
		delete(waits, n)
		for _, w := range g.waiters.of(n) {
			w := int(w)
			left, in := waits[w]
			if !in || left == 0 {
				continue
			}
			waits[w] = left - 1
			if left == 1 {
				heap.Push(free, w)
			}
		}
	}
	return order
}

// entrance is where rings are entered: the smallest id that is left. Its count is set
// to 0 so that it is not freed a second time.
func (g *Graph) entrance(waits map[int]int) int {
	first := slices.MinFunc(slices.Collect(maps.Keys(waits)), g.byID)
	waits[first] = 0
	return first
}

// byID is a heap of nodes ordered by their ids.
type byID struct {
	g    *Graph
	list []int
}

func (h *byID) Len() int           { return len(h.list) }
func (h *byID) Less(a, b int) bool { return h.g.byID(h.list[a], h.list[b]) < 0 }
func (h *byID) Swap(a, b int)      { h.list[a], h.list[b] = h.list[b], h.list[a] }
func (h *byID) Push(x any)         { h.list = append(h.list, x.(int)) }
func (h *byID) Pop() any {
	last := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return last
}
