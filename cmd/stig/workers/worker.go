package workers

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
)

// WorkerCommand returns stig worker with its subcommands.
func WorkerCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "add, start, pause and end workers",
		Long: "A worker is an actor whose loop runs a command for one issue after another: see stig work.\n" +
			"Its file in .stig/actors says who it is, and names the command. If the file came with a\n" +
			"repository, its command runs only after a person has approved it: with stig trust, or with\n" +
			"stig worker resume if it changed since.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(addCommand(a), installCommand(a), statusCommand(a))
	for _, l := range lifeCommands() {
		cmd.AddCommand(l.command(a))
	}
	return cmd
}
