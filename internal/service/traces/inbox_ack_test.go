package traces_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/service/traces"
	"stig/internal/workspace"
)

// TestAckTogether: if several processes of one actor acknowledge the same items at once,
// exactly one reports each item as acknowledged, and the others as done before.
func TestAckTogether(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, id := range []string{"demo-1", "demo-2", "demo-3"} {
		text += strings.ReplaceAll(`{"id":"ID","title":"the pier","status":"open","priority":1,"issue_type":"task","comments":[{"id":1,"author":"ben","text":"@mara look at ID","created_at":"2026-11-20T08:00:00Z"}]}`, "ID", id) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	home := func() (string, error) { return dir, nil }
	var all sync.WaitGroup
	var mu sync.Mutex
	count := map[string]int{}
	for range 8 {
		all.Go(func() {
			a := &workspace.Run{
				Getenv: func(key string) string {
					return map[string]string{"STIG_ACTOR": "mara", "STIG_NOW": "2026-11-20T09:00:00Z"}[key]
				}, Env: func() []string { return nil },
				HomeDir: home, ConfigDir: home, Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
				Ctx: t.Context(), Running: "test", Dir: dir,
			}
			acked, err := traces.Ack(t.Context(), a, traces.AckRequest{All: true})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, id := range acked.Acked {
				count[id]++
			}
		})
	}
	all.Wait()
	if len(count) != 3 {
		t.Errorf("acknowledged: %v", count)
	}
	for id, n := range count {
		if n != 1 {
			t.Errorf("%s: acknowledged %d times", id, n)
		}
	}
}
