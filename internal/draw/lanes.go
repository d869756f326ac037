package draw

// lane is an epic with the issues that it holds directly. That of epic -1
// holds what belongs to none.
type lane struct {
	epic  int
	nodes []int  // the epic itself first
	inner []lane // epics in the epic
}

// lanes gives each node to one lane. Where epics hold each other in a ring, it
// is entered at the smallest id.
func (p *Picture) lanes() []lane {
	held := make([][]int, len(p.Nodes))
	for n, node := range p.Nodes {
		if node.Epic >= 0 && node.Epic != n {
			held[node.Epic] = append(held[node.Epic], n)
		}
	}
	seen := make([]bool, len(p.Nodes))
	var open func(epic int) lane
	open = func(epic int) lane {
		seen[epic] = true
		l := lane{epic: epic, nodes: []int{epic}}
		for _, n := range held[epic] {
			switch {
			case seen[n]:
			case len(held[n]) > 0:
				l.inner = append(l.inner, open(n))
			default:
				seen[n] = true
				l.nodes = append(l.nodes, n)
			}
		}
		return l
	}
	var all []lane
	for _, ringsToo := range []bool{false, true} {
		for n, node := range p.Nodes {
			if !seen[n] && len(held[n]) > 0 && (ringsToo || node.Epic < 0) {
				all = append(all, open(n))
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
