package decide

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/orient"
)

// retroOptions are the flags of a retrospective.
type retroOptions struct {
	last     int
	on       string
	escalate bool
	dryRun   bool
}

func RetroCommand(a *cli.App) *cobra.Command {
	var o retroOptions
	cmd := &cobra.Command{
		Use:   "retro [EPIC]",
		Short: "find patterns over closed issues, to change how you work",
		Long: "Look back at the issues that were closed last, in the store and in its history: their\n" +
			"surprise, shifts of domain, what passed its criteria at first, was waived, was reopened,\n" +
			"or surprised nobody. Nothing is claimed of four issues or fewer. What stands out is put\n" +
			"into a question to a person, which --escalate asks on the epic or on another issue.",
		GroupID: "decide",
		Args:    cli.Takes(0, 1, "one epic at most"),
		Example: "  stig retro\n  stig retro demo-e --last 12\n  stig retro --escalate --on demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.last < 1 {
				return app.Usage(fmt.Sprintf("--last: must be at least 1; found %d", o.last), "")
			}
			if o.on != "" && !o.escalate {
				return app.Usage("--on says where --escalate asks", "give both")
			}
			if o.escalate && o.on == "" && len(args) == 0 {
				return app.Usage("--escalate: no issue to ask on", "name an epic, or an issue with --on ID")
			}
			return retro(cmd.Context(), a, args, o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.last, "last", orient.RetroLast, "look at the last `N` closed issues")
	flags.BoolVar(&o.escalate, "escalate", false, "ask a person whether the way of working should change")
	flags.StringVar(&o.on, "on", "", "ask on the issue `ID` instead of the epic")
	a.Writes(cmd, &o.dryRun)
	return cmd
}

func retro(ctx context.Context, a *cli.App, args []string, o retroOptions) error {
	r, err := a.LookBack(ctx, args, o.last)
	if err != nil {
		return err
	}
	if !o.escalate {
		return a.Result("retro", r, nil, func() error { return a.PrintMarkdown(r.Markdown()) })
	}
	if r.Draft == "" {
		return app.Usage("no pattern stands out, and there is nothing to ask", "type stig retro to see what was looked at")
	}
	asked, err := a.Escalate(ctx, app.EscalateRequest{
		ID: cmp.Or(o.on, r.Epic), Question: checkpoint.Question{Text: r.Draft, Process: true}, DryRun: o.dryRun,
	})
	if err != nil {
		return err
	}
	body := struct {
		*orient.Retro
		Escalated string `json:"escalated"`
	}{r, asked.ID}
	return a.EditResult("retro", body, asked.Lines, o.dryRun, func() error {
		return a.Printf("%s: asked whether the way of working should change; a person has to answer\n", asked.ID)
	})
}
