package issue

import (
	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
)

func DeleteCommand(a *cli.App) *cobra.Command {
	var r service.DeleteRequest
	cmd := &cobra.Command{
		Use:   "delete ID…",
		Short: "delete issues, and keep a tombstone of each",
		Long: "Delete issues. Each leaves a tombstone, its line with the status tombstone, so that a branch\n" +
			"that still has the issue does not bring it back. If bd keeps a database, bd delete does it.\n" +
			"An issue that others depend on, or that somebody else works on, is deleted only with --force,\n" +
			"which removes the dependencies on it. stig undo takes a deletion back.",
		Args:    cli.Takes(1, -1, "the issues to delete"),
		Example: "  stig delete demo-4 --reason 'made by mistake'\n  stig delete demo-4 demo-5 --force --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.IDs = args
			result, err := service.Delete(cmd.Context(), a.Run, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintEdit("delete", result, result.Changes, r.DryRun)
			case r.DryRun && len(result.Changes) > 0:
				return a.PrintDiff(result.Changes)
			}
			return printDeleted(a, result.Deleted, r.DryRun)
		},
	}
	cmd.Flags().StringVarP(&r.Reason, "reason", "r", "", "the reason, kept in the tombstone")
	cmd.Flags().BoolVarP(&r.Force, "force", "f", false, "delete them even if others depend on them, or somebody works on them")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printDeleted(a *cli.App, deleted []*checkpoint.Deleted, dryRun bool) error {
	word := "deleted"
	if dryRun {
		word = "bd would delete it"
	}
	for _, d := range deleted {
		if err := a.Printf("%s: %s (%s)\n", d.ID, word, visible.OneLine(d.Title)); err != nil {
			return err
		}
		for _, on := range d.Dependents {
			if err := a.Printf("  %s no longer depends on it\n", on.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
