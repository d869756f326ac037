package issue

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/signals"
)

func CloseCommand(a *cli.App) *cobra.Command {
	var o app.CloseOptions
	cmd := &cobra.Command{
		Use:        "close ID…",
		SuggestFor: []string{"done", "finish", "complete"},
		Short:      "close issues whose acceptance criteria pass",
		Long: "Close issues. The commands in an issue's acceptance criteria are run first, unless they\n" +
			"passed on this very tree already; it closes when all of them pass, and stays as it is\n" +
			"otherwise. The reason says what exists now that did not before: it is what those who\n" +
			"build on the issue read. Where nothing can be run, --waive says why that is no matter.",
		GroupID: "work",
		Args:    cli.Takes(1, -1, "the issues to close, and - to read the reason from standard input"),
		Example: "  stig close demo-1 --reason \"the parser reads both forms\"\n" +
			"  stig close demo-2 -m \"the page is printed\" --waive \"only a person can see it hang\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := readClose(a, cmd, args, &o)
			if err != nil {
				return err
			}
			return close(cmd.Context(), a, ids, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Reason, "reason", "", "what exists now that did not before")
	cli.TakesText(cmd, &o.Text, "the reason")
	flags.StringVar(&o.Waive, "waive", "", "close without a verdict, and record `WHY`")
	flags.BoolVar(&o.Escalate, "escalate", false, "put a failure to a person: escalation becomes pending")
	bindTrial(cmd, &o.TrialOptions)
	a.Writes(cmd, &o.DryRun)
	cli.Exclude(cmd, "waive", "escalate")
	return cmd
}

// readClose checks the flags and gives the issues to close.
func readClose(a *cli.App, cmd *cobra.Command, args []string, o *app.CloseOptions) (ids []string, err error) {
	if ids = o.Text.Dash(args); len(ids) == 0 {
		return nil, app.Usage(cli.Called(cmd)+": takes the issues to close; found none", "")
	}
	if cmd.Flags().Changed("waive") && strings.TrimSpace(o.Waive) == "" {
		return nil, app.Usage("--waive: must say why nothing needs to be run; found nothing", "")
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	o.Reason, err = reason(a, o.Reason, o.Text, "what exists now that did not before: those who build on it read that")
	return ids, err
}

// reason is what a flag says, or else a text; asked says what is asked for
// where there is neither.
func reason(a *cli.App, flag string, t app.Text, asked string) (string, error) {
	if flag != "" && t.Given() {
		return "", app.Usage("the reason is given twice", "leave one of them out")
	}
	if flag == "" {
		var err error
		if flag, err = a.Read(t); err != nil {
			return "", err
		}
	}
	if strings.TrimSpace(flag) == "" {
		return "", app.Usage("a reason is missing", "say with --reason "+asked)
	}
	return flag, nil
}

// close closes issues one after the other, each of them once.
func close(ctx context.Context, a *cli.App, ids []string, o app.CloseOptions) error {
	c, err := a.Closer(ctx, o)
	if err != nil {
		return err
	}
	var findings []app.Finding
	for _, id := range ids {
		candidate, err := checkpoint.Closable(ctx, c.Store, c.Edit, id, o.Reason, c.Rules)
		if refused, ok := errors.AsType[*beads.RefusedError](err); ok && c.Site.Store.Mode == beads.Dolt {
			refused.Hint = c.ByTracker(id)
		}
		f := app.Finding{Id: id, DryRun: o.DryRun, Err: err}
		if err == nil {
			f.Id = candidate.ID
		}
		if slices.ContainsFunc(findings, func(done app.Finding) bool { return done.Id == f.Id }) {
			continue
		}
		if err == nil {
			c.Close(ctx, candidate, &f)
			a.Notify(ctx, c.Site.Store, c.Edit.Now, f.Notices(signals.Day(c.Edit.Now)))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := tell(a, f); err != nil {
			return err
		}
		findings = append(findings, f)
	}
	return conclude(a, findings)
}
