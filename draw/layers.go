package draw

// layers gives each node a column such that edges, rings apart, lead to the
// right: as far left as what it waits for allows, then nodes that more wait
// for than they wait for as near to those as they can be.
func (p *Picture) layers() []int {
	out, in := make([][]int, len(p.Nodes)), make([]int, len(p.Nodes))
	for _, e := range p.Edges {
		if !e.Ring {
			out[e.From] = append(out[e.From], e.To)
			in[e.To]++
		}
	}
	layer := make([]int, len(p.Nodes))
	left := append([]int(nil), in...)
	var order []int
	for n := range p.Nodes {
		if left[n] == 0 {
			order = append(order, n)
		}
	}
	for i := 0; i < len(order); i++ {
		for _, to := range out[order[i]] {
			layer[to] = max(layer[to], layer[order[i]]+1)
			if left[to]--; left[to] == 0 {
				order = append(order, to)
			}
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		if len(out[n]) == 0 || len(out[n]) < in[n] {
			continue
		}
		nearest := layer[out[n][0]]
		for _, to := range out[n] {
			nearest = min(nearest, layer[to])
		}
		layer[n] = nearest - 1
	}
	return layer
}

// alone tells which nodes have no edge.
func (p *Picture) alone() []bool {
	alone := make([]bool, len(p.Nodes))
	for n := range alone {
		alone[n] = true
	}
	for _, e := range p.Edges {
		alone[e.From], alone[e.To] = false, false
	}
	return alone
}
