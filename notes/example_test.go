package notes_test

import (
	"fmt"

	"stig/notes"
)

func Example() {
	d := notes.Parse("Quote it as `<!-- tide -->` in prose.\n\n" +
		"<!-- tide -->\n| Port | Height |\n|---|---|\n| north | 2.1 |\n<!-- /tide -->")
	section := d.Named("tide")[0]
	table := d.Table(section)

	d, err := d.Apply(
		table.SetCells(d, 0, map[int]string{1: "2.4"}),
		table.InsertRow(d, 1, "south", "1.9"),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Text())
	// Output:
	// Quote it as `<!-- tide -->` in prose.
	//
	// <!-- tide -->
	// | Port | Height |
	// |---|---|
	// | north | 2.4 |
	// | south | 1.9 |
	// <!-- /tide -->
}
