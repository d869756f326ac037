package decide

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/internal/workspace"
	"stig/orient"
)

func EscalationsCommand(a *cli.App) *cobra.Command {
	var all, watch bool
	cmd := &cobra.Command{
		Use:   "escalations",
		Short: "list the questions that wait for a person, oldest first",
		Long: "List the questions that wait for a person, the oldest first: how old each is, who\n" +
			"asked, its options, which issues wait, and what to type to answer it. Anybody but\n" +
			"whoever asked may answer. No answer is chosen by itself: a default is a proposal, which\n" +
			"is shown as due once its time has passed.",
		GroupID: "decide",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig escalations\n  stig escalations --watch",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case all && watch:
				return workspace.Usage("--all and --watch exclude each other", "leave one of them out")
			case watch:
				defer actors.Watching(cmd.Context(), a.Run)()
				return service.WatchEscalations(cmd.Context(), a.Run, func(fresh []orient.Asked, first bool) error {
					return printFresh(a, fresh, first)
				})
			}
			list, err := service.ListEscalations(a.Run, all)
			return a.Result("escalations", list, err, func() error { return printEscalations(a, list) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "those that were answered too, with the answers")
	cmd.Flags().BoolVar(&watch, "watch", false, "go on, and print new ones as they come, until interrupted")
	return cmd
}
