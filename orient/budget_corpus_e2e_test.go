//go:build e2e

package orient_test

import (
	"path/filepath"
	"testing"

	"stig/internal/testkit/sample"
)

// TestBudgetCorpus checks budgets on real stores.
func TestBudgetCorpus(t *testing.T) {
	for _, path := range sample.Corpus(t, "*.jsonl") {
		t.Run(filepath.Base(path), func(t *testing.T) { budget(t, open(t, path)) })
	}
}
