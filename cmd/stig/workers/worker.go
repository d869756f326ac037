package workers

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
)

// WorkerCommand is stig worker.
func WorkerCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "add, start, pause and end workers",
		Long: "A worker is an actor whose loop runs a command for one issue after another: see stig\n" +
			"work. Its file in .stig/actors says who it is and which command that is. What a file\n" +
			"runs that came with a repository is run once a person agreed to it: with stig trust, or\n" +
			"with stig worker resume where it changed since.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(addCommand(a), installCommand(a), statusCommand(a))
	for _, l := range lifeCommands() {
		cmd.AddCommand(l.command(a))
	}
	return cmd
}
