package draw

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTitlesAreClippedByColumns: combining characters do not count towards the width of a
// title.
func TestTitlesAreClippedByColumns(t *testing.T) {
	title := strings.Repeat("e\u0301", 45)
	p := &Picture{Nodes: []Node{{ID: "a-1", Title: title}}}
	if text := string(p.Mermaid()); !strings.Contains(text, title) {
		t.Errorf("clipped:\n%s", text)
	}
}

// TestThinned: thinning keeps all reachability and leaves no redundant edge, on generated
// pictures with cycles.
func TestThinned(t *testing.T) {
	gone := 0
	for seed := range uint64(60) {
		p := generated(rand.New(rand.NewPCG(seed, 4)), 4+int(seed)%14, 3)
		thin := p.thinned()
		gone += len(p.Edges) - len(thin)
		all, kept := reach(p, p.Edges), reach(p, thin)
		if !slices.EqualFunc(all, kept, slices.Equal) {
			t.Errorf("seed %d: what waits for what changed: %v to %v", seed, p.Edges, thin)
		}
		for k, e := range thin {
			if rest := reach(p, slices.Delete(slices.Clone(thin), k, k+1)); !e.Ring && rest[e.From][e.To] {
				t.Errorf("seed %d: %v is not needed in %v", seed, e, thin)
			}
		}
	}
	if gone < 60 {
		t.Errorf("only %d edges gone", gone)
	}
}

// reach returns which nodes are reachable from each, along edges outside cycles.
func reach(p *Picture, edges []Edge) [][]bool {
	to := make([][]bool, len(p.Nodes))
	for n := range to {
		to[n] = make([]bool, len(p.Nodes))
	}
	for _, e := range edges {
		to[e.From][e.To] = !e.Ring
	}
	for via := range to {
		for a := range to {
			for b := range to {
				to[a][b] = to[a][b] || to[a][via] && to[via][b]
			}
		}
	}
	return to
}
