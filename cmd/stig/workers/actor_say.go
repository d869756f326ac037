package workers

import (
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/visible"
)

func sayCommand(a *cli.App) *cobra.Command {
	var r actors.SayRequest
	cmd := &cobra.Command{
		Use:   "say STATE",
		Short: "set the state of an actor: yours, or that of --actor",
		Long: "Set the state of an actor: " + strings.Join(actors.Sayable(), ", ") + ". A loop takes no work\n" +
			"while its actor is paused or in maintenance, and ends after the issue in hand if it is\n" +
			"draining. healthy ends a state that was set before; only a person may do that (exit code 1\n" +
			"for an assistant). Without --actor, set your own state, which is also a sign of life.",
		Args:      cli.Takes(1, 1, "one state"),
		ValidArgs: actors.Sayable(),
		Example:   "  stig actor say paused --for 2h --why 'at lunch'\n  stig actor say maintenance --actor bo\n  stig actor say healthy",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := aboveZero(cmd, "for"); err != nil {
				return err
			}
			r.State = args[0]
			said, err := actors.Say(cmd.Context(), a.Run, r)
			return a.Result("actor-said", said, err, func() error {
				return a.Printf("%s: %s%s\n", visible.OneLine(said.Actor.Name), said.Actor.State, saidText(said.Actor))
			})
		},
	}
	cli.SpanVar(cmd.Flags(), &r.For, "for", "for `TIME`, such as 2h; then the state ends")
	cmd.Flags().StringVar(&r.Why, "why", "", "the reason, as one line of `TEXT`")
	a.Writes(cmd, &r.DryRun)
	return cmd
}
