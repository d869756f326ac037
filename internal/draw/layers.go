package draw

import (
	"cmp"
	"slices"
)

// layers gives each node a column such that edges, rings apart, lead to the
// right: that of its level, then nodes that more wait for than they wait for as
// near to those as they can be.
func (p *Picture) layers() []int {
	layer, order := slices.Clone(p.levels), make([]int, len(p.Nodes))
	in, out := make([]int, len(order)), make([][]int, len(order))
	for _, e := range p.Edges {
		if !e.Ring {
			in[e.To]++
			out[e.From] = append(out[e.From], e.To)
		}
	}
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.levels[b], p.levels[a]) })
	for _, n := range order {
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
