//go:build e2e

package draw

import (
	"path/filepath"
	"testing"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
)

// TestCorpus draws the stores in STIG_CORPUS.
func TestCorpus(t *testing.T) {
	for _, path := range sample.Corpus(t, "*.jsonl") {
		f, err := jsonl.Read(beads.Place{Path: path, Dir: filepath.Dir(path)})
		if err != nil {
			t.Fatal(err)
		}
		g := dag.New(f)
		everything := make([]int, 0, f.Len())
		for i, issue := range f.All() {
			if at, _ := f.Index(issue.ID); at == i && len(everything) < 400 {
				everything = append(everything, i)
			}
		}
		for _, chosen := range [][]int{Whole(f, g), everything} {
			p, err := Draw(f, g, chosen, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Nodes) == 0 {
				continue
			}
			if err := sound(p); err != nil {
				t.Errorf("%s: %v", filepath.Base(path), err)
			}
			_, _, _, _ = p.SVG(), p.DOT(), p.Mermaid(), p.Text()
		}
		_ = f.Close()
	}
}
