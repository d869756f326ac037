package traces_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/beads"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// whileWatching is a store that others write right after it is read.
type whileWatching struct {
	beads.Store
	after func()
}

func (m whileWatching) Snapshot() (*beads.Snapshot, error) {
	file, err := m.Store.Snapshot()
	m.after()
	return file, err
}

// TestBeginMeetsEdit: an edit by others while a watcher begins is either reported as theirs, or
// counts as earlier.
func TestBeginMeetsEdit(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := ""
	for n := range 4 {
		text += fmt.Sprintf(`{"id":"demo-%d","title":"the pier","status":"open","priority":1,"issue_type":"task"}`+"\n", n+1)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	home := func() (string, error) { return dir, nil }
	run := func() *workspace.Run {
		return &workspace.Run{
			Getenv: func(key string) string { return map[string]string{"STIG_ACTOR": "mara"}[key] }, Env: func() []string { return nil },
			HomeDir: home, ConfigDir: home, Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
			Ctx: t.Context(), Running: "test", Dir: dir,
		}
	}
	shut := func(id string) {
		o := service.CloseOptions{Reason: "the pier stands on new piles", Waive: "nothing can show that"}
		if _, err := service.Close(t.Context(), run(), []string{id}, o, func(f service.Finding) error { return f.Err }); err != nil {
			t.Error(err)
		}
	}
	shut("demo-4") // without an edit there is no lock to wait for yet
	var reads atomic.Int32
	var writers, claimer sync.WaitGroup
	watcher := run()
	watcher.OpenStore = func(p beads.Place) beads.Store {
		return whileWatching{jsonl.Open(p), func() {
			n := reads.Add(1)
			if n > 2 {
				return
			}
			done := make(chan struct{})
			writers.Go(func() { shut(fmt.Sprint("demo-", n)); close(done) })
			select {
			case <-done:
			case <-time.After(100 * time.Millisecond): // it waits until the watcher has begun
			}
		}}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r := traces.WatchRequest{Until: traces.EventClaimed, Begun: func() error {
		claimer.Go(func() {
			writers.Wait()
			if _, err := service.Claim(t.Context(), run(), service.ClaimRequest{ID: "demo-3"}); err != nil {
				t.Error(err)
			}
		})
		return nil
	}}
	err := traces.Watch(ctx, watcher, r, func(e traces.Event) error {
		t.Log(e.Event, e.ID, e.By)
		if e.By != "mara" {
			t.Errorf("%s of %s by %q", e.Event, e.ID, e.By)
		}
		return nil
	})
	claimer.Wait()
	if err != nil {
		t.Error(err)
	}
}
