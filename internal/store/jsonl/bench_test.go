package jsonl

import (
	"os"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

func BenchmarkRead(b *testing.B) {
	const issues = 10_000
	dir, path := sample.Store(b, issues)
	size(b, path)
	for b.Loop() {
		f, err := Read(beads.Place{Path: path, Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		if f.Len() != issues || len(f.Problems()) != 0 {
			b.Fatalf("%d issues, %d problems", f.Len(), len(f.Problems()))
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
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
