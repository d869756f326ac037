package dag_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"stig/dag"
)

// TestState checks where an issue stands; of several reasons it is the one that a person would
// name first.
func TestState(t *testing.T) {
	s := parse(t, `
free
theirs
mine
asked
taken in_progress
blocked: b>free
said blocked
later
put deferred: b>free
full
full-1: p>full
done
done-1 closed: p>done
temp
notice pinned
strange triage
record open gate
over closed
gone tombstone
held: p>blocked`)
	s[at(t, s, "theirs")].Assignee, s[at(t, s, "mine")].Assignee = "ann", "bob"
	s[at(t, s, "later")].DeferUntil = now.Add(time.Hour)
	s[at(t, s, "temp")].Ephemeral = true
	asked := at(t, s, "asked")
	bob := dag.Worker{Now: now, Name: "bob", Asked: func(i int) bool { return i == asked }}
	g := dag.New(s)
	for id, want := range map[string]dag.State{
		"free": dag.StateReady, "theirs": dag.StateAssigned, "mine": dag.StateReady, "asked": dag.StateAsked,
		"taken": dag.StateInProgress, "blocked": dag.StateBlocked, "said": dag.StateBlocked, "held": dag.StateBlocked,
		"later": dag.StateDeferred, "put": dag.StateDeferred, "full": dag.StateEpic, "full-1": dag.StateReady,
		"done": dag.StateComplete, "temp": dag.StateOther, "notice": dag.StateOther, "strange": dag.StateUnknown,
		"record": dag.StateOther, "over": dag.StateClosed, "gone": dag.StateClosed,
	} {
		if got := g.State(at(t, s, id), bob); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if got, want := ids(s, g.Takeable(bob)), "free full-1 mine"; got != want {
		t.Errorf("bob can take %s, want %s", got, want)
	}
	if got, want := ids(s, g.Takeable(dag.Worker{Now: now})), "free asked full-1"; got != want {
		t.Errorf("somebody without a name can take %s, want %s", got, want)
	}
	if got, want := g.Tally(at(t, s, "done"), bob), (dag.Tally{Total: 1, Closed: 1}); got != want {
		t.Errorf("children: %+v, want %+v", got, want)
	}
}

// TestStateAgrees checks on any store that what can be claimed is ready, that what is ready but
// cannot be claimed is held only by somebody or by its own children, and that a tally adds up.
func TestStateAgrees(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 9))
	seen := map[dag.State]int{}
	for round := range 2000 {
		s := anyStore(random, 1+random.IntN(12))
		for _, issue := range s {
			issue.Assignee = []string{"", "", "ann", "bob"}[random.IntN(4)]
		}
		g := dag.New(s)
		w := dag.Worker{Now: now, Name: "ann", Asked: func(i int) bool { return s[i].Priority == 0 }}
		var all dag.Tally
		for i := range s {
			state := g.State(i, w)
			seen[state]++
			all.Add(state)
			held := state == dag.StateEpic || state == dag.StateComplete || state == dag.StateAsked || state == dag.StateAssigned
			standing := g.Standing(i, w)
			if free := state == dag.StateReady || state == dag.StateInProgress && standing.Free(); standing.State != state || standing.Free() != free {
				t.Fatalf("round %d: %s is %s, held by %v:\n%s", round, s[i].ID, state, standing.Words(i, func(i int) string { return s[i].ID }), show(s))
			}
			if ready := g.IsReady(i, now); ready != (held || state == dag.StateReady) {
				t.Fatalf("round %d: %s is %s, ready %v:\n%s", round, s[i].ID, state, ready, show(s))
			}
		}
		if sum := all.Ready + all.InProgress + all.Blocked + all.Deferred + all.Epics + all.Complete + all.Asked + all.Assigned + all.Unknown + all.Other; sum != all.Unclosed() {
			t.Fatalf("round %d: %+v: %d unclosed, %d by state", round, all, all.Unclosed(), sum)
		}
	}
	for _, state := range []dag.State{dag.StateReady, dag.StateEpic, dag.StateComplete, dag.StateAsked, dag.StateAssigned, dag.StateUnknown, dag.StateOther} {
		if seen[state] < 15 {
			t.Errorf("%s: only %d times", state, seen[state])
		}
	}
}

// TestConverges: it takes two different blockers, all closed.
func TestConverges(t *testing.T) {
	s := parse(t, `
x closed
y closed
z
none
one: b>x
twice: b>x c>x
two: b>x b>y
open: b>x b>y b>z
over closed: b>x b>y`)
	g := dag.New(s)
	var got []string
	for i := range s {
		if g.Converges(i) {
			got = append(got, s[i].ID)
		}
	}
	if strings.Join(got, " ") != "two" {
		t.Errorf("%s converge, want two", got)
	}
}

// TestTangles: cycles that share an issue are one group, also if a later cycle joins two
// groups.
func TestTangles(t *testing.T) {
	ring := func(issues ...int) (r dag.Ring) {
		for _, i := range issues {
			r.Steps = append(r.Steps, dag.Step{Issue: i})
		}
		return r
	}
	var got []string
	for _, group := range dag.CycleGroups([]dag.Ring{ring(1, 2), ring(3, 4), ring(5), ring(6, 3), ring(2, 6), ring(2, 7)}) {
		words := ""
		for _, r := range group {
			words += fmt.Sprint(r.Steps[0].Issue)
		}
		got = append(got, words)
	}
	if strings.Join(got, " ") != "13622 5" {
		t.Errorf("groups: %s", got)
	}
}

// TestRingThrough checks on any store that an issue in a deadlock gets a cycle that contains
// it, no longer than that deadlock, and any other issue none.
func TestRingThrough(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 8))
	found := 0
	for round := range 3000 {
		s := anyStore(random, 1+random.IntN(12))
		g := dag.New(s)
		rings := g.Deadlocks()
		for i := range s {
			steps := g.RingThrough(i)
			if steps != nil && len(rings) == 0 {
				t.Fatalf("round %d: %s is in %v, and there is no deadlock:\n%s", round, s[i].ID, steps, show(s))
			}
			in := steps == nil
			for k, step := range steps {
				in = in || step.Issue == i || step.For == i
				if next := steps[(k+1)%len(steps)]; next.Issue != step.For {
					t.Fatalf("round %d: %v is no cycle", round, steps)
				}
			}
			if !in {
				t.Fatalf("round %d: %s is not in %v", round, s[i].ID, steps)
			}
		}
		for _, ring := range rings {
			for _, step := range ring.Steps {
				if found++; !g.Closed(step.Issue) && g.RingThrough(step.Issue) == nil {
					t.Fatalf("round %d: %s is in %v and is told nothing:\n%s", round, s[step.Issue].ID, ring.Steps, show(s))
				}
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d issues in deadlocks", found)
	}
}
