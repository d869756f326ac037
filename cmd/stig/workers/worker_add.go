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
		Long: "Make a worker: write its file in .stig/actors, and register it. Its command is run once\n" +
			"before, in a work tree of HEAD that is removed and for two minutes at most: it is asked\n" +
			"to change nothing and to print OK. One that prints nothing, or anything else, is refused\n" +
			"unless --no-try is given. The command is run by sh, gets its task on the standard input\n" +
			"and in the file STIG_BRIEFING, and ends with 0 when it did what it could.",
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
	flags.StringVar(&r.Command, "command", "", "what its loop runs for an issue, `CMD`")
	flags.StringSliceVar(&r.Roles, "role", nil, "take issues that have the label `ROLE` (any issue unless told)")
	flags.StringVar(&r.Description, "description", "", "what it is there for, `TEXT` of one line")
	flags.BoolVar(&r.NoTry, "no-try", false, "do not run the command now")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printWorkerAdded(a *cli.App, added *actors.Added) error {
	var text strings.Builder
	text.WriteString(added.Name + ": written to " + added.File + "\n")
	if added.Tried {
		text.WriteString("its command was tried, and said:\n")
		for line := range strings.Lines(added.Said + "\n") {
			text.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	next := "stig work --actor " + added.Name + " starts its loop, stig worker install " + added.Name + " keeps it running"
	if !added.Trusted {
		next = "its loop does not run the command before a person types stig trust"
	}
	a.Hint(next)
	return nil
}
