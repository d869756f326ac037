package beads

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"stig/internal/testkit/sample"
)

// generate makes a store of n issues of about 2 KB each.
func generate(n int) []byte {
	var b bytes.Buffer
	words := strings.Repeat("the lantern was lit and the harbour lay still;\\n", 36)
	for i := range n {
		fmt.Fprintf(&b, `{"id":"demo-%x","title":"Task %d of the generated store, with a title of usual length","description":"%s",`, i, i, words)
		fmt.Fprintf(&b, `"status":"open","priority":%d,"issue_type":"task","created_at":"2026-01-02T03:04:05.678901-05:00","updated_at":"2026-02-03T04:05:06Z"`, i%5)
		if i > 0 {
			fmt.Fprintf(&b, `,"dependencies":[{"issue_id":"demo-%x","depends_on_id":"demo-%x","type":"blocks","created_at":"2026-01-02T03:04:05Z","created_by":"ann"}]`, i, i/2)
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// BenchmarkRecords parses every line again, as the checks do.
func BenchmarkRecords(b *testing.B) {
	_, path := sample.Store(b, 10_000)
	size(b, path)
	f := mustRead(b, path)
	r := f.Reader()
	for b.Loop() {
		for _, is := range f.All() {
			if _, err := r.Record(is); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// size makes a benchmark report bytes per second and allocations.
func size(b *testing.B, path string) {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
}
