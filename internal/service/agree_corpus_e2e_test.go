//go:build e2e

package service

import (
	"os"
	"path/filepath"
	"testing"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/sample"
	"stig/internal/workspace"
)

// TestAgreeOnCorpus checks on real stores that claim takes exactly the issues listed as ready.
// In large stores it samples issues of every state.
func TestAgreeOnCorpus(t *testing.T) {
	const most = 40 // issues claimed per state
	for _, path := range sample.Corpus(t, "*.jsonl", "edge/*.jsonl") {
		a, dir := front(t)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		run := func() *workspace.Run { return a.Fresh(t.Context(), "test") }
		file, err := run().Open()
		if err != nil {
			t.Fatal(err)
		}
		if !file.CanEdit() || file.Len() == 0 {
			file.Close()
			continue
		}
		if file.Len() <= most {
			agreeOn(t, run, "mara", map[string]int{})
		}
		ready, err := Ready(t.Context(), run(), "mara")
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for _, row := range ready.Rows[:ready.CanTake] {
			listed[row.ID] = true
		}
		now, err := run().Clock()
		if err != nil {
			t.Fatal(err)
		}
		graph, tried := dag.New(file), map[dag.State]int{}
		for i, issue := range file.All() {
			state := graph.State(i, dag.Worker{Now: now, Name: "mara"})
			if tried[state]++; tried[state] > most || issue.Status != beads.StatusOpen {
				continue
			}
			_, err := Claim(t.Context(), run(), ClaimRequest{ID: issue.ID, DryRun: true})
			if listed[issue.ID] != (err == nil) {
				t.Errorf("%s: %s: ready lists it: %v, claim: %v", path, issue.ID, listed[issue.ID], err)
			}
			if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.Waits) && !fault.Is(err, fault.Refused) {
				t.Errorf("%s: %s: %v", path, issue.ID, err)
			}
		}
		file.Close()
	}
}
