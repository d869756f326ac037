package draw

// lane is an epic with the issues that it holds directly. That of epic -1
// holds what belongs to none.
type lane struct {
	epic  int
	depth int   // in how many epics it lies
	nodes []int // the epic itself first

	top, bottom int // of where its nodes lie
	frame       box // round the epic and all that it holds
}

// lanes gives each node to one lane, and lists a lane before those in it. Where epics
// hold each other in a ring, it is entered at the smallest id.
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
