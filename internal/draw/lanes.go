package draw

// lane is an epic with the issues directly in it. The lane of epic -1 has the issues without an
// epic.
type lane struct {
	epic  int
	depth int   // how many epics contain it
	nodes []int // the epic itself first

	top, bottom int // y of the row of its nodes
	frame       box // around the epic and everything in it
}

// lanes assigns each node to one lane, and lists a lane before those in it. A cycle of epics
// starts at the smallest id.
func (p *Picture) lanes() (all []lane) {
	held := make([][]int, len(p.Nodes))
	for n, node := range p.Nodes {
		if node.Epic >= 0 && node.Epic != n {
			held[node.Epic] = append(held[node.Epic], n)
		}
	}
	seen := make([]bool, len(p.Nodes))
	var open func(epic, depth int)
	open = func(epic, depth int) {
		seen[epic] = true
		at := len(all)
		all = append(all, lane{epic: epic, depth: depth, nodes: []int{epic}})
		for _, n := range held[epic] {
			if len(held[n]) == 0 {
				seen[n] = true
				all[at].nodes = append(all[at].nodes, n)
			} else if !seen[n] {
				open(n, depth+1)
			}
		}
	}
	for _, ringsToo := range []bool{false, true} {
		for n, node := range p.Nodes {
			if !seen[n] && len(held[n]) > 0 && (ringsToo || node.Epic < 0) {
				open(n, 0)
			}
		}
	}
	rest := lane{epic: -1}
	for n := range p.Nodes {
		if !seen[n] {
			rest.nodes = append(rest.nodes, n)
		}
	}
	if len(rest.nodes) > 0 {
		all = append(all, rest)
	}
	return all
}
