package dag_test

import (
	"fmt"

	"stig/dag"
	"stig/internal/beads"
)

func ExampleGraph_ClosedDependencies() {
	issues := store{
		{ID: "demo-1", Status: "open", Deps: []beads.Dep{{On: "demo-2", Type: "blocks"}}},
		{ID: "demo-2", Status: "closed", Deps: []beads.Dep{{On: "demo-3", Type: "blocks"}}},
		{ID: "demo-3", Status: "closed"},
	}
	for _, d := range dag.New(issues).ClosedDependencies(0) {
		fmt.Println(d.Distance, issues.At(d.Index).ID)
	}
	// Output:
	// 2 demo-3
	// 1 demo-2
}
