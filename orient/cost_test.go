package orient

import (
	"runtime"
	"testing"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
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

// TestLookAllocates limits the memory of a survey per issue.
func TestLookAllocates(t *testing.T) {
	const issues = 3000
	file := sampled(t, issues)
	rules := Rules{Schema: cue.Embedded()}
	look := func() {
		if _, err := NewSurvey(file, dag.New(file), SurveyRequest{Budget: SurveyBudget}, rules); err != nil {
			t.Fatal(err)
		}
	}
	look() // compiles the schema
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	look()
	runtime.ReadMemStats(&after)
	if got := (after.Mallocs - before.Mallocs) / issues; got > 16 {
		t.Errorf("%d allocations an issue", got)
	}
	if got := (after.TotalAlloc - before.TotalAlloc) / issues; got > 4000 {
		t.Errorf("%d bytes allocated an issue", got)
	}
}

func BenchmarkLook(b *testing.B) {
	file := sampled(b, 10_000)
	rules := Rules{Schema: cue.Embedded()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewSurvey(file, dag.New(file), SurveyRequest{Budget: SurveyBudget}, rules); err != nil {
			b.Fatal(err)
		}
	}
}
