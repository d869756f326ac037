package traces_test

import (
	"context"
	"fmt"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/service/traces"
	"stig/internal/testkit/memory"
)

func Example() {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	store := memory.New(`{"id":"pier-1","title":"Hire the crane","status":"open"}` + "\n")
	var seen traces.Seen
	read := func() traces.Reading {
		file, err := store.Snapshot()
		if err != nil {
			panic(err)
		}
		return traces.Reading{Store: file, Graph: dag.New(file), Now: now}
	}
	if err := seen.Take(read()); err != nil {
		fmt.Println(err)
	}
	_, err := store.Edit(context.Background(), beads.Options{Now: now}, func(tx *beads.Tx) error {
		return tx.Set("pier-1", beads.Set{Key: beads.Status, Text: "in_progress"}, beads.Set{Key: beads.Assignee, Text: "ann"})
	})
	if err != nil {
		fmt.Println(err)
	}
	events, err := seen.Look(read())
	for _, e := range events {
		fmt.Println(e.Event, e.ID, e.Now, err)
	}
	// Output: claimed pier-1 ann <nil>
}
