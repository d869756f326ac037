package workers

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
)

func swarmChoose(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "choose ID",
		Short: "draw where an agent may look next",
		Long: "Draw where the agent may look next: follow a direction by its concentration, take one that\n" +
			"nobody covered, or go anywhere. It suggests; the agent decides. An empty direction is one\n" +
			"that nobody named yet.",
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
