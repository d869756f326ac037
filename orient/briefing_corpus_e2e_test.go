//go:build e2e

package orient_test

import (
	"path/filepath"
	"testing"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// TestBriefingsCorpus checks for every open issue of real stores what the golden files check
// for made-up ones.
func TestBriefingsCorpus(t *testing.T) {
	for _, path := range sample.Corpus(t, "*.jsonl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file := open(t, path)
			graph := dag.New(file)
			for i, issue := range file.All() {
				if at, ok := file.Index(issue.ID); ok && at == i && !beads.IsClosed(issue.Status) {
					whole(t, file, graph, issue.ID)
				}
			}
		})
	}
}
