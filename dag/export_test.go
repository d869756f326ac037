package dag

// DeadlocksWithin are the deadlocks that are found along so many edges.
func (g *Graph) DeadlocksWithin(edges int) []Ring { return g.deadlocks(edges) }
