package traces

import (
	"context"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/workspace"
)

// mostCounted is the most changed issues that are searched to count an actor's items: the count
// is only a side remark of a survey.
const mostCounted = 1000

// CountInbox counts the items of an actor's inbox if that is cheap compared with a survey. It
// returns 0 if the clone does not know right away since when the actor exists, or if too many
// issues have changed since. stig inbox lists the items in any case.
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
