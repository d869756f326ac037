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
		Long: "Rename an actor that has a file: the file, with a line in its section Evolution, and its\n" +
			"presence in this clone. stig leaves a notification on the first open issue with the label\n" +
			"channel. An actor whose loop is working, which may call this itself, is renamed when the run\n" +
			"ends. A name that is taken, or an actor with an issue in hand, is refused with exit code 5.\n" +
			"Records of runs keep the old name, and so does an installed unit: stig worker install OLD\n" +
			"--remove, then stig worker install NEW.",
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
		return a.Printf("%s: becomes %s when the run of its loop ends\n", r.Old, r.New)
	}
	for _, id := range r.Assigned {
		a.Warn("%s: still assigned to %s", id, r.Old)
		a.Hint("type stig edit " + id + " --assignee " + r.New)
	}
	told := "announced on " + r.Channel
	if r.Channel == "" {
		told = "announced nowhere: no open issue has the label channel"
	}
	return a.Printf("%s: renamed to %s, in %s; %s\n", r.Old, r.New, r.File, told)
}
