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

func CloseCommand(a *cli.App) *cobra.Command {
	var o service.CloseOptions
	var text cli.Text // the reason, from another flag or standard input
	cmd := &cobra.Command{
		Use:   "close ID…",
		Short: "close issues whose acceptance criteria pass",
		Long: "Close issues. stig runs the commands in an issue's acceptance criteria, unless they passed on\n" +
			"this tree already, and closes the issue if all pass. The reason says what exists now that did\n" +
			"not before: dependent issues are built on it. If nothing can be run, --waive says why. An\n" +
			"epic without criteria of its own closes when its children are closed.\n\n" +
			"Issues that nobody will do close with --not-planned, duplicates with --duplicate-of. Both run\n" +
			"nothing. An issue with an unanswered question stays open: exit code 6.",
		Args: cli.Takes(1, -1, "the issues to close, and - to read the reason from standard input"),
		Example: "  stig close demo-1 --reason \"the parser reads both forms\"\n" +
			"  stig close demo-3 --not-planned \"the second form is gone\"\n  stig close demo-4 --duplicate-of demo-2\n" +
			"  stig close demo-2 -m \"the page is printed\" --waive \"only a person can see it hang\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := readClose(a, cmd, args, text, &o)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("duplicate-of") {
				return closeDuplicate(cmd.Context(), a, ids, o)
			}
			return close(cmd.Context(), a, ids, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.Reason, "reason", "r", "", "what exists now that did not before")
	cli.TakesText(cmd, &text, "the reason")
	flags.StringVar(&o.Waive, "waive", "", "close without a verdict, and record `WHY`")
	flags.StringVar(&o.NotPlanned, "not-planned", "", "close an issue that nobody will do, and record `WHY`")
	flags.StringVar(&o.DuplicateOf, "duplicate-of", "", "close a duplicate of the issue `ID`, and link it to that; run nothing")
	flags.StringVar(&o.Despite, "despite-question", "", "close despite an unanswered question, and record `WHY`")
	flags.BoolVar(&o.Escalate, "escalate", false, "ask a person about a failed check: escalation becomes pending")
	bindTrial(cmd, &o.GateRunOptions)
	a.Writes(cmd, &o.DryRun)
	cli.Exclude(cmd, "waive", "escalate", "not-planned")
	cli.Exclude(cmd, "not-planned", "reason", "message", "file")
	cli.Exclude(cmd, "duplicate-of", "reason", "message", "file", "waive", "not-planned", "escalate", "despite-question")
	return cmd
}

// readClose checks the flags and returns the issues to close.
func readClose(a *cli.App, cmd *cobra.Command, args []string, text cli.Text, o *service.CloseOptions) (ids []string, err error) {
	ids = text.Dash(args)
	if last := len(ids) - 1; last > 0 && strings.ContainsAny(ids[last], " \n") && o.Reason == "" && !text.Given() {
		o.Reason, ids = ids[last], ids[:last] // no id contains a space
	}
	if cmd.Flags().Changed("waive") && strings.TrimSpace(o.Waive) == "" {
		return nil, workspace.Usage("--waive: must say why nothing needs to be run; found nothing", "")
	}
	if cmd.Flags().Changed("not-planned") && strings.TrimSpace(o.NotPlanned) == "" {
		return nil, workspace.Usage("--not-planned: must say why nobody will do it; found nothing", "")
	}
	if cmd.Flags().Changed("despite-question") && strings.TrimSpace(o.Despite) == "" {
		return nil, workspace.Usage("--despite-question: must say why you do not wait for the answer; found nothing", "")
	}
	o.Reason, err = reason(a, o.Reason, text)
	return ids, err
}

// close closes issues one after the other, and reports each as soon as it is known.
func close(ctx context.Context, a *cli.App, ids []string, o service.CloseOptions) error {
	findings, err := service.Close(ctx, a.Run, ids, o, func(f service.Finding) error { return tell(a, f) })
	if err != nil {
		return err
	}
	return conclude(a, findings)
}

// closeDuplicate closes an issue that duplicates another.
func closeDuplicate(ctx context.Context, a *cli.App, ids []string, o service.CloseOptions) error {
	if len(ids) != 1 || o.DuplicateOf == "" {
		return workspace.Usage("close: --duplicate-of takes one issue, and the one that it repeats", "type stig close "+ids[0]+" --duplicate-of OTHER")
	}
	closed, err := service.Duplicate(ctx, a.Run, ids[0], o)
	if err != nil {
		return err
	}
	return a.EditResult("duplicate", closed, closed.Lines, o.DryRun, func() error { return printClosed(a, closed) })
}

// printClosed prints how the issue was closed and what follows.
func printClosed(a *cli.App, c *checkpoint.Closed) error {
	if c.Already {
		if err := a.Printf("%s: closed already, nothing changed\n  %s\n", c.ID, c.Reason); err != nil || c.Unkept == "" {
			return err
		}
		a.Complain(fmt.Sprintf("%s: the reason given now was not kept", c.ID),
			"to keep it too: stig checkpoint "+c.ID+" --learned …")
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: closed\n  %s\n", c.ID, c.Reason)
	for _, change := range c.Changed {
		fmt.Fprintf(&text, "  %s: %s → %s\n", change.Signal, change.From, change.To)
	}
	if len(c.Told) > 0 {
		fmt.Fprintf(&text, "notified that it is not done: %s\n", strings.Join(c.Told, ", "))
	}
	for _, ref := range c.Unblocked {
		fmt.Fprintf(&text, "ready now: %s %s\n", ref.ID, ref.Title)
	}
	if c.StillBlocked > 0 {
		fmt.Fprintf(&text, "still blocked: %s\n", visible.Counted(c.StillBlocked, "more issue"))
	}
	if e := c.Epic; e != nil {
		fmt.Fprintf(&text, "epic %s %s: %d of %d closed\n", e.ID, e.Title, e.Closed, e.Total)
	}
	for _, alert := range c.Alerts {
		fmt.Fprintf(&text, "alert %s: %s\n", alert.Rule, alert.Message)
	}
	if c.Epic.Complete() && !a.Quiet {
		fmt.Fprintf(&text, "next: %s\n", c.Epic.Command())
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	a.WarnOfEdit(c.ID, c.Warnings, c.Lines)
	if len(c.Told) == 0 && service.WithoutEstimate(c) {
		a.Hint("for the issues that wait for it: stig checkpoint " + c.ID + " --done … --learned … --downstream …")
	}
	return nil
}
