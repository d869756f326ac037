package jsonl_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stig/internal/beads"
	"stig/internal/store/jsonl"
)

// A new project: one issue, found from a subdirectory, gets notes.
func Example() {
	project, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(project)
	below := filepath.Join(project, "src")
	store := filepath.Join(project, ".beads", "issues.jsonl")
	line := `{"id":"demo-1","title":"Mend the pump","status":"open","updated_at":"2026-11-01T08:00:00Z","colour":"red"}` + "\n"
	for _, err := range []error{
		os.Mkdir(filepath.Join(project, ".git"), 0o755),
		os.Mkdir(below, 0o755),
		os.Mkdir(filepath.Dir(store), 0o755),
		os.WriteFile(store, []byte(line), 0o644),
	} {
		if err != nil {
			panic(err)
		}
	}

	found, err := jsonl.Discover(jsonl.Where{Dir: below})
	if err != nil {
		panic(err)
	}
	now := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	changes, err := jsonl.Open(found).Edit(context.Background(), beads.Options{Now: now}, func(tx *beads.Tx) error {
		return tx.Set("demo-1", beads.Set{Key: beads.Notes, Text: "the valve sticks"})
	})
	if err != nil {
		panic(err)
	}
	for _, c := range changes {
		fmt.Printf("%s, line %d:\n%s", c.ID, c.Line, c.After)
	}
	// Output:
	// demo-1, line 1:
	// {"id":"demo-1","title":"Mend the pump","notes":"the valve sticks","status":"open","updated_at":"2026-11-20T09:30:00Z","colour":"red"}
}
