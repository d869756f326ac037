package arrange_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"stig/internal/arrange"
)

// TestAsSlices sorts as package slices does.
func TestAsSlices(t *testing.T) {
	type pair struct{ key, at int }
	random := rand.New(rand.NewPCG(1, 2))
	byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	for n := range 100 {
		list := make([]pair, n)
		for i := range list {
			list[i] = pair{random.IntN(10), i}
		}
		want, stable := slices.Clone(list), slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		arrange.Stable(stable, byKey)
		if !slices.Equal(stable, want) {
			t.Fatalf("stable: %v; want %v", stable, want)
		}
		arrange.Sort(list, byKey)
		if !slices.IsSortedFunc(list, byKey) {
			t.Fatalf("not sorted: %v", list)
		}
	}
}
