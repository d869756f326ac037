package dag_test

import (
	"testing"

	"stig/dag"
	"stig/internal/beads"
)

// What stig calls ready agrees with what bd lists as such but where versions of
// bd differ from each other, or from the convention. Each case says who differs
// and why; docs/compatibility.md has what was observed.
func TestReadyAsBd(t *testing.T) {
	for _, c := range []struct {
		store  string // x is the issue that is asked for
		ready  bool
		differ string // who says the opposite; "" when all agree
		reason string
	}{
		{"x", true, "", ""},
		{"x in_progress", false, "", ""},
		{"x: b>y\ny", false, "", ""},
		{"x: b>y\ny closed", true, "", ""},
		{"x: b>y\ny tombstone", true, "", ""},
		{"x: b>y\ny in_progress", false, "", ""},
		{"x: b>y\ny pinned", true, "", ""},
		{"x: related>y discovered-from>y\ny", true, "", ""},
		{"x: blocked-by>y\ny", true, "", "a type that no program knows never blocks; check names it"},
		{"x open message", false, "", ""},
		{"x: b>y\ny triage", false, "bd 0.49", "an unknown state is not closed: work that somebody gave a state of their own is not done"},
		{"x: c>y\ny closed", true, "bd 0.49 in SQLite, unless y failed", "whether work failed is no state of an issue; bd 1.0 takes it like blocks too"},
		{"x: w>y\ny", false, "bd, which waits for the children of y", "an issue without children would hold nothing up; beads_rust takes it like blocks too"},
		{"x: p>e\ne: b>y\ny", false, "bd 0.49 without a database", "every other reader has a blocked epic hold its children"},
		{"x: p>e\ne: p>d\nd: b>y\ny", false, "bd 0.49 without a database", "the same, at any depth"},
		{"x: p>e\ne closed: b>y\ny", true, "", ""},
		{"x: b>nowhere", true, "bd 0.49 without a database, beads_rust", "nobody can close what is not there; check names it"},
		{"x: b>external:other:1", true, "bd 0.49 without a database", "what other stores hold cannot be known here"},
		{"x open event", false, "bd", "an event is a record of what happened, no work"},
	} {
		s := parse(t, c.store)
		if got := dag.New(s).IsReady(at(t, s, "x"), now); got != c.ready {
			t.Errorf("%s: ready %v, want %v", c.store, got, c.ready)
		}
	}
	deferred := store{
		{ID: "x", Status: "open", Deps: []beads.Dep{{On: "e", Type: "parent-child"}}},
		{ID: "e", Status: "open", DeferUntil: now.AddDate(1, 0, 0)},
	}
	if !dag.New(deferred).IsReady(0, now) {
		t.Error("bd 1.0 hides the children of a deferred epic; putting off an epic says nothing of work begun in it")
	}
	named := store{{ID: "demo-mol-1", Status: "open"}, {ID: "demo-wisp-2", Status: "open"}}
	if got := len(dag.New(named).Ready(now)); got != 2 {
		t.Error("bd 0.49 hides ids with -mol- or -wisp-; an id is a name, and the flags say what is no work")
	}
}
