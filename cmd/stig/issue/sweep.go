package issue

import (
	"cmp"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/internal/service"
	"stig/internal/visible"
)

func SweepCommand(a *cli.App) *cobra.Command {
	older := dag.SweepAfter
	r := service.SweepRequest{Older: &older}
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "return claims that nobody works on",
		Long: "Return to open the issues of worker loops that have ended, those that assistants and programs\n" +
			"claimed and did not renew in time (24 hours, or claims: ttl in .stig.cue), and those of ended\n" +
			"sessions that nobody touched for a day. A log on each issue says who had it, and what they\n" +
			"left there stays. Issues that people claimed stay theirs, unless --people is given.",
		Args:    cli.Takes(0, 0, "no issues: it checks all"),
		Example: "  stig sweep --dry-run\n  stig sweep --older 7d --people",
		RunE: func(cmd *cobra.Command, _ []string) error {
			swept, err := service.Sweep(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			err = a.EditResult("sweep", swept, swept.Lines, r.DryRun, func() error { return printSwept(a, swept) })
			if err == nil && r.DryRun && len(swept.Returned) > 0 {
				given := map[bool]string{true: " --people"}[r.People]
				if cmd.Flags().Changed("older") {
					given += " --older " + cmd.Flags().Lookup("older").Value.String()
				}
				a.Hint("type stig sweep" + given + " to return " + visible.Counted(len(swept.Returned), "claim"))
			}
			return err
		},
	}
	flags := cmd.Flags()
	cli.SpanVar(flags, &older, "older", "only what nobody touched for `TIME` (default 24h)")
	flags.BoolVar(&r.People, "people", false, "also return what people claimed")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printSwept(a *cli.App, swept *checkpoint.Swept) error {
	if len(swept.Returned) == 0 {
		return a.Printf("nothing to return\n")
	}
	for _, one := range swept.Returned {
		if err := a.Printf("%s: returned, %s had it\n", one.ID, visible.OneLine(cmp.Or(one.Was, "nobody"))); err != nil {
			return err
		}
	}
	a.WarnOfLines(swept.Lines)
	return nil
}
