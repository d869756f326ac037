package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/lint"
	"stig/internal/store/jsonl"
)

// many returns a store of n issues, most of which break a rule.
func many(tb testing.TB, n int) *beads.Snapshot {
	tb.Helper()
	var b strings.Builder
	for i := range n {
		id := fmt.Sprintf("m-%d", i)
		switch i % 5 {
		case 0:
			b.WriteString(line(id, "status", "open", "dependencies", rows(id, "gone", "blocks", "gone", "blocked-by")))
		case 1:
			b.WriteString(line(id, "status", "closed", "notes", table("| progress | not-started | 2026-11-01 |", "| mood | calm | soon |")))
		case 2:
			b.WriteString(line(id, "status", "open", "acceptance_criteria", "The tests pass: `go test ./...` and `make all`, and frobnicate -x too."))
		case 3:
			b.WriteString(line(id, "notes", "password=hunter2hunter2\npassword=hunter3hunter3"))
		case 4:
			b.WriteString(line(id, "status", "open", "description", strings.Repeat("nothing is wrong here ", 100)))
		}
		b.WriteString("\n")
	}
	return open(tb, strings.TrimSuffix(b.String(), "\n"))
}

// TestSameOnAllCores: the number of cores does not change the diagnostics.
func TestSameOnAllCores(t *testing.T) {
	file := many(t, 1000)
	graph := dag.New(file)
	var want []lint.Diagnostic
	for _, cores := range []int{1, 2, 8} {
		before := runtime.GOMAXPROCS(cores)
		found, err := lint.Check(file, graph, lint.Rules{Schema: cue.Embedded()})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) < 1000 {
			t.Fatalf("%d diagnostics", len(found))
		}
		if want == nil {
			want = found
		}
		if !reflect.DeepEqual(found, want) {
			t.Errorf("on %d cores other diagnostics than on one", cores)
		}
	}
}

// TestMemoryIsFlat: a check does not retain texts. After a check of a store of long texts
// without problems, far less memory is live than the store has bytes.
func TestMemoryIsFlat(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		b.WriteString(strings.Replace(line(fmt.Sprintf("m-%d", i), "status", "open", "acceptance_criteria", "`go test`", "notes", strings.Repeat("nothing is wrong here ", 500)), `"t"`, strconv.Quote(fmt.Sprint(i)), 1) + "\n")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "issues.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	size := uint64(b.Len())
	b.Reset()
	file, err := jsonl.Read(beads.Place{Path: path, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := live()
	found, err := lint.Check(file, dag.New(file), lint.Rules{Schema: cue.Embedded()})
	if err != nil || len(found) != 0 {
		t.Fatal(len(found), err)
	}
	if after := live(); after > before+size/10 {
		t.Errorf("%d bytes more are live after a store of %d", after-before, size)
	}
	runtime.KeepAlive(found)
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkCheck(b *testing.B) {
	file := many(b, 10000)
	rules := lint.Rules{Schema: cue.Embedded()}
	for b.Loop() {
		if _, err := lint.Check(file, dag.New(file), rules); err != nil {
			b.Fatal(err)
		}
	}
}
