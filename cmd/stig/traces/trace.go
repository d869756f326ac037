package traces

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
)

// Command returns stig trace with its subcommands.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "leave typed messages on issues, and read them",
		Long: "A trace is a comment of a known type: a finding, an error, a request, a result. Other\n" +
			"workers find it on the issue, in briefings and with stig watch; nobody is addressed\n" +
			"directly.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(addCommand(a), listCommand(a), showCommand(a))
	return cmd
}
