//go:build e2e

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/trace"
	"stig/internal/workspace"
)

// traceWriters is how many processes leave traces on one issue at once.
const traceWriters = 8

// TestStressTraces lets eight workers leave traces on one issue, each with its own process, and
// kills one in three at a random moment. A worker retries what was not acknowledged. In the end
// each trace is there once.
func TestStressTraces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(store), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, []byte(`{"id":"pier-1","title":"Drive the piles","status":"open"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	workers := make([]traceWorker, traceWriters)
	var made atomic.Int64
	var over atomic.Bool
	var busy sync.WaitGroup
	for n := range workers {
		w := &workers[n]
		w.number, w.run = n, &stressRun{dir: dir, store: store}
		busy.Go(func() {
			for w.err == nil && !over.Load() {
				before := len(w.acknowledged)
				w.leave()
				made.Add(int64(len(w.acknowledged) - before))
			}
		})
	}
	stressed(func() bool { return int(made.Load()) >= leastOf(stressTracesPerSecond) })
	over.Store(true)
	busy.Wait()
	file, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	record, err := beads.ParseRecord(bytes.TrimSuffix(file, []byte("\n")))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for _, l := range trace.Of(record) {
		there[l.Source+" "+l.Summary]++
	}
	numbers := map[string]bool{}
	for _, n := range record.CommentNumbers() {
		if numbers[n] {
			t.Errorf("two comments have the number %s", n)
		}
		numbers[n] = true
	}
	acknowledged, killed := 0, 0
	for _, w := range workers {
		if w.err != nil {
			t.Error(w.err)
		}
		killed += w.killed
		acknowledged += len(w.acknowledged)
		for _, name := range w.acknowledged {
			if there[name] != 1 {
				t.Errorf("%s was acknowledged and is there %d times", name, there[name])
			}
			delete(there, name)
		}
		if n := there[w.next()]; n > 1 {
			t.Errorf("%s is there %d times", w.next(), n)
		}
		delete(there, w.next())
	}
	for name := range there {
		t.Errorf("%s: nobody left it", name)
	}
	t.Logf("%d traces acknowledged of %d workers in %s, %d processes killed", acknowledged, traceWriters, *stressTime, killed)
	if acknowledged < leastOf(stressTracesPerSecond) || stressTime.Seconds() >= 5 && killed == 0 {
		t.Error("so little happened that nothing is proved")
	}
}

// traceWorker leaves one trace after the other. Each has another actor, so that the limit of
// traces a minute does not apply.
type traceWorker struct {
	run          *stressRun
	number       int
	acknowledged []string
	killed       int
	err          error
}

// next returns the author and the message of the next trace.
func (w *traceWorker) next() string {
	n := len(w.acknowledged)
	return fmt.Sprintf("worker-%d-%d pile %d stands", w.number, n, n)
}

func (w *traceWorker) leave() {
	n := len(w.acknowledged)
	c := w.run.stig("trace", "add", "pier-1", "log", "-m", fmt.Sprintf("pile %d stands", n), "--actor", fmt.Sprintf("worker-%d-%d", w.number, n))
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if w.err = c.Start(); w.err != nil {
		return
	}
	if rand.IntN(3) == 0 {
		late := time.AfterFunc(rand.N(250*time.Millisecond), func() { _ = c.Process.Kill() }) // it may be gone
		defer late.Stop()
	}
	err := c.Wait()
	switch code := c.ProcessState.ExitCode(); {
	case err == nil:
		w.acknowledged = append(w.acknowledged, w.next())
	case code == workspace.ExitConflict: // the lock was held too long: retry
	case code < 0:
		w.killed++
	default:
		w.err = fmt.Errorf("%q: %w: %s", c.Args, err, said.Bytes())
	}
}
