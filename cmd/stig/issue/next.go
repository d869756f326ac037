package issue

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func NextCommand(a *cli.App) *cobra.Command {
	var dryRun, claim bool
	cmd := &cobra.Command{
		Use:   "next",
		Short: "show the issue to begin with, or claim it",
		Long: "Show the issue that stig orient recommends: the first that stig ready lists, unless its text\n" +
			"says that it waits, or it has only a title. --claim claims it, or the one after it if others\n" +
			"take it meanwhile. The exit code is 1 if no issue can be taken.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig next\n  stig next --claim --actor ann",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if claim {
				return claimNext(cmd.Context(), a, dryRun)
			}
			return showNext(cmd.Context(), a)
		},
	}
	cmd.Flags().BoolVar(&claim, "claim", false, "claim it: in progress, assigned to you")
	a.Writes(cmd, &dryRun)
	cli.Needs(cmd, "claim", "dry-run")
	return cmd
}

// next is the first issue that can be taken, and how many can, as JSON.
type next struct {
	Issue *service.ReadyRow `json:"issue"` // nil if none can be taken
	Total int               `json:"total"`
}

// showNext shows the first issue that can be taken.
func showNext(ctx context.Context, a *cli.App) error {
	rows, before, err := service.Next(ctx, a.Run)
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return nothingToTake(a)
	case a.JSON:
		return a.PrintJSON("next", next{&rows[0], len(rows)})
	}
	text := fmt.Sprintf("%s  P%d  %s%s\n", rows[0].ID, rows[0].Priority, visible.OneLine(rows[0].Title), rows[0].Place())
	switch {
	case before != "":
		a.Hint(before)
	case !a.Quiet:
		text += "next: stig claim " + visible.Quoted(rows[0].ID) + "\n"
	}
	return a.Print(text)
}

func nothingToTake(a *cli.App) error {
	var err error
	if a.JSON {
		err = a.PrintJSON("next", next{})
	} else {
		err = a.Print("nothing can be taken now\n")
		a.Hint("type stig orient to see what holds people up")
	}
	if err != nil {
		return err
	}
	return workspace.Found()
}

// claimNext claims the first issue that nobody else takes meanwhile.
func claimNext(ctx context.Context, a *cli.App, dryRun bool) error {
	claimed, err := service.ClaimNext(ctx, a.Run, dryRun)
	switch {
	case err != nil:
		return err
	case claimed == nil:
		return nothingToTake(a)
	}
	return printClaimed(a, "claim", claimed, dryRun)
}
