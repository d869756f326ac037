package workers

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
)

func renameCommand(a *cli.App) *cobra.Command {
	var r actors.RenameRequest
	cmd := &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "rename an actor",
		Long: "Give an actor with a file another name: the file, with a line in its section Evolution,\n" +
			"and its presence in this clone. A notification is left on the first open issue with the\n" +
			"label channel. An actor whose loop works, which may call this itself, has the name when\n" +
			"the run ends. A name that is taken, and an actor with an issue in hand, are refused with\n" +
			"exit code 5. Records of runs keep the old name, and so does an installed unit: stig\n" +
			"worker install OLD --remove, then stig worker install NEW.",
		Args:    cli.Takes(2, 2, "the old name and the new one"),
		Example: "  stig actor rename bo tide-tables",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Old, r.New = args[0], args[1]
			renamed, err := actors.Rename(cmd.Context(), a.Run, r)
			return a.Result("actor-renamed", renamed, err, func() error {
				if r.DryRun && !renamed.Due {
					return a.Print(renamed.Diff)
				}
				return printRenamed(a, renamed)
			})
		},
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printRenamed(a *cli.App, r *actors.Renamed) error {
	if r.Due {
		return a.Printf("%s: is called %s when the run of its loop ends\n", r.Old, r.New)
	}
	for _, id := range r.Assigned {
		a.Warn("%s: still assigned to %s", id, r.Old)
		a.Hint("type stig edit " + id + " --assignee " + r.New)
	}
	told := "announced on " + r.Channel
	if r.Channel == "" {
		told = "announced nowhere: no open issue has the label channel"
	}
	return a.Printf("%s: called %s now, in %s; %s\n", r.Old, r.New, r.File, told)
}
