package merge_test

import (
	"fmt"

	"stig/internal/beads"
	"stig/internal/merge"
	"stig/internal/testkit/memory"
)

// Two branches: one labelled an issue, the other closed it, and both edited the description of
// another.
func Example() {
	base := `{"id":"demo-1","status":"open","updated_at":"2026-11-01T08:00:00Z"}
{"id":"demo-2","description":"Mend the pump","updated_at":"2026-11-01T08:00:00Z"}
`
	ours := `{"id":"demo-1","status":"open","updated_at":"2026-11-02T08:00:00Z","labels":["wet"]}
{"id":"demo-2","description":"Mend both pumps","updated_at":"2026-11-02T08:00:00Z"}
`
	theirs := `{"id":"demo-1","status":"closed","updated_at":"2026-11-03T08:00:00Z"}
{"id":"demo-2","description":"Mend the old pump","updated_at":"2026-11-03T08:00:00Z"}
`
	r := merge.Options{}.Stores(base, ours, theirs)
	fmt.Print(r.Text)
	for _, c := range r.Conflicts {
		fmt.Printf("line %d: %s: %s\n", c.Line, c.ID, c.Reason)
	}
	// Output:
	// {"id":"demo-1","status":"closed","updated_at":"2026-11-03T08:00:00Z","labels":["wet"]}
	// <<<<<<< ours
	// {"id":"demo-2","description":"Mend both pumps","updated_at":"2026-11-02T08:00:00Z"}
	// ||||||| base
	// {"id":"demo-2","description":"Mend the pump","updated_at":"2026-11-01T08:00:00Z"}
	// =======
	// {"id":"demo-2","description":"Mend the old pump","updated_at":"2026-11-03T08:00:00Z"}
	// >>>>>>> theirs
	// line 2: demo-2: both changed description
}

// A tool rewrote the store and dropped what it does not know.
func Example_edits() {
	open := func(line string) *beads.Snapshot {
		f, err := memory.New(line + "\n").Snapshot()
		if err != nil {
			panic(err)
		}
		return f
	}
	before := open(`{"id":"demo-1","title":"Mend the pump","notes":"<!-- checkpoint-context -->\nhalf done\n<!-- /checkpoint-context -->"}`)
	defer before.Close()
	after := open(`{"id":"demo-1","title":"Mend it"}`)
	defer after.Close()

	d, err := merge.Stores(before, after)
	if err != nil {
		panic(err)
	}
	for _, v := range d.Vanished {
		fmt.Printf("%s: %s %s vanished: %s\n", v.ID, v.Kind, v.Name, v.Was)
	}
	for _, c := range d.Changed {
		fmt.Printf("%s: %s %s: %s → %s\n", c.ID, c.Kind, c.Name, c.From, c.To)
	}
	// Output:
	// demo-1: section checkpoint-context vanished: half done
	// demo-1: key title: Mend the pump → Mend it
}
