package graph

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
)

func ReviewCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "review ID",
		Short: "show what an issue builds on, and how certain that is",
		Long: "Show what an issue builds on: what its finished dependencies left, in the order they were\n" +
			"built, how surprising they were compared with what its domain allows, the weakest and the\n" +
			"oldest evidence, and what its own criteria would run. review runs nothing.",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig review demo-1",
		RunE: func(_ *cobra.Command, args []string) error {
			review, err := service.Review(a.Run, args[0])
			return a.Result("review", review, err, func() error { return a.Print(review.Markdown()) })
		},
	}
}
