package dag_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/dag"
	"stig/internal/beads"
)

// rings returns the deadlocks of a store: the issues in order, and the row to remove.
func rings(s store) string {
	var lines []string
	for _, ring := range dag.New(s).Deadlocks() {
		var around []string
		for _, step := range ring.Steps {
			around = append(around, s[step.Issue].ID)
		}
		lines = append(lines, fmt.Sprintf("%s; remove %s %s>%s", strings.Join(around, " "), s[ring.Remove.From].ID, ring.Remove.Type, s[ring.Remove.On].ID))
	}
	return strings.Join(lines, "\n")
}

// Every kind of deadlock is found, as its shortest cycle, among much that is none.
func TestDeadlocksPlanted(t *testing.T) {
	for _, c := range []struct{ name, store, want string }{
		{"none", "a\nb: b>a\ne: b>b\nf: p>e\nh: p>e b>f", ""},
		{"blocks", "a: b>b\nb: b>c\nc: b>a\nd: b>a", "a b c; remove c blocks>a"},
		{"the shorter of two, then what is left", "a: b>b\nb: b>c b>a\nc: b>a", "a b; remove b blocks>a\na b c; remove c blocks>a"},
		{"the shorter of two through one", "a: b>b b>z\nb: b>c\nc: b>a\nz: b>a", "a z; remove z blocks>a\na b c; remove c blocks>a"},
		{"waits-for and conditional-blocks", "a: w>b\nb: c>c\nc: b>a", "a b c; remove c blocks>a"},
		{"itself", "a: w>a", "a; remove a waits-for>a"},
		{"contained in itself", "a: p>a", "a; remove a parent-child>a"},
		{"contained in each other", "a: p>b\nb: p>a", "a b; remove b parent-child>a"},
		{"its own epic", "e\na: p>e b>e", "a e; remove a blocks>e"},
		{"its grandparent", "e\nf: p>e\na: p>f b>e", "a e f; remove a blocks>e"},
		{"an epic and its child", "e: b>a\na: p>e", "a e; remove e blocks>a"},
		{"an epic and its grandchild", "e: b>a\nf: p>e\na: p>f", "a f e; remove e blocks>a"},
		{"two epics crossing", "e\nf\na: p>e b>f\nb: p>f b>e", "a f b e; remove b blocks>e"},
		{"siblings are in nobody's way", "e\na: p>e\nb: p>e b>a\nc: b>e", ""},
		{"the own epic is likelier wrong than the rest", "a: b>e\ne: b>x\nf: p>e\nx: b>f", "e x f; remove x blocks>f"},
		{"all that wait for their epic", "e\na: p>e b>e\nb: p>e b>e", "a e; remove a blocks>e\nb e; remove b blocks>e"},
		{"apart from each other", "a: b>b\nb: b>a\nx: b>y\ny: b>x", "a b; remove b blocks>a\nx y; remove y blocks>x"},
		{"closed", "a: b>b\nb closed: b>a\ne closed\nf: p>e b>e", ""},
		{"pinned", "a: b>b\nb pinned: b>a", ""},
		{"relates-to", "a: relates-to>b\nb: relates-to>a", ""},
		{"misspelt types hold nothing up", "a: blocked-by>b\nb: blocked-by>a", ""},
	} {
		s := parse(t, c.store)
		if got := rings(s); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
		for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
			s[i], s[j] = s[j], s[i]
		}
		if got := rings(s); got != c.want {
			t.Errorf("%s, lines turned round: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// The largest and worst stores are answered in reasonable time: 50,000 issues in one cycle, and
// as many that each wait for two others.
func TestLarge(t *testing.T) {
	n := 6_000 // more than are searched for further cycles
	s := make(longStore, n)
	for i := range s {
		s[i] = &beads.Issue{ID: fmt.Sprintf("i%06d", i), Status: "open"}
		for _, on := range []int{i - 1, i / 2} {
			if on >= 0 && i > 0 {
				s[i].Deps = append(s[i].Deps, beads.Dep{On: fmt.Sprintf("i%06d", on), Type: "blocks"})
			}
		}
	}
	g := dag.New(s)
	if got := g.Unblocks(); got[0] != n-1 || got[n-1] != 0 || got[n-2] != 1 {
		t.Errorf("unblocks: got %d, %d and %d", got[0], got[n-1], got[n-2])
	}
	if got := len(g.LongestChain(nil)); got != n {
		t.Errorf("longest chain: got %d", got)
	}
	for i := range s {
		s[i].Deps = []beads.Dep{{On: fmt.Sprintf("i%06d", (i+1)%n), Type: "blocks"}}
	}
	g = dag.New(s)
	if got := g.Deadlocks(); len(got) != 1 || len(got[0].Steps) != n || got[0].More != n {
		t.Errorf("deadlocks: got %d", len(got))
	}
	if got := g.Unblocks(); got[0] != n-1 || got[n-1] != n-1 {
		t.Errorf("unblocks in the ring: got %d and %d", got[0], got[n-1])
	}
}

// Each row that closes a cycle is reported; where a search would take too long, the answer says
// that some are missing.
func TestDeadlocksMany(t *testing.T) {
	const n, edges = 200, 100_000 // children, and enough steps to find two deadlocks
	row := func(on, kind string) beads.Dep { return beads.Dep{On: on, Type: kind} }
	s := make(longStore, n+1)
	for i := range s {
		s[i] = &beads.Issue{ID: fmt.Sprintf("i%06d", i), Status: "open"}
		if i > 0 {
			s[i].Deps = []beads.Dep{row("i000000", "blocks"), row("i000000", "parent-child"), row("i000000", "waits-for")}
		}
	}
	for _, where := range []string{"children that wait for their epic", "an epic that waits for its children"} {
		got := dag.New(s).Deadlocks()
		if len(got) != n {
			t.Errorf("%s: got %d deadlocks", where, len(got))
		}
		for k, ring := range got {
			if len(ring.Steps) != 2 || ring.More > 0 || ring.Remove.Type != "blocks" || ring.Remove.From+ring.Remove.On != k+1 {
				t.Fatalf("%s: got %+v at %d", where, ring, k)
			}
		}
		s[0].Deps = nil
		for i := 1; i < len(s); i++ {
			s[i].Deps = s[i].Deps[1:2]
			s[0].Deps = append(s[0].Deps, row(s[i].ID, "blocks"))
		}
	}
	s[0].Deps = nil
	for i := 1; i < len(s); i++ { // as many that wait for one that waits for them
		s[i].Deps = []beads.Dep{row("i000000", "blocks")}
		s[0].Deps = append(s[0].Deps, row(s[i].ID, "blocks"))
	}
	more := func(r dag.Ring) bool { return r.More > 0 }
	if got := dag.New(s).DeadlocksWithin(edges); len(got) == n || !slices.ContainsFunc(got, more) {
		t.Errorf("got %d deadlocks of %d, and no word of the others", len(got), n)
	}
	if got := dag.New(s).Deadlocks(); len(got) != n || slices.ContainsFunc(got, more) {
		t.Errorf("got %d deadlocks of %d with time", len(got), n)
	}
}
