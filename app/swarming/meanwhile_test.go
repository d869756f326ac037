package swarming

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"stig/app"
	"stig/beads"
	"stig/cue"
	"stig/jsonl"
	"stig/swarm"
)

// meanwhile is a store that is written by others right after it was read.
type meanwhile struct {
	beads.Store
	after func()
}

func (m meanwhile) Snapshot() (*beads.Snapshot, error) {
	file, err := m.Store.Snapshot()
	m.after()
	return file, err
}

// TestShownWhileSettled: who looks while a round is settled, or the swarm ended, sees what
// the agents did, before or after.
func TestShownWhileSettled(t *testing.T) {
	for name, settle := range map[string]func(*app.App) error{
		"settled": func(a *app.App) error { _, err := Settle(t.Context(), a, SettleRequest{ID: "demo-1"}); return err },
		"ended":   func(a *app.App) error { _, err := End(t.Context(), a, EndRequest{ID: "demo-1"}); return err },
	} {
		if seen, err := shownWhile(t, settle); err != nil || len(seen.Findings) != 3 {
			t.Errorf("%s meanwhile: %+v, %v", name, seen, err)
		}
	}
}

// shownWhile has three agents find something, and shows the swarm while settle is called.
func shownWhile(t *testing.T, settle func(*app.App) error) (*Status, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(`{"id":"demo-1","title":"where to dig","status":"open","priority":1,"issue_type":"task"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	home := func() (string, error) { return dir, nil }
	as := func(name string) *app.App {
		return &app.App{
			Getenv: func(key string) string { return map[string]string{"STIG_ACTOR": name}[key] }, Env: func() []string { return nil },
			HomeDir: home, ConfigDir: home, Now: time.Now, Schema: cue.Embedded(), Say: func(_ app.Level, text string) { t.Log(text) },
			Ctx: t.Context(), Running: "test", Dir: dir,
		}
	}
	begun, err := Start(t.Context(), as("mara"), StartRequest{ID: "demo-1", Count: 3, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range begun.Agents {
		_, err := Act(t.Context(), as(agent.Name), ActRequest{ID: "demo-1", Operation: swarm.Operation{Kind: swarm.Find, Idea: "dig north", Direction: "north", Details: "sand there"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	var once atomic.Bool
	reader := as("mara")
	reader.OpenStore = func(p beads.Place) beads.Store {
		return meanwhile{jsonl.Open(p), func() {
			if once.Swap(true) {
				return
			}
			if err := settle(as("mara")); err != nil {
				t.Error(err)
			}
		}}
	}
	return Show(t.Context(), reader, "demo-1")
}
