//go:build e2e

package beads

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/testkit/sample"
)

// Every line of a real store survives unchanged, byte for byte.
func TestCorpusIdentity(t *testing.T) {
	for _, path := range sample.Corpus(t, "*.jsonl", "edge/*.jsonl") {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := mustRead(t, path)
		if got := rejoined(t, f); !bytes.Equal(got, want) {
			t.Errorf("%s: the lines joined differ from the file", path)
		}
		t.Logf("%s: %d issues, %d problems", filepath.Base(path), f.Len(), len(f.Problems()))
		for _, p := range f.Problems()[:min(3, len(f.Problems()))] {
			t.Logf("  %+v", p)
		}
	}
}

// Setting the notes of a real issue changes notes and updated_at alone; setting them back
// restores the line.
func TestCorpusRoundTrip(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, path := range sample.Corpus(t, "*.jsonl", "edge/*.jsonl") {
		f := mustRead(t, path)
		for _, is := range f.All() {
			r, err := is.Record()
			if err != nil {
				t.Fatal(err)
			}
			set, err := r.With(now, Set{Notes, r.Text(Notes) + "\n<added> é"})
			if err != nil {
				t.Fatal(err)
			}
			checkSet(t, r, set, Notes, r.Text(Notes)+"\n<added> é")
			back, err := set.With(now, Set{Notes, r.Text(Notes)})
			if err != nil {
				t.Fatal(err)
			}
			if back != r {
				t.Errorf("%s:%d: setting the old notes again is no return", path, is.Line)
			}
		}
	}
}
