package traces_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/beads"
	"stig/internal/service/traces"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// meanwhile is a store that others write right before an edit.
type meanwhile struct {
	beads.Store
	before func()
}

func (m meanwhile) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	m.before()
	return m.Store.Edit(ctx, o, fn)
}

// TestRollupMeetsRollup: a child that was closed and rolled up while another process was about
// to write its rollup is not lost from it.
func TestRollupMeetsRollup(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".beads", "issues.jsonl")
	put := func(second string) {
		t.Helper()
		text := `{"id":"demo-1","title":"the pier","status":"open","priority":1,"issue_type":"epic"}` + "\n"
		for id, status := range map[string]string{"demo-1.1": "closed", "demo-1.2": second} {
			text += strings.NewReplacer("ID", id, "STATUS", status).Replace(
				`{"id":"ID","title":"part","status":"STATUS","close_reason":"built","priority":1,"issue_type":"task","dependencies":[{"issue_id":"ID","depends_on_id":"demo-1","type":"parent-child"}]}`) + "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	put("open")
	home := func() (string, error) { return dir, nil }
	run := func() *workspace.Run {
		return &workspace.Run{
			Getenv: func(key string) string { return map[string]string{"STIG_ACTOR": "mara"}[key] }, Env: func() []string { return nil },
			HomeDir: home, ConfigDir: home, Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
			Ctx: t.Context(), Running: "test", Dir: dir,
		}
	}
	late := run()
	late.OpenStore = func(p beads.Place) beads.Store {
		return meanwhile{jsonl.Open(p), func() {
			put("closed")
			if _, err := traces.RollUp(t.Context(), run(), traces.RollupRequest{Epic: "demo-1", Write: true}); err != nil {
				t.Error(err)
			}
		}}
	}
	rollup, err := traces.RollUp(t.Context(), late, traces.RollupRequest{Epic: "demo-1", Write: true})
	if err != nil || len(rollup.Results) != 2 {
		t.Errorf("%+v, %v", rollup, err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "2 of 2 issues closed with a result") {
		t.Errorf("%s, %v", text, err)
	}
}
