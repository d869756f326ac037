package dag_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// deadlock adds rows "a b>c" to a store and returns the cycle in words.
func deadlock(t *testing.T, s store, rows ...string) string {
	t.Helper()
	var added []dag.Row
	name := func(i int) string {
		if i == s.Len() {
			return "new"
		}
		return s.At(i).ID
	}
	index := func(id string) int {
		if id == "new" {
			return s.Len()
		}
		i, ok := s.Index(id)
		if !ok {
			t.Fatalf("no issue %q", id)
		}
		return i
	}
	for _, row := range rows {
		from := parse(t, row)[0]
		for _, d := range from.Deps {
			added = append(added, dag.Row{From: index(from.ID), On: index(d.On), Type: d.Type})
		}
	}
	var words []string
	for _, step := range dag.New(s).Deadlock(added...) {
		words = append(words, step.Words(name))
	}
	return strings.Join(words, "\n")
}

func TestDeadlock(t *testing.T) {
	for _, c := range []struct {
		name, store string
		rows        []string
		want        string
	}{
		{"nothing in the way", "a\nb", []string{"a: b>b"}, ""},
		{"each other", "a\nb: b>a", []string{"a: b>b"}, "a can start only after b is closed\nb can start only after a is closed"},
		{"itself", "a", []string{"a: b>a"}, "a can start only after a is closed"},
		{"contained in itself", "a", []string{"a: p>a"}, "a can start only after its epic a can"},
		{"a longer way", "a\nb: c>c\nc: w>a", []string{"a: b>b"},
			"a can start only after b is closed\nb can start only after c is closed\nc can start only after a is closed"},
		{"the shortest of two", "a\nb: b>c b>a\nc: b>a", []string{"a: b>b"}, "a can start only after b is closed\nb can start only after a is closed"},
		{"its own epic", "e\na: p>e", []string{"a: b>e"},
			"a can start only after e is closed\ne can be closed only after its child a is"},
		{"into the epic it waits for", "e\na: b>e", []string{"a: p>e"},
			"e can be closed only after its child a is\na can start only after e is closed"},
		{"the epic waits for its child", "e\na: p>e", []string{"e: b>a"},
			"e can start only after a is closed\na can start only after its epic e can"},
		{"through an epic of epics", "e\nf: p>e\na: p>f\nb", []string{"b: b>e", "a: b>b"},
			"b can start only after e is closed\ne can be closed only after its child f is\nf can be closed only after its child a is\na can start only after b is closed"},
		{"a blocker further up", "e: b>b\na: p>e\nb", []string{"b: b>a"},
			"b can start only after a is closed\na can start only after its epic e can\ne can start only after b is closed"},
		{"children of one epic", "e\na: p>e\nb: p>e", []string{"a: b>b"}, ""},
		{"a closed one", "a\nb closed: b>a", []string{"a: b>b"}, ""},
		{"a pinned one", "a\nb pinned: b>a", []string{"a: b>b"}, ""},
		{"through a closed one", "a\nb\nc closed: b>a", []string{"a: b>b", "b: b>c"}, ""},
		{"a type that does not block", "a\nb: b>a", []string{"a: related>b"}, ""},
		{"another deadlock that was there", "a\nx: b>y\ny: b>x", []string{"a: b>x"}, ""},
		{"a new child that waits for its epic", "e", []string{"new: p>e b>e"},
			"e can be closed only after its child new is\nnew can start only after e is closed"},
		{"a new child that waits for a dependent of its epic", "e\nd: b>e", []string{"new: p>e b>d"},
			"e can be closed only after its child new is\nnew can start only after d is closed\nd can start only after e is closed"},
		{"a new issue", "a\nb: b>a", []string{"new: b>b b>a"}, ""},
	} {
		if got := deadlock(t, parse(t, c.store), c.rows...); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// The answer is exact: compared with the distances between all nodes of the relation, computed
// from its definition.
func TestDeadlockExact(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	found := 0
	for round := range sample.Rounds(375) {
		s := randomIssues(random, 2+random.IntN(6))
		row := dag.Row{From: random.IntN(len(s)), On: random.IntN(len(s)), Type: []string{"blocks", "parent-child", "related"}[random.IntN(3)]}
		want := cycleThrough(s, row)
		steps := dag.New(s).Deadlock(row)
		if (want > 0) != (steps != nil) {
			t.Fatalf("round %d: %v: got %v, want a cycle of %d in %s", round, row, steps, want, show(s))
		}
		if steps != nil {
			found++
			checkCycle(t, s, row, steps, want)
		}
	}
	if found < sample.Rounds(37) {
		t.Errorf("only %d deadlocks among the random stores", found)
	}
}

func randomIssues(random *rand.Rand, n int) (s store) {
	for i := range n {
		status := []string{"open", "open", "in_progress", "closed"}[random.IntN(4)]
		s = append(s, &beads.Issue{ID: fmt.Sprint("i", i), Status: status})
	}
	for range random.IntN(2 * n) {
		a, b := random.IntN(n), random.IntN(n)
		s[a].Deps = append(s[a].Deps, beads.Dep{On: s[b].ID, Type: []string{"blocks", "parent-child"}[random.IntN(2)]})
	}
	return s
}

func show(s store) string {
	var b strings.Builder
	for _, issue := range s {
		fmt.Fprintln(&b, issue.ID, issue.Status, issue.Deps)
	}
	return b.String()
}

// needs lists what a row means: S(i) is 2i, C(i) is 2i+1.
func needs(s store, from, on int, kind string) (list [][2]int) {
	if s[from].Status == "closed" || s[on].Status == "closed" {
		return nil
	}
	switch kind {
	case "blocks":
		return [][2]int{{2 * from, 2*on + 1}}
	case "parent-child":
		return [][2]int{{2 * from, 2 * on}, {2*on + 1, 2*from + 1}}
	}
	return nil
}

func relation(s store, row dag.Row) (pairs map[[2]int]bool, added [][2]int) {
	pairs = map[[2]int]bool{}
	for i, issue := range s {
		pairs[[2]int{2*i + 1, 2 * i}] = true
		for _, d := range issue.Deps {
			on, _ := s.Index(d.On)
			for _, p := range needs(s, i, on, d.Type) {
				pairs[p] = true
			}
		}
	}
	added = needs(s, row.From, row.On, row.Type)
	for _, p := range added {
		pairs[p] = true
	}
	return pairs, added
}

// cycleThrough returns the number of pairs in the shortest cycle through the row, 0 for none.
func cycleThrough(s store, row dag.Row) int {
	const far = 1 << 20
	pairs, added := relation(s, row)
	n := 2 * len(s)
	dist := make([][]int, n)
	for i := range dist {
		dist[i] = make([]int, n)
		for j := range dist[i] {
			if dist[i][j] = far; i == j {
				dist[i][j] = 0
			} else if pairs[[2]int{i, j}] {
				dist[i][j] = 1
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				dist[i][j] = min(dist[i][j], dist[i][k]+dist[k][j])
			}
		}
	}
	best := far
	for _, p := range added {
		best = min(best, dist[p[1]][p[0]]+1)
	}
	if best == far {
		return 0
	}
	return best
}

// checkCycle checks that steps form a cycle of the relation with the wanted length, counting
// implied steps, that begins with the row.
func checkCycle(t *testing.T, s store, row dag.Row, steps []dag.Step, want int) {
	t.Helper()
	pairs, added := relation(s, row)
	length := 0
	for k, step := range steps {
		from, to := 2*step.Issue+int(step.Does), 2*step.For+int(step.Done)
		if !pairs[[2]int{from, to}] {
			t.Fatalf("no such step: %+v in %s", step, show(s))
		}
		length++
		next := steps[(k+1)%len(steps)]
		if next.Issue != step.For {
			t.Fatalf("%+v does not follow %+v", next, step)
		}
		if next.Does != step.Done {
			length++ // it could start before it is closed
		}
	}
	first := [2]int{2*steps[0].Issue + int(steps[0].Does), 2*steps[0].For + int(steps[0].Done)}
	begins := false
	for _, p := range added {
		begins = begins || p == first
	}
	if !begins || length != want {
		t.Fatalf("%v: %d steps, want %d, begins with the row: %v, in %s", steps, length, want, begins, show(s))
	}
}

// A chain of 50,000 issues is searched in linear time.
func TestDeadlockLong(t *testing.T) {
	const n = 50_000
	s := make(longStore, n)
	for i := range s {
		s[i] = &beads.Issue{ID: fmt.Sprintf("i%06d", i), Status: "open"}
		if i > 0 {
			s[i].Deps = []beads.Dep{{On: fmt.Sprintf("i%06d", i-1), Type: "blocks"}}
		}
	}
	if steps := dag.New(s).Deadlock(dag.Row{From: 0, On: n - 1, Type: "blocks"}); len(steps) != n {
		t.Errorf("%d steps, want %d", len(steps), n)
	}
}

// longStore finds its issues by the number in their ids.
type longStore []*beads.Issue

func (s longStore) Len() int              { return len(s) }
func (s longStore) At(i int) *beads.Issue { return s[i] }
func (s longStore) Index(id string) (int, bool) {
	var i int
	_, err := fmt.Sscanf(id, "i%d", &i)
	return i, err == nil && i < len(s)
}

func TestMeant(t *testing.T) {
	for kind, want := range map[string]string{
		"blocked-by": "blocks", "depends-on": "blocks", "depends_on": "blocks", "Blocks": "blocks", "waits_for": "waits-for",
		"parent": "parent-child", "child-of": "parent-child", "parent_child": "parent-child", "subtask": "parent-child",
		"parent-of": "parent-child, turned", "blocks": "", "parent-child": "", "related": "", "tracks": "", "mine": "",
	} {
		meant, turned, miss := dag.Meant(kind)
		if turned {
			meant += ", turned"
		}
		if meant != want || miss != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", kind, meant, miss, want)
		}
	}
}
