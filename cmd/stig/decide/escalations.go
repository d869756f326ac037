package decide

import (
	"context"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/orient"
)

// listEscalations lists the unanswered questions, with all also the answered ones and those of other projects. With watch
// it keeps running and prints new questions as they come.
func listEscalations(ctx context.Context, a *cli.App, all, watch bool) error {
	if watch {
		defer actors.Watching(ctx, a.Run)()
		return service.WatchEscalations(ctx, a.Run, func(fresh []orient.Asked, first bool) error {
			return printFresh(a, fresh, first)
		})
	}
	find := func() (*service.Escalations, error) { return service.ListEscalations(a.Run, false) }
	if all {
		find = func() (*service.Escalations, error) { return service.ListEverywhere(ctx, a.Run) }
	}
	list, err := find()
	return a.Result("escalations", list, err, func() error { return printEscalations(a, list) })
}
