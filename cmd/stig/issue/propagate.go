package issue

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
)

func PropagateCommand(a *cli.App) *cobra.Command {
	var r service.PropagateRequest
	var discovery cli.Text
	cmd := &cobra.Command{
		Use:   "propagate ID --to ID…",
		Short: "copy a discovery into the notes of affected issues",
		Long: "Write a text into the notes of other issues, as a section propagated-from ID DATE, into all\n" +
			"of them or none. Without --to, these are the unclosed issues that wait for ID. Their\n" +
			"briefings show it.",
		Args:    cli.Takes(1, -1, "one issue, and - to read the text from standard input"),
		Example: "  stig propagate demo-1 --to demo-2 --to demo-3 -m \"times are UTC now\"\n  stig propagate demo-1 -m \"…\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			rest := discovery.Dash(args[1:])
			// --to A B C names three issues, as in the usage line.
			if len(rest) > 0 && len(r.To) == 0 {
				return workspace.Usage(fmt.Sprintf("%s: takes one issue; found %q after it", cli.Called(cmd), rest[0]), "name the issues to tell with --to ID")
			}
			text, d, err := a.TextOrDraft(cmd.Context(), discovery, "What was found out in "+args[0]+", for the affected issues.\n")
			if err != nil {
				return err
			}
			r.ID, r.To, r.Text = args[0], append(r.To, rest...), text
			return a.Keep(d, propagate(cmd.Context(), a, r))
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&r.To, "to", nil, "`ID`s of the issues to write to (default the issues that wait for it)")
	cli.TakesText(cmd, &discovery, "the discovery")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func propagate(ctx context.Context, a *cli.App, r service.PropagateRequest) error {
	report, err := service.Propagate(ctx, a.Run, r)
	if err != nil {
		return err
	}
	return a.EditResult("propagate", report, report.Lines, r.DryRun, func() error {
		var out strings.Builder
		for _, t := range report.Targets {
			if t.Changed {
				fmt.Fprintf(&out, "%s: written to section %s\n", t.ID, t.Section)
			} else {
				fmt.Fprintf(&out, "%s: already in section %s\n", t.ID, t.Section)
			}
		}
		if err := a.Print(out.String()); err != nil {
			return err
		}
		a.WarnOfEdit("", report.Warnings, report.Lines)
		return nil
	})
}
