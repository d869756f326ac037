package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
)

// SwarmCommand is stig swarm with what is below it.
func SwarmCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "swarm",
		Short: "have several explorers work out what is to be done",
		Long: "A swarm is for an issue of depth deep or probe: what is to be done is not known. Its agents\n" +
			"explore side by side, in rounds. Each leaves findings, deposits on directions that look\n" +
			"good, and stop signals on those that do not. A round is settled: concentrations evaporate,\n" +
			"roles are drawn, and the swarm ends when its ideas are stable and one has a quorum, or when\n" +
			"a solution passes the acceptance criteria. The first round is blind: nobody sees what others\n" +
			"found. Without an answer a person is asked. docs/swarm.md has the rules and what they are\n" +
			"worth.\n\n" +
			"stig swarm run has all of that done with a command of yours. The others are for explorers that\n" +
			"you run yourself: each acts as one agent, with --actor or STIG_ACTOR, and whoever started the\n" +
			"swarm settles its rounds.",
		GroupID: "workers",
		Args:    a.UnknownCommand,
		RunE:    a.HelpAlone,
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
