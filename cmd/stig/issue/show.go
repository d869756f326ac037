package issue

import (
	"errors"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
)

func ShowCommand(a *cli.App) *cobra.Command {
	var notesOnly, links, bd bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "show one issue as it stands",
		GroupID: "graph",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig show demo-1\n  stig show demo-1 --notes\n  stig show demo-1 --format bd | jq -r '.[0].notes // \"\"'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if bd {
				return showBD(a, args[0])
			}
			view, err := service.Issue(a.Run, args[0])
			if err != nil {
				return err
			}
			switch {
			case a.JSON:
				return a.PrintJSON("issue", view)
			case notesOnly:
				return a.Data(view.Issue.Notes)
			case links:
				return a.Print(view.Links())
			}
			return a.Print(view.Text())
		},
	}
	cmd.Flags().BoolVar(&notesOnly, "notes", false, "print the notes alone, byte for byte")
	cmd.Flags().BoolVar(&links, "deps", false, "print what it depends on and what depends on it alone")
	a.BDFormat(cmd, &bd)
	cli.Exclude(cmd, "notes", "deps", "format")
	return cmd
}

// showBD prints the issue as bd show does: an array of one, or of none where it is not found.
func showBD(a *cli.App, id string) error {
	object, err := service.IssueBD(a.Run, id)
	if err != nil {
		return errors.Join(err, a.PrintBD(nil))
	}
	return a.PrintBD([]service.BDObject{object})
}
