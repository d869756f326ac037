package workers

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
)

func swarmRound(a *cli.App) *cobra.Command {
	var r loop.SettleSwarmRequest
	cmd := &cobra.Command{
		Use:   "round ID",
		Short: "settle the running round",
		Long: "Settle the running round of a swarm that you started. The acceptance criteria run on each\n" +
			"solution that a finding names with --branch. Findings become traces of their agents. An agent\n" +
			"that did nothing in the round is missing; the second time in a row it is degraded, and no\n" +
			"longer counts.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm round demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			done, err := loop.SettleSwarm(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printSwarmEdit(a, done, r.DryRun, done.String())
		},
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func swarmEnd(a *cli.App) *cobra.Command {
	var r loop.EndSwarmRequest
	cmd := &cobra.Command{
		Use:     "end ID",
		Short:   "end a swarm as it is",
		Long:    "End a swarm that you started, as it is. The issue goes back to whoever works on it next.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm end demo-1 -m 'the customer decided'",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			done, err := loop.EndSwarm(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printSwarmEdit(a, done, r.DryRun, fmt.Sprintf("swarm %s on %s: %s", done.Swarm, done.ID, done.Ended))
		},
	}
	cmd.Flags().StringVarP(&r.Note, "message", "m", "", "why, as `TEXT`")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func swarmChoose(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "choose ID",
		Short: "draw where an agent may look next",
		Long: "Draw where the agent may look next: follow a direction by its concentration, take one that\n" +
			"nobody covered, or go anywhere. It is a suggestion; the agent decides. An empty direction is\n" +
			"one that nobody has named yet.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm choose demo-1 --actor tanwei",
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := loop.ChooseSwarm(cmd.Context(), a.Run, args[0])
			return a.Result("swarm-choice", chosen, err, func() error {
				direction := cmp.Or(chosen.Direction, "one that nobody named yet")
				text := fmt.Sprintf("%s: %s", chosen.Kind, direction)
				if chosen.Inhibited {
					text += " (stop signals kept it from following)"
				}
				return a.Print(text + "\n")
			})
		},
	}
	a.Acts(cmd)
	return cmd
}
