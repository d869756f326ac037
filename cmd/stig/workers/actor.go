package workers

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
)

// ActorCommand returns stig actor with its subcommands.
func ActorCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actor",
		Short: "show the actors of this clone, and what they do",
		Long: "An actor is a person, an assistant or another program that works on issues under a name. An\n" +
			"optional file in git, .stig/actors/NAME.md, says who they are. How they are follows from\n" +
			"their signs of life in this clone, or on all machines of a database.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(listCommand(a), showCommand(a), actorAddCommand(a), sayCommand(a), editCommand(a), renameCommand(a), runsCommand(a), logCommand(a))
	return cmd
}

func listCommand(a *cli.App) *cobra.Command {
	var r actors.ListRequest
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the actors of this clone and their states",
		Long: "List the actors of this clone: those with a file in .stig/actors, those that were seen,\n" +
			"sessions of assistants, and assignees of issues in progress. Actors with none of these\n" +
			"that were not seen for a day are only counted, unless --all.\n\n" +
			"An actor is active or active_human if it was seen within the last 60 seconds (in a\n" +
			"database: 180 seconds), else inactive; in state error if its last three runs failed; or\n" +
			"in a state that somebody set: provisioning, paused, draining, maintenance, dead. DONE\n" +
			"counts issues closed today, FAILED runs that failed today, in UTC.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig actor list\n  stig actor list --json | jq -r '.actors[] | select(.state == \"error\").name'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			listed, err := actors.List(a.Run, r)
			return a.Result("actors", listed, err, func() error { return printActors(a, listed) })
		},
	}
	cmd.Flags().BoolVar(&r.All, "all", false, "also list actors not seen for a day that have neither a file nor an issue")
	return cmd
}

func showCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "show one actor: state, settings, last runs, its own text",
		Args:    cli.Takes(1, 1, "one name"),
		Example: "  stig actor show bo",
		RunE: func(_ *cobra.Command, args []string) error {
			shown, err := actors.Show(a.Run, args[0])
			return a.Result("actor", shown, err, func() error { return printActor(a, shown) })
		},
	}
}
