package dag

import "time"

// ClosedBlockers lists the closed issues that this one waited for directly,
// sorted by id.
func (g *Graph) ClosedBlockers(i int) []int {
	return g.sorted(g.blockers.of(i), func(b int) bool { return b != i && g.issues.At(b).Status == "closed" })
}

// Converges reports whether the work on an unclosed issue can bring together
// what closed issues left: it had blockers, and none holds it up any more.
func (g *Graph) Converges(i int) bool {
	if g.Closed(i) {
		return false
	}
	closed := false
	for _, b := range g.blockers.of(i) {
		if g.holds(int(b)) {
			return false
		}
		closed = closed || int(b) != i && g.issues.At(int(b)).Status == "closed"
	}
	return closed
}

// Tally counts the children of an epic by where they stand. What is ready, in
// progress or blocked is unclosed; the rest is deferred, or no work.
type Tally struct {
	Total, Closed, Ready, InProgress, Blocked int
}

// Unclosed is the number of children that are still to be closed.
func (t Tally) Unclosed() int { return t.Total - t.Closed }

// Tally counts the children that an epic contains directly.
func (g *Graph) Tally(epic int, now time.Time) Tally {
	var t Tally
	for _, c := range g.Children(epic) {
		t.Total++
		status := g.issues.At(c).Status
		switch {
		case g.Closed(c):
			t.Closed++
		case status == "in_progress":
			t.InProgress++
		case g.Blocked(c) || status == "blocked":
			t.Blocked++
		case g.IsReady(c, now):
			t.Ready++
		}
	}
	return t
}
