package dag

import "stig/internal/beads"

// ClosedBlockers lists the closed issues that this one waited for directly,
// sorted by id.
func (g *Graph) ClosedBlockers(i int) []int {
	return g.sorted(g.gathered(i), func(b int) bool { return b != i && g.issues.At(b).Status == beads.StatusClosed })
}

// leastConverging is the least number of closed blockers that converge in an issue.
const leastConverging = 2

// Converges reports whether an unclosed issue brings the results of closed issues together: it
// had at least two blockers, and none blocks it any more.
func (g *Graph) Converges(i int) bool {
	if g.Closed(i) || len(g.blockers.of(i)) < leastConverging && len(g.gates.of(i)) == 0 {
		return false
	}
	return len(g.OpenBlockers(i)) == 0 && len(g.ClosedBlockers(i)) >= leastConverging
}
