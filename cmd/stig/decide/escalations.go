package decide

import (
	"context"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/orient"
)

// listEscalations lists the unanswered questions, with all also the answered ones. With watch
// it keeps running and prints new questions as they come.
func listEscalations(ctx context.Context, a *cli.App, all, watch bool) error {
	if watch {
		defer actors.Watching(ctx, a.Run)()
		return service.WatchEscalations(ctx, a.Run, func(fresh []orient.Asked, first bool) error {
			return printFresh(a, fresh, first)
		})
	}
	list, err := service.ListEscalations(a.Run, all)
	return a.Result("escalations", list, err, func() error { return printEscalations(a, list) })
}
