package dag_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// ways returns the issues of each way, one a line.
func ways(s store, from, to int) (lines []string, more bool) {
	list, more := dag.New(s).Ways(from, to)
	for _, steps := range list {
		names := []string{s[from].ID}
		for _, step := range steps {
			names = append(names, s[step.For].ID)
		}
		lines = append(lines, strings.Join(slices.Compact(names), " "))
	}
	return lines, more
}

func TestWays(t *testing.T) {
	for _, c := range []struct {
		name, store, want string
		more              bool
	}{
		{"none", "x\ny", "", false},
		{"direct, and through another", "x: b>y b>m\nm: b>y\ny", "x y|x m y", false},
		{"through an epic that waits", "x: p>e\ne: b>y\ny", "x e y", false},
		{"through the children of an epic", "x: b>e\ne\nc: p>e b>y\nd: p>e\ny", "x e c y", false},
		{"an epic for its child", "x\ny: p>x", "x y", false},
		{"a child does not wait for its epic", "x: p>y\ny", "", false},
		{"not back to the epic through its children", "x: b>e\ne: b>y\nc: p>e\nd: p>c\ny", "x e y", false},
		{"nor where a child has another way", "x: b>e\ne: b>y\nc: p>e b>m\nm: b>y\ny", "x e y|x e c m y", false},
		{"through closed ones there is none", "x: b>m\nm closed: b>y\ny", "", false},
		{"nobody waits for a closed one", "x: b>y\ny closed", "", false},
		{"past a deadlock only the shortest", "x: b>m b>n\nm: b>n b>y\nn: b>m b>y\ny", "x m y", true},
		{"in a deadlock", "x: b>y\ny: b>x", "x y", false},
	} {
		s := parse(t, c.store)
		got, more := ways(s, at(t, s, "x"), at(t, s, "y"))
		if strings.Join(got, "|") != c.want || more != c.more {
			t.Errorf("%s: got %q, more %v", c.name, got, more)
		}
	}
}

// TestWaysMany asks for some of very many ways, and for a very long one.
func TestWaysMany(t *testing.T) {
	var s store
	row := func(k int) beads.Dep { return beads.Dep{On: fmt.Sprintf("i%03d", k), Type: "blocks"} }
	for i := range 120 { // pairs: each waits for both of the previous pair
		issue := &beads.Issue{ID: fmt.Sprintf("i%03d", i), Status: "open"}
		if i > 1 {
			issue.Deps = []beads.Dep{row(i - i%2 - 2), row(i - i%2 - 1)}
		}
		s = append(s, issue)
	}
	got, more := ways(s, 119, 0)
	if len(got) < 50 || len(got) > 100 || !more || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("got %d ways, more %v", len(got), more)
	}
	long := make(longStore, 50_000)
	for i := range long {
		long[i] = &beads.Issue{ID: fmt.Sprintf("i%06d", i), Status: "open"}
		if i > 0 {
			long[i].Deps = []beads.Dep{{On: fmt.Sprintf("i%06d", i-1), Type: "blocks"}}
		}
	}
	list, more := dag.New(long).Ways(len(long)-1, 0)
	if len(list) != 1 || len(list[0]) != len(long)-1 || !more {
		t.Errorf("got %d ways, more %v", len(list), more)
	}
}

// TestWaysRandom compares the ways with a walk that tries every one.
func TestWaysRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	several := 0
	for round := range sample.Rounds(3000) {
		s := randomIssues(random, 2+random.IntN(7))
		for range len(s) {
			a, b := random.IntN(len(s)), random.IntN(len(s))
			s[max(a, b)].Deps = append(s[max(a, b)].Deps, beads.Dep{On: s[min(a, b)].ID, Type: "blocks"})
		}
		from, to := random.IntN(len(s)), random.IntN(len(s))
		b := newBrute(s)
		step, dist := b.distances()
		want := map[string]bool{}
		var try func(at int, way []int)
		try = func(at int, way []int) {
			way = append(slices.Clone(way), at)
			if at == 2*to+1 {
				said := ""
				for k := range way[1:] {
					if way[k] != way[k+1]+1 || way[k]/2 != way[k+1]/2 { // it must start before it can be closed
						said += fmt.Sprintln(way[k], way[k+1])
					}
				}
				want[said] = true
				return
			}
			for next := range step {
				if step[at][next] && !slices.ContainsFunc(way, func(n int) bool { return n/2 == next/2 && n/2 != at/2 || n == next }) {
					try(next, way)
				}
			}
		}
		if from != to && b.count[from] && b.count[to] && !b.closed(from) && b.holds(to) {
			try(2*from+1, nil)
		}
		got, more := dag.New(s).Ways(from, to)
		for _, way := range got {
			said := ""
			for _, step := range way {
				said += fmt.Sprintln(2*step.Issue+int(step.Does), 2*step.For+int(step.Done))
			}
			if !want[said] && !more { // past a deadlock it may return to an issue
				t.Fatalf("round %d: no way %v from %s to %s in\n%s", round, way, s[from].ID, s[to].ID, show(s))
			}
		}
		ring := false
		for x := range dist {
			ring = ring || dist[2*from+1][x] < far && dist[x][x] < far && dist[x][2*to+1] < far
		}
		if len(got) != len(want) && !more || more && (!ring || len(got) != 1) {
			t.Fatalf("round %d: %v from %s to %s, want %v, more %v in\n%s", round, got, s[from].ID, s[to].ID, want, more, show(s))
		}
		if len(got) > 1 {
			several++
		}
	}
	if several < sample.Rounds(16) {
		t.Errorf("only %d stores with several ways", several)
	}
}
