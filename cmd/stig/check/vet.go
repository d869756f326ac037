package check

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/lint"
)

// vetOptions are the flags of vet.
type vetOptions struct{ fix, strict, dryRun bool }

func VetCommand(a *cli.App) *cobra.Command {
	var o vetOptions
	cmd := &cobra.Command{
		Use:     "vet [ID…]",
		Short:   "hold lines, sections and signal tables against the convention",
		GroupID: "check",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig vet\n  stig vet demo-1 --fix --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.fix {
				return vetFix(cmd.Context(), a, args, o)
			}
			if o.dryRun {
				return app.Usage("--dry-run goes with --fix", "")
			}
			return checkPlainly(cmd.Context(), a, app.CheckRequest{Command: "vet", IDs: args}, o.strict)
		},
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "rewrite values that have one meaning only")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings too")
	a.Writes(cmd, &o.dryRun)
	return cmd
}

// checkPlainly runs a check that has one form of output; errors, and with strict
// warnings, end in exit 1.
func checkPlainly(ctx context.Context, a *cli.App, r app.CheckRequest, strict bool) error {
	checked, err := a.Check(ctx, r)
	if err != nil {
		return err
	}
	found := outcome{checked, strict}
	render := asText
	if a.JSON {
		render = asJSON
	}
	text, err := render(a, found)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(a.Out, text); err != nil {
		return err
	}
	return found.ending()
}

// vetFix fixes what can be fixed, then reports what is left.
func vetFix(ctx context.Context, a *cli.App, ids []string, o vetOptions) error {
	fixed, err := a.Fix(ctx, ids, o.dryRun)
	if err != nil {
		return err
	}
	if o.dryRun {
		return printFix(a, fixed, o)
	}
	for _, c := range fixed.Changes {
		a.Note("%s: fixed", c.ID)
	}
	return checkPlainly(ctx, a, app.CheckRequest{Command: "vet", IDs: ids}, o.strict)
}

// printFix shows the diff of what would be fixed, and ends as vet would then.
func printFix(a *cli.App, f *app.Fixed, o vetOptions) error {
	if err := a.PrintChanges(f.Changes, nil, true); err != nil {
		return err
	}
	counts := lint.Count(f.Left)
	if counts.Error+counts.Warning > 0 {
		a.Note("what would be left: %s, %s; type stig vet to see them", app.Counted(counts.Error, "error"), app.Counted(counts.Warning, "warning"))
	}
	return outcome{&app.Checked{Found: f.Left}, o.strict}.ending()
}
