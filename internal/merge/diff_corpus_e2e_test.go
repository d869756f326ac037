//go:build e2e

package merge_test

import (
	"testing"

	"stig/internal/beads"
	"stig/internal/merge"
	"stig/internal/testkit/sample"
)

// TestKanban: between these two commits of a real project a rewrite lost 20 signal tables and 8
// checkpoints, with criteria and edges.
func TestKanban(t *testing.T) {
	open := func(pattern string) *beads.Snapshot {
		found := sample.Corpus(t, "edge/"+pattern)
		if len(found) != 1 {
			t.Fatalf("%s: found %v", pattern, found)
		}
		return read(t, found[0])
	}
	d, err := merge.Stores(open("kanban-ui-rewrite.parent.*.jsonl"), open("kanban-ui-rewrite.c*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, v := range d.Vanished {
		name := string(v.Kind)
		if v.Kind == merge.Section {
			name += " " + v.Name
		}
		got[name]++
	}
	t.Log(got, len(d.Changed), len(d.Added))
	for name, want := range map[string]int{"section stigmergic-signals": 20, "section checkpoint-context": 8} {
		if got[name] != want {
			t.Errorf("%s: %d vanished, want %d", name, got[name], want)
		}
	}
	if got["criteria"] == 0 || got["edge"] == 0 {
		t.Errorf("no criteria or no edges vanished: %v", got)
	}
}
