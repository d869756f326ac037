package issue

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func ReopenCommand(a *cli.App) *cobra.Command {
	var r service.ReopenRequest
	var text cli.Text // the reason, from another flag or standard input
	cmd := &cobra.Command{
		Use:   "reopen ID",
		Short: "reopen a closed issue, and say why",
		Long: "Open a closed issue again. The reason goes into its notes, with the old close reason. Issues\n" +
			"that depend on it wait again.",
		Args:    cli.Takes(1, 2, "one issue, and - to read the reason from standard input"),
		Example: "  stig reopen demo-1 --reason \"the second form is still refused\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if args = text.Dash(args); len(args) != 1 {
				return workspace.Usage(fmt.Sprintf("%s: takes one issue; found %d", cli.Called(cmd), len(args)), "quote the reason, and give it with --reason")
			}
			r.ID = args[0]
			return reopen(cmd.Context(), a, r, text)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&r.Reason, "reason", "r", "", "what is wrong with it")
	cli.TakesText(cmd, &text, "the reason")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func reopen(ctx context.Context, a *cli.App, r service.ReopenRequest, text cli.Text) (err error) {
	if r.Reason, err = reason(a, r.Reason, text); err != nil {
		return err
	}
	reopened, err := service.Reopen(ctx, a.Run, r)
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.PrintEdit("reopen", reopened, reopened.Lines, r.DryRun)
	case !reopened.Changed:
		return a.Printf("%s: is not closed (status %s), nothing changed\n", reopened.ID, reopened.Status)
	case r.DryRun:
		return a.PrintDiff(reopened.Lines)
	}
	return printReopened(a, reopened)
}

func printReopened(a *cli.App, r *checkpoint.Reopened) error {
	var text strings.Builder
	text.WriteString(r.ID + ": open again\n")
	if r.Freed != "" {
		text.WriteString("unassigned: the loop of " + visible.OneLine(r.Freed) + " has ended\n")
	}
	for _, d := range r.Dependents {
		text.WriteString("waiting for it: " + d.ID + " " + d.Title + "\n")
	}
	if !a.Quiet {
		text.WriteString("next: stig orient " + r.ID + "\n")
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	a.WarnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}
