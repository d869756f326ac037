package recall

import (
	"testing"

	"stig/beads"
	"stig/internal/sample"
	"stig/jsonl"
)

func BenchmarkIn(b *testing.B) {
	dir, path := sample.Store(b, 10_000)
	file, err := jsonl.Read(beads.Place{Path: path, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := In(file, Request{Words: "tide gauge waits for the harbour", Limit: 5}); err != nil {
			b.Fatal(err)
		}
	}
}
