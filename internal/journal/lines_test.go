package journal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestDiffering compares texts with repeated lines, with either line ending.
func TestDiffering(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var a []string
		for i := range random.IntN(40) {
			a = append(a, strings.Repeat(fmt.Sprint("line ", i%7, " "), 1+random.IntN(2000)))
		}
		b := slices.Clone(a)
		for range random.IntN(4) {
			at := random.IntN(len(b) + 1)
			switch {
			case random.IntN(2) == 0 || at == len(b):
				b = slices.Insert(b, at, fmt.Sprint("new ", round))
			default:
				b = slices.Delete(b, at, at+1)
			}
		}
		end := []string{"\n", "\r\n"}[random.IntN(2)]
		gone, come := differing(RowsOf([]byte(strings.Join(a, "\n"))), RowsOf([]byte(strings.Join(b, end))))
		if got, want := sorted(gone), without(a, b); !slices.Equal(got, want) {
			t.Fatalf("round %d: gone %d lines, want %d", round, len(got), len(want))
		}
		now, before := RowsOf([]byte(strings.Join(b, end))).Sums(), RowsOf([]byte(strings.Join(a, "\n"))).Sums()
		if Lacks(now, before) != (len(gone) > 0) || Lacks(before, now) != (len(come) > 0) {
			t.Fatalf("round %d: by checksums %t and %t, %d lines gone and %d come", round, Lacks(now, before), Lacks(before, now), len(gone), len(come))
		}
		if got, want := sorted(come), without(b, a); !slices.Equal(got, want) {
			t.Fatalf("round %d: come %d lines, want %d", round, len(got), len(want))
		}
	}
}

func sorted(lines [][]byte) (list []string) {
	for _, line := range lines {
		list = append(list, string(line))
	}
	slices.Sort(list)
	return list
}

// without lists the lines of a that b lacks, each as often as b has fewer.
func without(a, b []string) (list []string) {
	count := map[string]int{}
	for _, line := range b {
		count[line]++
	}
	for _, line := range a {
		if count[line]--; count[line] < 0 {
			list = append(list, line)
		}
	}
	slices.Sort(list)
	return list
}
