//go:build e2e

package beads

import (
	"slices"
	"testing"

	"stig/internal/testkit/sample"
)

// Adding a row to a real issue and dropping it restores the line; each existing row can be
// dropped, and the others keep their bytes.
func TestCorpusRows(t *testing.T) {
	for _, path := range sample.Corpus(t, "*.jsonl", "edge/*.jsonl") {
		f := mustRead(t, path)
		prefix, err := f.Prefix()
		t.Logf("%s: prefix %q, %v", path, prefix, err)
		for _, is := range f.All() {
			r, err := is.Record()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Deps(), is.Deps) {
				t.Fatalf("%s: %s: the record has the rows %v, the index %v", path, is.ID, r.Deps(), is.Deps)
			}
			added, err := r.withRow(testNow, Row{"d-new", "blocks", "ann"})
			if err != nil {
				t.Fatal(err)
			}
			checkOutside(t, r, added, Dependencies)
			back, err := added.withoutRow(testNow, Dep{"d-new", "blocks"})
			if err != nil {
				t.Fatal(err)
			}
			if back != r && len(is.Deps) > 0 {
				t.Fatalf("%s: %s: adding and dropping a row changed the line", path, is.ID)
			}
			for _, d := range is.Deps {
				without, err := r.withoutRow(testNow, d)
				if err != nil {
					t.Fatal(err)
				}
				checkOutside(t, r, without, Dependencies)
				if want := slices.DeleteFunc(slices.Clone(is.Deps), func(o Dep) bool { return o == d }); !slices.Equal(without.Deps(), want) {
					t.Fatalf("%s: %s: without %v: %v, want %v", path, is.ID, d, without.Deps(), want)
				}
			}
		}
	}
}
