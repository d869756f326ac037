package issue

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
	"stig/orient"
	"stig/signals"
)

func OrientCommand(a *cli.App) *cobra.Command {
	var r service.OrientRequest
	cmd := &cobra.Command{
		Use:   "orient [ID]",
		Short: "show what to read before work, on one issue or on all",
		Long: "Show what to read before work. With an issue, that is its briefing, the deeper the more\n" +
			"uncertain the issue is; without, the survey of the store: what needs attention, who works on\n" +
			"what, what is ready, and one recommended next step.",
		Args:    cli.Takes(0, 1, "one issue at most"),
		Example: "  stig orient\n  stig orient --as ann\n  stig orient demo-1\n  stig orient demo-1 --depth deep --budget 8000",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if r.ID = args[0]; r.ID == "" {
					return workspace.Usage("the id of the issue is empty", "leave it out for the survey: type stig orient")
				}
			}
			r.Whole = a.JSON
			found, err := service.Orient(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintOutput(found.Output(), nil)
			}
			return a.PrintMarkdown(found.Markdown())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Depth, "depth", "", "read at `DEPTH` ("+strings.Join(signals.PlanningDepth.Domain(), ", ")+") instead of the issue's own")
	flags.IntVar(&r.Budget, "budget", 0, fmt.Sprintf("print at most `N` characters, the most urgent first (%d for a briefing, none with --json; %d for the survey)", orient.BriefingBudget, orient.SurveyBudget))
	flags.BoolVar(&r.Full, "full", false, "leave nothing out: whole texts and all dependencies of a briefing, all rows of the survey")
	flags.StringVar(&r.As, "as", "", "print the survey for `NAME`, whose own claims come first")
	r.StaleDays = flags.Int("stale-days", signals.ThresholdStaleDays, "an issue in progress is stale if it was not changed for more than `N` days")
	return cmd
}
