package merge_test

import (
	"fmt"

	"stig/internal/merge"
)

// Two branches: one gave an issue a label, the other closed it and described
// another issue, which both did.
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
