package traces

import (
	"context"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/workspace"
)

// mostCounted is how many issues that changed since the actor is there are looked through to
// count its items: those who read a survey did not ask for more.
const mostCounted = 1000

// CountInbox counts the items of an actor's inbox where that costs little beside a survey: 0
// where the clone does not know at once since when the actor is there, or where more
// issues have changed since than are worth it. stig inbox lists them all the same.
func CountInbox(ctx context.Context, a *workspace.Run, file *beads.Snapshot, graph *dag.Graph, who string) int {
	o, err := ownerIn(ctx, a, file.Place(), InboxRequest{Actor: who})
	if err != nil || o.actor.Since.IsZero() {
		return 0
	}
	changed := 0
	for _, issue := range file.All() {
		if !issue.UpdatedAt.Before(o.actor.Since) && (issue.HasComments || issue.HasNotes) {
			changed++
		}
	}
	if changed > mostCounted {
		return 0
	}
	items, err := ItemsOf(file, graph, o.request())
	if err != nil {
		return 0
	}
	count := 0
	for _, item := range items {
		if !item.Acked {
			count++
		}
	}
	return count
}
