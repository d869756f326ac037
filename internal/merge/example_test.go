package merge_test

import (
	"fmt"

	"stig/internal/beads"
	"stig/internal/merge"
	"stig/internal/testkit/memory"
)

// A tool wrote the store anew and left out what it does not know.
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
