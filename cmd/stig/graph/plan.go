package graph

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
)

func PlanCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "plan [EPIC]",
		Short: "order open work, and show what can run in parallel",
		Long: "Sort unclosed work, or that of an epic, into stages: the issues of one stage can be worked on\n" +
			"in parallel once the stages before it are closed. An epic comes after the last of its\n" +
			"children. The critical path is the longest chain of issues that block each other.",
		Args:    cli.Takes(0, 1, "one epic at most"),
		Example: "  stig plan\n  stig plan demo-4k2",
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := service.PlanStages(cmd.Context(), a.Run, args)
			return a.Result("plan", p, err, func() error { return a.Print(planText(p)) })
		},
	}
}
