package issue

import (
	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
)

func VerifyCommand(a *cli.App) *cobra.Command {
	var r app.VerifyRequest
	cmd := &cobra.Command{
		Use:   "verify ID",
		Short: "run the commands in an issue's acceptance criteria",
		Long: "Run the commands in an issue's acceptance criteria, in the root of the repository, one\n" +
			"at a time and in order. What passes counts until the criteria or the work tree change:\n" +
			"stig close then runs nothing again. A repository must be trusted once; see stig trust.",
		GroupID: "work",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig verify demo-1 --plan\n  stig verify demo-1 --keep-going --timeout 90s",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			f, err := a.Verify(cmd.Context(), r)
			if err != nil {
				return err
			}
			if r.Plan {
				return printPlan(a, f)
			}
			if err := tell(a, f); err != nil {
				return err
			}
			if err := a.WarnOfStale(cmd.Context(), f.Trial); err != nil {
				return err
			}
			return conclude(a, []app.Finding{f})
		},
	}
	cmd.Flags().BoolVar(&r.Plan, "plan", false, "print what would run, what would not, and why; run nothing")
	bindTrial(cmd, &r.TrialOptions)
	a.Acts(cmd)
	return cmd
}

func printPlan(a *cli.App, f app.Finding) error {
	if a.JSON {
		return a.PrintOutput(app.VerdictOutput([]app.Finding{f}))
	}
	if f.Trial.Edited != nil {
		a.WarnOfEdited(f.Trial)
	}
	text := planText(f.Trial)
	if !f.Trial.Asks() {
		text += "what could show it:\n" + f.Trial.Fence()
	}
	return a.Print(text)
}

// tell prints a finding for a reader as soon as it is there; data waits for the end.
func tell(a *cli.App, f app.Finding) error {
	if a.JSON {
		return nil
	}
	return printFinding(a, f)
}

// conclude prints findings as data, and ends with the worst of their exit codes.
func conclude(a *cli.App, findings []app.Finding) error {
	if a.JSON {
		if err := a.PrintOutput(app.VerdictOutput(findings)); err != nil {
			return err
		}
	}
	worst := app.ExitDone
	for _, f := range findings {
		worst = max(worst, f.Code())
	}
	if worst != app.ExitDone {
		return app.Ended{Code: worst}
	}
	return nil
}
