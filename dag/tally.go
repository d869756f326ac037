package dag

import "stig/internal/beads"

// ClosedBlockers lists the closed issues that this one waited for directly,
// sorted by id.
func (g *Graph) ClosedBlockers(i int) []int {
	return g.sorted(g.gathered(i), func(b int) bool { return b != i && g.issues.At(b).Status == beads.StatusClosed })
}

// leastConverging is how many closed blockers come together in one issue.
const leastConverging = 2

// Converges reports whether the work on an unclosed issue brings together what
// closed issues left: it had two blockers or more, and none holds it up any more.
func (g *Graph) Converges(i int) bool {
	if g.Closed(i) || len(g.blockers.of(i)) < leastConverging && len(g.gates.of(i)) == 0 {
		return false
	}
	return len(g.OpenBlockers(i)) == 0 && len(g.ClosedBlockers(i)) >= leastConverging
}
