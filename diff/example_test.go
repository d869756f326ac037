package diff_test

import (
	"fmt"
	"os"
	"path/filepath"

	"stig/beads"
	"stig/diff"
)

// A tool wrote the store anew and left out what it does not know.
func Example() {
	dir, err := os.MkdirTemp("", "diff")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	open := func(name, line string) *beads.File {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(line+"\n"), 0o644); err != nil {
			panic(err)
		}
		f, err := beads.Read(beads.Store{Path: path})
		if err != nil {
			panic(err)
		}
		return f
	}
	before := open("before", `{"id":"demo-1","title":"Mend the pump","notes":"<!-- checkpoint-context -->\nhalf done\n<!-- /checkpoint-context -->"}`)
	defer before.Close()
	after := open("after", `{"id":"demo-1","title":"Mend it"}`)
	defer after.Close()

	d, err := diff.Stores(before, after)
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
