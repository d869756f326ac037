//go:build e2e

package dag_test

import (
	"path/filepath"
	"testing"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
)

// TestCorpus compares the answers with the second implementation on the real stores in
// STIG_CORPUS, without closed issues, which hold nothing. It finds all issues that wait for an
// epic above them.
func TestCorpus(t *testing.T) {
	own := 0
	for _, path := range sample.Corpus(t, "*.jsonl") {
		file, err := jsonl.Read(beads.Place{Path: path, Dir: filepath.Dir(path)})
		if err != nil {
			t.Fatal(err)
		}
		whole := dag.New(file)
		var s store
		for i := range file.Len() {
			if !whole.Closed(i) {
				s = append(s, file.At(i))
			}
		}
		agree(t, s, map[string]int{})
		own += agreeOnOwnEpics(t, s)
		if got, want := len(whole.Deadlocks()), len(dag.New(s).Deadlocks()); got != want {
			t.Errorf("%d deadlocks, %d without the closed issues", got, want)
		}
		if t.Failed() {
			t.Fatal(path)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
	if own == 0 {
		t.Error("no issue of the corpus waits for its own epic; some are known to")
	}
}

// agreeOnOwnEpics checks that each issue that waits for an epic above it is reported, and
// counts them.
func agreeOnOwnEpics(t *testing.T, s store) (found int) {
	b := newBrute(s)
	told := map[[2]int]bool{}
	for _, ring := range dag.New(s).Deadlocks() {
		told[[2]int{ring.Remove.From, ring.Remove.On}] = true
	}
	for i := range s {
		for epic := range s {
			if !b.waits(i, epic) || !b.holds(epic) || !b.in(i, epic) {
				continue
			}
			found++
			if !told[[2]int{i, epic}] {
				t.Errorf("%s waits for its epic %s, and nothing tells", s[i].ID, s[epic].ID)
			}
		}
	}
	return found
}
