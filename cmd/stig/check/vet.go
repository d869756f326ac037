package check

import (
	"context"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/service"
	"stig/internal/visible"
)

// vetOptions are the flags of vet.
type vetOptions struct{ fix, strict, dryRun bool }

func VetCommand(a *cli.App) *cobra.Command {
	var o vetOptions
	cmd := &cobra.Command{
		Use:     "vet [ID…]",
		Short:   "validate lines, sections and signal tables",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig vet\n  stig vet demo-1 --fix --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.fix {
				return vetFix(cmd.Context(), a, args, o)
			}
			return vet(cmd.Context(), a, args, o.strict)
		},
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "rewrite unambiguous values, and remove duplicate lines")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings too")
	a.Writes(cmd, &o.dryRun)
	cli.Needs(cmd, "fix", "dry-run")
	return cmd
}

// vet prints diagnostics and fails on errors, or with strict on warnings too.
func vet(ctx context.Context, a *cli.App, ids []string, strict bool) error {
	checked, err := service.Check(ctx, a.Run, service.CheckRequest{Command: "vet", IDs: ids})
	if err != nil {
		return err
	}
	return outcome{Checked: checked, strict: strict}.print(a)
}

// vetFix fixes what can be fixed, then prints the remaining diagnostics.
func vetFix(ctx context.Context, a *cli.App, ids []string, o vetOptions) error {
	fixed, err := service.Fix(ctx, a.Run, ids, o.dryRun)
	if err != nil {
		return err
	}
	if o.dryRun {
		return printFix(a, fixed, o)
	}
	noteRepeats(a, fixed, "removed")
	for _, c := range fixed.Changes {
		a.Note("%s: fixed", c.ID)
	}
	return vet(ctx, a, ids, o.strict)
}

// noteRepeats reports the duplicate lines, and what happened to them.
func noteRepeats(a *cli.App, f *service.Fixed, became string) {
	for _, r := range f.Repeats {
		a.Note("%s: line %d duplicates another line: %s", r.About, r.Line, became)
	}
}

// printFix prints the diff of a fix, and exits as vet would afterwards.
func printFix(a *cli.App, f *service.Fixed, o vetOptions) error {
	noteRepeats(a, f, "would be removed")
	if a.JSON || len(f.Changes) > 0 || len(f.Repeats) == 0 {
		if err := a.PrintChanges(f.Changes, nil, true); err != nil {
			return err
		}
	}
	counts := lint.Count(f.Left)
	if counts.Error+counts.Warning > 0 {
		a.Note("would remain: %s, %s; type stig vet to see them", visible.Counted(counts.Error, "error"), visible.Counted(counts.Warning, "warning"))
	}
	return outcome{Checked: &service.Checked{Found: f.Left}, strict: o.strict}.ending()
}
