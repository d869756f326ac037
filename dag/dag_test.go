package dag_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/dag"
	"stig/internal/beads"
)

var now = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// store is a slice of issues as a store; of repeated ids the last one counts.
type store []*beads.Issue

func (s store) Len() int              { return len(s) }
func (s store) At(i int) *beads.Issue { return s[i] }
func (s store) Index(id string) (int, bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].ID == id {
			return i, true
		}
	}
	return 0, false
}

// Outcome takes the title of an issue for its close reason.
func (s store) Outcome(i int) beads.Outcome { return beads.OutcomeOf(s[i].Title) }

// parse reads one issue a line: "id status type: edge>target edge>target", where edge is b
// (blocks), c (conditional-blocks), w (waits-for), p (parent-child) or the full type.
func parse(t *testing.T, text string) store {
	t.Helper()
	short := map[string]string{"b": "blocks", "c": "conditional-blocks", "w": "waits-for", "p": "parent-child"}
	var s store
	for line := range strings.Lines(strings.TrimSpace(text)) {
		head, edges, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(head)
		issue := &beads.Issue{ID: fields[0], Status: "open", Type: "task"}
		if len(fields) > 1 {
			issue.Status = fields[1]
		}
		if len(fields) > 2 {
			issue.Type = fields[2]
		}
		for edge := range strings.FieldsSeq(edges) {
			kind, on, ok := strings.Cut(edge, ">")
			if !ok {
				t.Fatalf("bad edge %q", edge)
			}
			if long := short[kind]; long != "" {
				kind = long
			}
			issue.Deps = append(issue.Deps, beads.Dep{On: on, Type: kind})
		}
		s = append(s, issue)
	}
	return s
}

func ids(s store, indices []int) string {
	var list []string
	for _, i := range indices {
		list = append(list, s[i].ID)
	}
	return strings.Join(list, " ")
}

func at(t *testing.T, s store, id string) int {
	t.Helper()
	i, ok := s.Index(id)
	if !ok {
		t.Fatalf("no %s", id)
	}
	return i
}

func TestClosedDependencies(t *testing.T) {
	tests := []struct{ name, store, want string }{
		{"none", "x", ""},
		{"a chain, the far end first", `
			x: b>c1
			c1 closed: b>c2
			c2 closed: b>c3
			c3 closed`, "c3@3 c2@2 c1@1"},
		{"ties by id, not by the order of rows", `
			x: b>zz b>aa b>mm
			zz closed
			aa closed
			mm closed`, "aa@1 mm@1 zz@1"},
		{"a diamond: the shortest distance counts", `
			x: b>l b>r
			l closed: b>base
			r closed: b>l
			base closed`, "base@2 l@1 r@1"},
		{"every blocking type, no other", `
			x: b>b1 c>c1 w>w1 p>p1 related>r1 discovered-from>d1 blocked-by>n1
			b1 closed
			c1 closed
			w1 closed
			p1 closed
			r1 closed
			d1 closed
			n1 closed`, "b1@1 c1@1 w1@1"},
		{"what lies behind an open blocker is not ours", `
			x: b>o b>c1
			o open: b>hidden
			hidden closed
			c1 closed`, "c1@1"},
		{"tombstones left nothing", `
			x: b>gone b>c1
			gone tombstone
			c1 closed`, "c1@1"},
		{"an edge to itself", `
			x: b>x b>c1
			c1 closed: b>c1`, "c1@1"},
		{"the same pair twice", `
			x: b>c1 w>c1
			c1 closed: b>c2 c>c2
			c2 closed`, "c2@2 c1@1"},
		{"a ring is entered behind what it waits for", `
			x: b>a
			a closed: b>m
			m closed: b>n
			n closed: b>m b>z
			z closed`, "z@4 m@2 a@1 n@3"},
		{"a ring that leads back to the issue", `
			x closed: b>a
			a closed: b>x`, "a@1"},
		{"dangling and external", "x: b>nowhere b>external:other:1", ""},
		{"of a repeated id the last line counts", `
			x: b>old
			x: b>c1
			old closed
			c1 closed`, "c1@1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, test.store)
			var got []string
			for _, d := range dag.New(s).ClosedDependencies(at(t, s, "x")) {
				got = append(got, fmt.Sprintf("%s@%d", s[d.Index].ID, d.Distance))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", strings.Join(got, " "), test.want)
			}
		})
	}
}

// TestClosedDependenciesRandom compares the order with its definition on generated graphs:
// everything reachable through closed blockers, and nothing before its own dependencies, except
// in a cycle.
func TestClosedDependenciesRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rings := 0
	for round := range 3000 {
		s := randomStore(random, 2+random.IntN(11))
		for range round % 3 { // in some, rows that may form cycles
			i := random.IntN(len(s))
			s[i].Deps = append(s[i].Deps, beads.Dep{On: s[random.IntN(len(s))].ID, Type: "blocks"})
		}
		got := dag.New(s).ClosedDependencies(0)
		place := map[int]int{}
		for k, d := range got {
			place[d.Index] = k
		}
		want := reachable(s, 0)
		if len(want) != len(got) {
			t.Fatalf("%s: got %d dependencies, want %d", describe(s), len(got), len(want))
		}
		for _, d := range got {
			if want[d.Index] != d.Distance {
				t.Fatalf("%s: distance of %s is %d, want %d", describe(s), s[d.Index].ID, d.Distance, want[d.Index])
			}
			for _, dep := range s[d.Index].Deps {
				b, _ := s.Index(dep.On)
				k, in := place[b]
				if _, back := reachable(s, b)[d.Index]; in && k > place[d.Index] && back {
					rings++
				} else if in && k > place[d.Index] {
					t.Fatalf("%s: %s stands before %s, which it waits for", describe(s), s[d.Index].ID, s[b].ID)
				}
			}
		}
	}
	if rings < 100 {
		t.Errorf("only %d rows of rings", rings)
	}
}

// randomStore generates an acyclic store: edges lead to greater numbers.
func randomStore(random *rand.Rand, n int) store {
	var s store
	for i := range n {
		issue := &beads.Issue{ID: fmt.Sprintf("n%c", 'z'-i), Status: "closed"}
		if random.IntN(5) == 0 {
			issue.Status = "open"
		}
		for j := i + 1; j < n; j++ {
			if random.IntN(3) == 0 {
				issue.Deps = append(issue.Deps, beads.Dep{On: fmt.Sprintf("n%c", 'z'-j), Type: "blocks"})
			}
		}
		s = append(s, issue)
	}
	return s
}

// reachable returns the shortest distance to each closed blocker behind an issue, by relaxing
// all edges until nothing changes.
func reachable(s store, from int) map[int]int {
	distance := map[int]int{from: 0}
	for changed := true; changed; {
		changed = false
		for i := range s {
			d, in := distance[i]
			if !in {
				continue
			}
			for _, dep := range s[i].Deps {
				b, _ := s.Index(dep.On)
				if old, in := distance[b]; s[b].Status == "closed" && (!in || d+1 < old) {
					distance[b], changed = d+1, true
				}
			}
		}
	}
	delete(distance, from)
	return distance
}

func describe(s store) string {
	var b strings.Builder
	for _, issue := range s {
		fmt.Fprintf(&b, "%s %s %v; ", issue.ID, issue.Status, issue.Deps)
	}
	return b.String()
}

func TestReady(t *testing.T) {
	s := parse(t, `
		plain
		busy in_progress
		done closed
		odd triage
		held: b>plain
		freed: b>done b>gone b>nowhere
		outside: b>external:other:1
		gone tombstone
		heldbypin: b>pinnedstatus b>pinned
		pinnedstatus pinned
		pinned
		ephemeral
		template
		later
		soon
		message open message
		epic open epic: b>plain
		child: p>epic
		grandchild: p>child
		orphan: p>shut
		shut closed epic: b>plain
		related: related>plain`)
	for _, issue := range s {
		switch issue.ID {
		case "pinned":
			issue.Pinned = true
		case "ephemeral":
			issue.Ephemeral = true
		case "template":
			issue.Template = true
		case "later":
			issue.DeferUntil = now.Add(time.Hour)
		case "soon":
			issue.DeferUntil, issue.Priority = now.Add(-time.Hour), 3
		}
	}
	got := ids(s, dag.New(s).Ready(now))
	if want := "plain freed heldbypin orphan related soon"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBlockedThroughEpics(t *testing.T) {
	s := parse(t, `
		base
		top: b>base
		middle: p>top
		leaf: p>middle
		loop1: p>loop2
		loop2: p>loop1 b>base`)
	g := dag.New(s)
	if got := ids(s, g.OpenBlockers(at(t, s, "leaf"))); got != "" {
		t.Errorf("leaf has blockers of its own: %s", got)
	}
	for _, id := range []string{"top", "middle", "leaf", "loop1", "loop2"} {
		if !g.Blocked(at(t, s, id)) {
			t.Errorf("%s is not blocked", id)
		}
	}
	for _, id := range []string{"leaf", "top"} {
		if holds := g.Holds(at(t, s, id), now); len(holds) != 1 || holds[0].On != at(t, s, "base") || holds[0].Through != at(t, s, "top") {
			t.Errorf("%s is held by %v, want by base, through top", id, holds)
		}
	}
}

func TestLinks(t *testing.T) {
	s := parse(t, `
		epic: p>epic
		b1: p>epic p>other
		b2 closed: p>epic b>b1
		b3: b>b1 w>b1 related>b1
		b4 tombstone: p>epic
		other`)
	g := dag.New(s)
	b1 := at(t, s, "b1")
	if got := ids(s, g.Dependents(b1)); got != "b2 b3" {
		t.Errorf("dependents: %s", got)
	}
	if got := ids(s, g.Waiting(b1)); got != "b3" {
		t.Errorf("waiting: %s", got)
	}
	if epic, ok := g.Epic(b1); !ok || s[epic].ID != "epic" {
		t.Errorf("of two epics the smaller id is taken, got %d %v", epic, ok)
	}
	closed, total := g.Progress(at(t, s, "epic"))
	if closed != 1 || total != 2 {
		t.Errorf("progress %d of %d, want 1 of 2", closed, total)
	}
	var incoming []string
	for _, l := range dag.AllIncoming(s, b1) {
		incoming = append(incoming, s[l.From].ID+":"+l.Type)
	}
	want := []string{"b2:blocks", "b3:blocks", "b3:related", "b3:waits-for"}
	if !slices.Equal(incoming, want) {
		t.Errorf("incoming %v, want %v", incoming, want)
	}
}
