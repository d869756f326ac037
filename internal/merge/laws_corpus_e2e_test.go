//go:build e2e

package merge

import (
	"os"
	"testing"

	"stig/internal/testkit/sample"
)

// TestLawsOfCorpus merges real stores with themselves and with others.
func TestLawsOfCorpus(t *testing.T) {
	var texts []string
	for _, name := range sample.Corpus(t, "edge/*.jsonl", "*vanixiets.jsonl", "thrash*.jsonl") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if len(texts) < 4 {
		t.Fatal("the corpus has too few stores")
	}
	for i := range texts {
		checkLaws(t, texts[i], texts[(i+1)%len(texts)], texts[(i+2)%len(texts)])
	}
}
