package dag_test

import (
	"testing"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
)

// sampled is a store with the shape of real ones.
func sampled(tb testing.TB, issues int) *beads.Snapshot {
	tb.Helper()
	dir, path := sample.Store(tb, issues)
	file, err := jsonl.Read(beads.Place{Path: path, Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { file.Close() })
	return file
}

// TestNewAllocates checks that a graph is a few arrays, at any size.
func TestNewAllocates(t *testing.T) {
	file := sampled(t, 3000)
	if got := testing.AllocsPerRun(5, func() { dag.New(file) }); got > 100 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkNew(b *testing.B) {
	file := sampled(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		dag.New(file)
	}
}

// BenchmarkAnswers asks a new graph what a survey needs.
func BenchmarkAnswers(b *testing.B) {
	file := sampled(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		g := dag.New(file)
		if len(g.Ready(now)) == 0 || len(g.LongestChain(nil)) == 0 {
			b.Fatal("nothing is ready")
		}
		g.Deadlocks()
		g.ClosedCycles()
		g.Epics()
	}
}
