package dag

// Unblocks gives for every issue how many other unclosed issues wait for it,
// directly or not. An issue waits for what blocks it, and for all that its
// blockers and its unclosed epics wait for: exactly what keeps it from being
// ready. That an epic cannot be closed before its children makes nothing wait
// here. Issues that hold nothing up, closed or pinned, have 0.
func (g *Graph) Unblocks() []int { return g.unblocks() }

func (g *Graph) countWaiting() []int {
	n := g.issues.Len()
	counts := make([]int, n)
	round := make([]int32, n)
	var queue []int32
	for i := range n {
		if !g.holds(i) {
			continue
		}
		stamp := int32(i + 1)
		queue = queue[:0]
		reach := func(j int32) {
			if round[j] != stamp && !g.Closed(int(j)) {
				round[j] = stamp
				queue = append(queue, j)
			}
		}
		for _, w := range g.waiters.of(i) {
			reach(w)
		}
		for k := 0; k < len(queue); k++ {
			at := int(queue[k])
			if g.holds(at) {
				for _, w := range g.waiters.of(at) {
					reach(w)
				}
			}
			for _, child := range g.children.of(at) {
				reach(child)
			}
		}
		counts[i] = len(queue)
		if round[i] == stamp {
			counts[i]--
		}
	}
	return counts
}
