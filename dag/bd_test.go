package dag_test

import (
	"testing"

	"stig/dag"
	"stig/internal/beads"
)

// stig and bd agree on what is ready, except where bd versions differ from each other or from
// the convention. Each case says who differs and why; docs/compatibility.md has the
// observations.
func TestReadyAsBd(t *testing.T) {
	for _, c := range []struct {
		store  string // x is the issue in question
		ready  bool
		differ string // who disagrees; "" if all agree
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
		{"x: c>y\ny closed", false, "bd 1.0 and beads_rust, which take it like blocks", "what is for the case that y fails is not to be done where it did not"},
		{"x: w>y\ny closed\nz: p>y", false, "beads_rust, which takes it like blocks", "its children are waited for"},
		{"x: w>y\ny\nz closed: p>y", true, "beads_rust, which takes it like blocks", "its children are waited for, not y"},
		{"x: w>y\ny", false, "bd, which waits for children alone", "without children it is y itself that is waited for"},
		{"x: p>e\ne: b>y\ny", false, "bd 0.49 without a database", "every other reader has a blocked epic hold its children"},
		{"x: p>e\ne: p>d\nd: b>y\ny", false, "bd 0.49 without a database", "the same, at any depth"},
		{"x: p>e\ne closed: b>y\ny", true, "", ""},
		{"x: b>nowhere", true, "bd 0.49 without a database, beads_rust", "nobody can close what is not there; check names it"},
		{"x: b>external:other:1", false, "bd, unless it knows the other store", "what nobody has shown to be done may not be"},
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
	if dag.New(deferred).IsReady(0, now) {
		t.Error("what is put off is put off with all that it contains, as in bd 1.0")
	}
	named := store{{ID: "demo-mol-1", Status: "open"}, {ID: "demo-wisp-2", Status: "open"}}
	if got := len(dag.New(named).Ready(now)); got != 2 {
		t.Error("bd 0.49 hides ids with -mol- or -wisp-; an id is a name, and the flags say what is no work")
	}
}
