package graph

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
)

func ReadyCommand(a *cli.App) *cobra.Command {
	var limit int
	var all, bd bool
	var as string
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "list what you can take now",
		Long: "List what you can take now: open issues without unclosed blockers, their own or those of an\n" +
			"epic above them, without children, without unanswered questions, and not assigned to others.\n" +
			"They are sorted by priority, then by how many unclosed issues wait for them, the most first,\n" +
			"then by id. --json lists all open issues that nothing blocks, with flags.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig ready\n  stig ready --limit 5\n  stig ready --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return workspace.Usage(fmt.Sprintf("--limit: must be at least 1, or 0 for all; found %d", limit), "")
			}
			if bd {
				r, err := service.ReadyBD(cmd.Context(), a.Run, as, limit)
				if err != nil {
					return err
				}
				return a.PrintBD(r.BD)
			}
			return ready(cmd.Context(), a, limit, all, as)
		},
	}
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "at most `N` issues (default all)")
	cmd.Flags().BoolVar(&all, "all", false, "also list unblocked issues that you cannot take, with the reason")
	cmd.Flags().StringVar(&as, "as", "", "list what `NAME` can take (default the actor)")
	a.BDFormat(cmd, &bd)
	return cmd
}

// ready lists the issues that can be taken, at most limit of them unless limit is 0.
func ready(ctx context.Context, a *cli.App, limit int, all bool, as string) error {
	r, err := service.Ready(ctx, a.Run, as)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintOutput(r.Output(limit), nil)
	}
	rows, held := r.Rows, r.Rows[r.CanTake:]
	if !all {
		rows = rows[:r.CanTake]
	}
	return printReady(a, firstOf(rows, limit), held, len(rows), all, r)
}

func firstOf(rows []service.ReadyRow, limit int) []service.ReadyRow {
	if limit > 0 && limit < len(rows) {
		return rows[:limit]
	}
	return rows
}
