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
		Long: "List what you can take now: open, held up neither by a blocker of its own nor by one of\n" +
			"an epic above it, without children or an unanswered question, and assigned to nobody\n" +
			"else. By priority, then by how many unclosed issues wait for it, the most first, then\n" +
			"by id. With --json all open issues that nothing blocks are listed, with flags.",
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
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "the first `N` only (default all)")
	cmd.Flags().BoolVar(&all, "all", false, "also what nothing blocks and you cannot take, with the reason")
	cmd.Flags().StringVar(&as, "as", "", "what `NAME` can take (default who acts, as for --actor)")
	a.BDFormat(cmd, &bd)
	return cmd
}

// ready lists what can be taken, the first of it where there is a limit.
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
