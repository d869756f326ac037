package issue

import (
	"errors"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/signals"
)

func bindTrial(cmd *cobra.Command, o *app.TrialOptions) {
	flags := cmd.Flags()
	flags.BoolVar(&o.KeepGoing, "keep-going", false, "run the checks after one that failed too")
	flags.BoolVar(&o.AllowDestructive, "allow-destructive", false, "run what destroys or publishes, in a fence that is marked verify")
	cli.SpanVar(flags, &o.Timeout, "timeout", "end each check after `TIME` (10m unless configured)")
	cli.SpanVar(flags, &o.Deadline, "deadline", "end all of them after `TIME` (30m unless configured)")
}

func VerifyCommand(a *cli.App) *cobra.Command {
	var o app.TrialOptions
	var plan bool
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
			if err := o.Check(); err != nil {
				return err
			}
			t, err := a.TrialOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if plan {
				return printPlan(a, t)
			}
			now, err := a.Clock()
			if err != nil {
				return err
			}
			f := app.Finding{Id: t.Id, Trial: t, Err: a.Try(cmd.Context(), t, o)}
			if err := errors.Join(cmd.Context().Err(), t.Settle()); err != nil {
				return err
			}
			a.Notify(cmd.Context(), t.Site.Store, now, f.Notices(signals.Day(now)))
			if err := tell(a, f); err != nil {
				return err
			}
			if err := a.WarnOfStale(cmd.Context(), t); err != nil {
				return err
			}
			return conclude(a, []app.Finding{f})
		},
	}
	cmd.Flags().BoolVar(&plan, "plan", false, "print what would run, what would not, and why; run nothing")
	bindTrial(cmd, &o)
	a.Acts(cmd)
	return cmd
}

func printPlan(a *cli.App, t *app.Trial) error {
	if err := t.Settle(); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON("verdict", app.Finding{Id: t.Id, Trial: t}.Object())
	}
	if t.Edited != nil {
		a.WarnOfEdited(t)
	}
	text := planText(t)
	if !t.Asks() {
		text += "what could show it:\n" + t.Fence()
	}
	return a.Print(text)
}
