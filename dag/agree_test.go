package dag_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// TestAgree compares every answer with a second implementation, on generated stores with all
// types of rows and all statuses, including cycles and repeated ids.
func TestAgree(t *testing.T) {
	rounds := sample.Rounds(500)
	random := rand.New(rand.NewPCG(2, 4))
	seen := map[string]int{}
	for round := range rounds {
		s := anyStore(random, 1+random.IntN(12))
		agree(t, s, seen)
		if t.Failed() {
			t.Fatalf("round %d:\n%s", round, show(s))
		}
	}
	t.Log(seen)
	for _, what := range []string{"ready", "blocked", "unblocks", "deadlock", "two deadlocks", "closed cycle", "acyclic", "stages"} {
		if seen[what] < rounds/50 {
			t.Errorf("%s: only %d of %d stores try it", what, seen[what], rounds)
		}
	}
}

// anyStore generates a store of n lines, sparse or dense, with or without a tree of epics.
func anyStore(random *rand.Rand, n int) (s store) {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	states := []string{"open", "open", "open", "in_progress", "blocked", "deferred", "triage", "closed", "closed", "tombstone", "pinned"}
	if random.IntN(2) == 0 {
		states = states[:4]
	}
	for i := range n {
		issue := &beads.Issue{ID: fmt.Sprintf("i%c", 'a'+(i*7)%26), Status: pick(states...), Type: pick("task", "task", "bug", "epic", "event")}
		switch random.IntN(40) {
		case 0:
			issue.Pinned = true
		case 1:
			issue.Ephemeral = true
		case 2:
			issue.Template = true
		case 3:
			issue.DeferUntil = now.Add(time.Hour)
		case 4:
			issue.DeferUntil = now
		case 5:
			issue.ID = fmt.Sprintf("i%c", 'a'+(random.IntN(n)*7)%26)
		}
		issue.Priority = random.IntN(2)
		issue.Title = pick("it works", "it works", "the spike failed", "duplicate")
		s = append(s, issue)
	}
	orderly := random.IntN(2) == 0
	types := []string{"blocks", "blocks", "conditional-blocks", "waits-for", "parent-child", "parent-child", "related", "relates-to", "blocked-by", "parent_child", "mine", ""}
	for range random.IntN(2*n + 1) {
		a, b := random.IntN(n), random.IntN(n)
		if orderly && a < b {
			a, b = b, a
		}
		on := s[b].ID
		if k := random.IntN(30); k < 2 {
			on = []string{"nowhere-1", "external:other:x"}[k]
		}
		s[a].Deps = append(s[a].Deps, beads.Dep{On: on, Type: pick(types...)})
		if random.IntN(3) == 0 {
			s[a].AnyChild = map[string]bool{on: true}
		}
	}
	return s
}

func agree(t *testing.T, s store, seen map[string]int) {
	t.Helper()
	g, b := dag.New(s), newBrute(s)
	unblocks := b.unblocks()
	if got := g.Unblocks(); !slices.Equal(got, unblocks) {
		t.Errorf("unblocks: got %v, want %v", got, unblocks)
	}
	var ready []int
	for i := range s {
		if got, want := g.Blocked(i), b.blocked(i); got != want {
			t.Errorf("%s blocked: got %v, want %v", s[i].ID, got, want)
		} else if want {
			seen["blocked"]++
		}
		if b.ready(i, now) {
			ready = append(ready, i)
		}
		if unblocks[i] > 1 {
			seen["unblocks"]++
		}
	}
	slices.SortFunc(ready, func(x, y int) int {
		if s[x].Priority != s[y].Priority {
			return s[x].Priority - s[y].Priority
		}
		if unblocks[x] != unblocks[y] {
			return unblocks[y] - unblocks[x]
		}
		return strings.Compare(s[x].ID, s[y].ID)
	})
	if got := g.Ready(now); !slices.Equal(got, ready) {
		t.Errorf("ready: got %s, want %s", ids(s, got), ids(s, ready))
	} else if len(got) > 0 {
		seen["ready"]++
	}
	agreeOnRings(t, s, g, b, seen)
	if !slices.Contains(b.count, false) {
		sameTurnedRound(t, s)
	}
	if b.acyclic() {
		seen["acyclic"]++
		if got, want := g.LongestChain(nil), b.deepest(); len(got) != want {
			t.Errorf("longest chain: got %s, want %d issues", ids(s, got), want)
		}
		if got := ids(s, g.LongestChain(nil)); len(s) <= 12 && got != strings.Join(b.longest(), " ") {
			t.Errorf("longest chain: got %s, want %s", got, strings.Join(b.longest(), " "))
		}
	}
	for _, within := range []func(int) bool{func(int) bool { return true }, func(i int) bool { return i%3 > 0 }} {
		stages, width := g.Stages(within)
		var got []string
		widest := 0
		for _, stage := range stages {
			got = append(got, ids(s, stage))
			widest = max(widest, len(stage))
		}
		if want := b.stages(within); !slices.Equal(got, want) || width != widest {
			t.Errorf("stages: got %q, width %d, want %q", got, width, want)
		}
		if len(stages) > 2 {
			seen["stages"]++
		}
	}
}

// agreeOnRings checks that deadlocks and closed cycles are complete, as short as possible, and
// made of existing steps.
func agreeOnRings(t *testing.T, s store, g *dag.Graph, b brute, seen map[string]int) {
	t.Helper()
	step, dist := b.distances()
	want, told := b.deadlocks(), map[int]int{}
	rings := g.Deadlocks()
	if len(rings) > 0 {
		seen["deadlock"]++
	}
	if len(rings) > 1 {
		seen["two deadlocks"]++
	}
	var shorter []dag.Ring // sorted by length below
	lengths := map[*dag.Step]int{}
	for k, ring := range rings {
		length := 0
		for n, at := range ring.Steps {
			next := ring.Steps[(n+1)%len(ring.Steps)]
			if !step[2*at.Issue+int(at.Does)][2*at.For+int(at.Done)] || next.Issue != at.For || next.Does > at.Done {
				t.Errorf("no such step: %v in %v", at, ring.Steps)
			}
			length += 1 + int(at.Done-next.Does)
			if s[at.Issue].ID < s[ring.Steps[0].Issue].ID {
				t.Errorf("%v does not begin at its smallest id", ring.Steps)
			}
		}
		if k > 0 && s[ring.Steps[0].Issue].ID < s[rings[k-1].Steps[0].Issue].ID {
			t.Errorf("not sorted by smallest ids: %v", rings)
		}
		lengths[&ring.Steps[0]] = length
		shorter = append(shorter, ring)
		shortest := dist[startOf(ring)][startOf(ring)]
		for start, least := range want {
			x := startOf(ring)
			if x == start || dist[x][start] < far && dist[start][x] < far {
				shortest = least
				told[start] = min(length, cmp.Or(told[start], length))
			}
		}
		if length < shortest {
			t.Errorf("%v: %d steps, the shortest has %d", ring.Steps, length, shortest)
		}
		if !slices.Contains(s[ring.Remove.From].Deps, beads.Dep{On: s[ring.Remove.On].ID, Type: ring.Remove.Type}) {
			t.Errorf("%v: no row %v to remove", ring.Steps, ring.Remove)
		}
		if !slices.ContainsFunc(ring.Steps, func(at dag.Step) bool {
			pair := [2]int{at.Issue, at.For}
			return pair == [2]int{ring.Remove.From, ring.Remove.On} || at.Does == dag.Close && pair == [2]int{ring.Remove.On, ring.Remove.From}
		}) {
			t.Errorf("%v: removing %v does not break it", ring.Steps, ring.Remove)
		}
	}
	if !maps.Equal(told, want) {
		t.Errorf("shortest deadlock of each component: got %v, want %v", told, want)
	}
	// Each is the shortest once the rows of all shorter ones are removed.
	slices.SortStableFunc(shorter, func(a, b dag.Ring) int { return lengths[&a.Steps[0]] - lengths[&b.Steps[0]] })
	for k, ring := range shorter {
		length := lengths[&ring.Steps[0]]
		if k == 0 || length == lengths[&shorter[k-1].Steps[0]] {
			continue
		}
		for _, least := range newBrute(without(s, shorter[:k])).deadlocks() {
			if least < length {
				t.Errorf("%v has %d steps, when there is one of %d", ring.Steps, length, least)
			}
		}
	}
	if rest := newBrute(without(s, rings)).deadlocks(); len(rest) > 0 {
		t.Errorf("after removing the rows of %v there are still %v", rings, rest)
	}
	cycles, wanted := g.ClosedCycles(), b.closedCycles()
	if len(cycles) > 0 {
		seen["closed cycle"]++
	}
	if len(cycles) != len(wanted) {
		t.Errorf("closed cycles: got %v, want %v", cycles, wanted)
		return
	}
	total, shortest := 0, 0
	for _, cycle := range cycles {
		total += len(cycle)
		for k, i := range cycle {
			if next := cycle[(k+1)%len(cycle)]; !b.waits(i, next) {
				t.Errorf("closed cycle %s: %s does not wait for %s", ids(s, cycle), s[i].ID, s[next].ID)
			}
		}
	}
	for _, length := range wanted {
		shortest += length
	}
	if total != shortest {
		t.Errorf("closed cycles: %d steps in all, want %d", total, shortest)
	}
}

// sameTurnedRound checks that the order of lines and rows makes no difference.
func sameTurnedRound(t *testing.T, s store) {
	t.Helper()
	turned := slices.Clone(s)
	slices.Reverse(turned)
	for i, issue := range turned {
		other := *issue
		other.Deps = slices.Clone(issue.Deps)
		slices.Reverse(other.Deps)
		turned[i] = &other
	}
	if got, want := said(turned), said(s); got != want {
		t.Errorf("lines turned round: got\n%s\nwant\n%s", got, want)
	}
}

// said is everything that has an order, as ids.
func said(s store) string {
	g := dag.New(s)
	text := fmt.Sprintln(ids(s, g.Ready(now)), ids(s, g.LongestChain(nil)), ids(s, g.Epics()), rings(s))
	for _, ring := range g.Deadlocks() {
		text += fmt.Sprintln(dag.Circle(ring.Steps, func(i int) string { return s[i].ID }))
	}
	for _, cycle := range g.ClosedCycles() {
		text += fmt.Sprintln(ids(s, cycle))
	}
	return text
}

// without removes all rows that link the same issues in the same way as the rows to remove.
func without(s store, rings []dag.Ring) (rest store) {
	for i, issue := range s {
		left := *issue
		left.Deps = slices.DeleteFunc(slices.Clone(issue.Deps), func(d beads.Dep) bool {
			return slices.ContainsFunc(rings, func(r dag.Ring) bool {
				return r.Remove.From == i && s[r.Remove.On].ID == d.On && dag.Contains(r.Remove.Type) == dag.Contains(d.Type)
			})
		})
		rest = append(rest, &left)
	}
	return rest
}

// startOf returns a "can start" node of a ring.
func startOf(ring dag.Ring) int {
	for _, at := range ring.Steps {
		if at.Does == dag.Start {
			return 2 * at.Issue
		}
	}
	return -1
}
