package dag

// DeadlocksWithin returns the deadlocks found along a number of edges.
func (g *Graph) DeadlocksWithin(edges int) []Ring { return g.deadlocks(edges) }
