package lint_test

import (
	"runtime"
	"testing"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/lint"
	"stig/internal/store/jsonl"
	"stig/internal/testkit/sample"
)

// sampled returns a store shaped like those in use.
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

var sampledRules lint.Rules

// TestCheckAllocates limits the memory that a check allocates for an issue: the time of a check
// depends on it, on any machine.
func TestCheckAllocates(t *testing.T) {
	const issues = 3000
	file := sampled(t, issues)
	rules := sampledRules
	rules.Schema = cue.Embedded()
	graph := dag.New(file)
	check := func() {
		if _, err := lint.Check(file, graph, rules); err != nil {
			t.Fatal(err)
		}
	}
	check() // compiles the schema and the patterns
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	check()
	runtime.ReadMemStats(&after)
	if got := (after.Mallocs - before.Mallocs) / issues; got > 24 {
		t.Errorf("%d allocations an issue", got)
	}
	if got := (after.TotalAlloc - before.TotalAlloc) / issues; got > mostBytes {
		t.Errorf("%d bytes allocated an issue", got)
	}
}

func BenchmarkCheckSample(b *testing.B) {
	file := sampled(b, 10_000)
	rules := sampledRules
	rules.Schema = cue.Embedded()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lint.Check(file, dag.New(file), rules); err != nil {
			b.Fatal(err)
		}
	}
}
