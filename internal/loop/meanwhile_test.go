package loop

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/internal/swarm"
	"stig/internal/workspace"
)

// meanwhile is a store that others write right after it was read.
type meanwhile struct {
	beads.Store
	after func()
}

func (m meanwhile) Snapshot() (*beads.Snapshot, error) {
	file, err := m.Store.Snapshot()
	m.after()
	return file, err
}

// TestShownWhileSettled: whoever looks while a round is settled, or the swarm ends, sees what
// the agents did, before or after.
func TestShownWhileSettled(t *testing.T) {
	for name, settle := range map[string]func(*workspace.Run) error{
		"settled": func(a *workspace.Run) error {
			_, err := SettleSwarm(t.Context(), a, SettleSwarmRequest{ID: "demo-1"})
			return err
		},
		"ended": func(a *workspace.Run) error {
			_, err := EndSwarm(t.Context(), a, EndSwarmRequest{ID: "demo-1"})
			return err
		},
	} {
		if seen, err := shownWhile(t, settle); err != nil || len(seen.Findings) != 3 {
			t.Errorf("%s meanwhile: %+v, %v", name, seen, err)
		}
	}
}

// shownWhile lets three agents find something, and shows the swarm while settle is called.
func shownWhile(t *testing.T, settle func(*workspace.Run) error) (*SwarmStatus, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(`{"id":"demo-1","title":"where to dig","status":"open","priority":1,"issue_type":"task"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	home := func() (string, error) { return dir, nil }
	as := func(name string) *workspace.Run {
		return &workspace.Run{
			Getenv: func(key string) string { return map[string]string{"STIG_ACTOR": name}[key] }, Env: func() []string { return nil },
			HomeDir: home, ConfigDir: home, Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
			Ctx: t.Context(), Running: "test", Dir: dir,
		}
	}
	begun, err := StartSwarm(t.Context(), as("mara"), StartSwarmRequest{ID: "demo-1", Count: 3, Force: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range begun.Agents {
		_, err := ActInSwarm(t.Context(), as(agent.Name), SwarmAct{ID: "demo-1", Operation: swarm.Operation{Kind: swarm.Find, Idea: "dig north", Direction: "north", Details: "sand there"}})
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
	return ShowSwarm(t.Context(), reader, "demo-1")
}
