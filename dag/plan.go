package dag

import (
	"slices"

	"stig/internal/beads"
)

// LongestChain returns the longest chain of unclosed issues in which each waits for the
// previous one, by blocking edges; first to do first. On a tie it is the one with the smallest
// ids. Issues in a blocking cycle count as one, represented by the smallest id; pinned ones are
// not work and are ignored. within picks the issues; nil picks all.
func (g *Graph) LongestChain(within func(i int) bool) []int {
	order, rank := g.ranks()
	picked := func(i int) bool { return g.Outstanding(i) && (within == nil || within(i)) }
	e := g.between(rank, picked)
	parts := e.components()
	blockers := e.condensed(parts)
	length := make([]int, parts.count()) // of the longest chain that ends in the component
	longest := 0
	for c := range length {
		if !picked(int(order[parts.nodes.of(c)[0]])) {
			continue
		}
		for _, b := range blockers.of(c) {
			length[c] = max(length[c], length[b])
		}
		length[c]++
		longest = max(longest, length[c])
	}
	var chain []int
	for _, node := range followed(blockers, parts, length, longest) {
		chain = append(chain, int(order[node]))
	}
	return chain
}

// followed returns the longest chain from its beginning, with the first node of each component;
// length is that of the chain ending in each, 0 for none.
func followed(blockers edges, parts components, length []int, longest int) []int32 {
	left := make([]int, len(length))   // of the longest chain that begins in the component
	next := make([]int32, len(length)) // where that continues
	least := func(c int32) int32 { return parts.nodes.of(int(c))[0] }
	first := int32(none)
	for c := int32(len(length)) - 1; c >= 0; c-- {
		if length[c] == 0 {
			continue
		}
		left[c]++
		for _, b := range blockers.of(int(c)) {
			if left[b] < left[c] || left[b] == left[c] && least(c) < least(next[b]) {
				left[b], next[b] = left[c], c
			}
		}
		if left[c] == longest && (first == none || least(c) < least(first)) {
			first = c
		}
	}
	var chain []int32
	for c := first; len(chain) < longest; c = next[c] {
		chain = append(chain, least(c))
	}
	return chain
}

// Stages sorts unclosed work so that each stage can be done in parallel once the previous ones
// are closed. An issue is in the stage after its last blocker and not before its epic can
// start; an epic is where it can be closed, after its last child. Issues in a deadlock, and
// those that wait for one, are in no stage. within picks the issues to show (nil: all): hidden
// ones still block, and empty stages are dropped. Each stage is sorted by id; width is the size
// of the largest.
func (g *Graph) Stages(within func(i int) bool) (stages [][]int, width int) {
	order, _ := g.ranks()
	level := g.relation().levels()
	at := map[int][]int{}
	deepest := 0
	for _, i := range order {
		i := int(i)
		if !g.Outstanding(i) || within != nil && !within(i) {
			continue
		}
		// closing takes one level more than its prerequisites
		l := level[closeOf(i)]
		if l == 0 {
			continue
		}
		at[l] = append(at[l], i)
		deepest = max(deepest, l)
	}
	for l := 1; l <= deepest; l++ {
		if len(at[l]) > 0 {
			stages = append(stages, at[l])
			width = max(width, len(at[l]))
		}
	}
	return stages, width
}

// levels gives every "it can close" one more than the greatest level it needs, and every "it
// can start" that greatest level; 0 also for what can never happen.
func (e edges) levels() []int {
	left := make([]bool, len(e.start)-1)
	for node := range left {
		left[node] = true
	}
	level := make([]int, len(left))
	for _, node := range e.peel(e.reversed(), left) {
		for _, to := range e.of(int(node)) {
			level[node] = max(level[node], level[to])
		}
		level[node] += int(node % 2)
	}
	return level
}

// Epics lists the issues that contain others, unclosed ones first, then by id. Tombstones
// neither contain nor are contained.
func (g *Graph) Epics() []int {
	g.needAll()
	var epics []int
	for i := range g.issues.Len() {
		if g.counts(i) && g.issues.At(i).Status != beads.StatusTombstone && len(g.Children(i)) > 0 {
			epics = append(epics, i)
		}
	}
	slices.SortFunc(epics, func(a, b int) int {
		if g.Closed(a) != g.Closed(b) {
			if g.Closed(b) {
				return -1
			}
			return 1
		}
		return g.byID(a, b)
	})
	return epics
}

// Inside lists everything in an epic at any depth, sorted by id.
func (g *Graph) Inside(epic int) []int {
	seen := map[int]bool{epic: true}
	var list []int
	for queue := []int{epic}; len(queue) > 0; queue = queue[1:] {
		for _, child := range g.Children(queue[0]) {
			if !seen[child] {
				seen[child] = true
				list = append(list, child)
				queue = append(queue, child)
			}
		}
	}
	slices.SortFunc(list, g.byID)
	return list
}
