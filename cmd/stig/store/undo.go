package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
)

func UndoCommand(a *cli.App) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "undo [N]",
		Short: "take back your last edits",
		Long: goingBack +
			"undo takes back the last edit, or the last N, that this actor made in this work tree on the\n" +
			"current branch. The undo is a new edit. It is refused if somebody changed the same values\n" +
			"since. An undone create leaves a tombstone.",
		Args:    cli.Takes(0, 1, "one number at most"),
		Example: "  stig undo\n  stig undo 2 --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			count := 1
			if len(args) == 1 {
				var err error
				if count, err = strconv.Atoi(args[0]); err != nil || count < 1 {
					return workspace.Usage(fmt.Sprintf("undo: must be a number of edits, 1 or more; found %q", args[0]), "stig log lists the edits")
				}
			}
			return undo(cmd.Context(), a, count, dryRun)
		},
	}
	a.Writes(cmd, &dryRun)
	return cmd
}

func undo(ctx context.Context, a *cli.App, count int, dryRun bool) error {
	u, err := service.Undo(ctx, a.Run, count, dryRun)
	if err != nil {
		return err
	}
	return a.EditResult("undo", u, u.Lines, dryRun, func() error {
		for _, e := range u.Edits {
			for _, c := range e.Changes {
				if err := a.Printf("%s: undone: %s\n", c.Issue, changeLine(c)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
