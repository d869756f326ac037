package actors

import (
	"os"
	"path/filepath"
	"testing"

	"stig/internal/clone"
	"stig/internal/workspace"
)

// Units of the machine are removed by the command that they name.
func TestRemoveUnitsOfTheMachine(t *testing.T) {
	systemUnits = t.TempDir()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	a := &workspace.Run{
		Dir: dir, Getenv: func(string) string { return "" },
		HomeDir: func() (string, error) { return dir, nil }, ConfigDir: func() (string, error) { return dir, nil },
	}
	i, err := installationOf(a, clone.DefaultProfile("tide"), "daemon")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range i.names {
		if err := os.WriteFile(filepath.Join(systemUnits, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := InstallRequest{Name: "tide", Remove: true}.installation(a)
	if err != nil || got.dir != systemUnits || len(got.there()) != len(i.names) || got.worker.User == "" {
		t.Errorf("%+v, %v", got, err)
	}
}
