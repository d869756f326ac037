package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
)

// SwarmCommand returns stig swarm with its subcommands.
func SwarmCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "swarm",
		Short: "let several agents explore an issue in rounds",
		Long: "A swarm is for an issue of depth deep or probe, whose solution is unknown. Its agents\n" +
			"explore in parallel, in rounds. Each leaves findings, deposits on promising directions, and\n" +
			"stop signals on others. When a round is settled, concentrations evaporate and roles are\n" +
			"drawn. The swarm ends when its ideas are stable and one has a quorum, or when a solution\n" +
			"passes the acceptance criteria. In the first round no agent sees the findings of others.\n" +
			"A swarm without a result asks a person. docs/swarm.md has the rules.\n\n" +
			"stig swarm run runs a whole swarm with a command. The other commands are for agents that you\n" +
			"run yourself: each acts under its name, with --actor or STIG_ACTOR, and the one who started\n" +
			"the swarm settles its rounds.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(swarmStart(a), swarmDeposit(a), swarmStop(a), swarmProbe(a), swarmFinding(a), swarmState(a),
		swarmChoose(a), swarmRound(a), swarmStatus(a), swarmEnd(a), swarmReport(a), swarmRun(a))
	return cmd
}

// printSwarmEdit prints a swarm after it was written to the store.
func printSwarmEdit(a *cli.App, done *loop.SwarmChanged, dryRun bool, text string) error {
	return a.EditResult("swarm-edit", done, done.Changes, dryRun, func() error {
		a.WarnOfLines(done.Changes)
		for _, w := range done.Warnings {
			a.Warn("%s", warnedText(w))
		}
		if done.Asked {
			text += "\na person is asked; type stig resolve --list to see the question"
		}
		return a.Print(text + "\n")
	})
}

func warnedText(w swarm.Warned) string {
	var figures []string
	for _, key := range []string{"diversity", "least", "rounds"} {
		if f, ok := w.Figures[key]; ok {
			figures = append(figures, fmt.Sprintf("%s %.2g", key, f))
		}
	}
	return fmt.Sprintf("%s: %s; %s", w.Kind, strings.Join(figures, ", "), strings.Join(w.Suggestions, ", "))
}
