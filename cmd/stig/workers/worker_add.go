package workers

import (
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
)

func addCommand(a *cli.App) *cobra.Command {
	var r actors.AddRequest
	cmd := &cobra.Command{
		Use:   "add NAME --command CMD",
		Short: "create a worker that runs a command",
		Long: "Create a worker: write its file in .stig/actors, and register it. stig tries the command\n" +
			"first, for at most two minutes, in a temporary work tree of HEAD: it is asked to change\n" +
			"nothing and to print OK. If it prints nothing, or anything else, it is refused, unless\n" +
			"--no-try is given. sh runs the command, which gets its task on standard input and in the file\n" +
			"STIG_BRIEFING, and ends with exit code 0 if it did what it could.",
		Args:    cli.Takes(1, 1, "one name"),
		Example: "  stig worker add tide --role network --command 'claude -p --permission-mode acceptEdits'\n  stig worker add bo --command ./worker.sh --description 'keeps the tables current'",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			added, err := actors.Add(cmd.Context(), a.Run, r)
			return a.Result("worker-added", added, err, func() error {
				if r.DryRun {
					return a.Print(added.Diff)
				}
				return printWorkerAdded(a, added)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Command, "command", "", "the command `CMD` that its loop runs for an issue")
	flags.StringSliceVar(&r.Roles, "role", nil, "take only issues with the label `ROLE` (default any issue)")
	flags.StringVar(&r.Description, "description", "", "its purpose, as one line of `TEXT`")
	flags.BoolVar(&r.NoTry, "no-try", false, "do not run the command now")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printWorkerAdded(a *cli.App, added *actors.Added) error {
	var text strings.Builder
	text.WriteString(added.Name + ": written to " + added.File + "\n")
	if added.Tried {
		text.WriteString("its command was tried, and printed:\n")
		for line := range strings.Lines(added.Said + "\n") {
			text.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	next := "stig work --actor " + added.Name + " starts its loop, stig worker install " + added.Name + " keeps it running"
	if !added.Trusted {
		next = "its loop does not run the command until a person types stig trust"
	}
	a.Hint(next)
	return nil
}
