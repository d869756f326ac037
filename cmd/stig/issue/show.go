package issue

import (
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
)

func ShowCommand(a *cli.App) *cobra.Command {
	var notesOnly, links, raw bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "show one issue",
		GroupID: "graph",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig show demo-1\n  stig show demo-1 --notes",
		RunE: func(cmd *cobra.Command, args []string) error {
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
			return a.Print(view.Text(raw))
		},
	}
	cmd.Flags().BoolVar(&notesOnly, "notes", false, "print the notes alone, byte for byte")
	cmd.Flags().BoolVar(&links, "deps", false, "print what it depends on and what depends on it alone")
	cmd.Flags().BoolVar(&raw, "raw", false, "print notes with their section markers, and times as stored")
	cli.Exclude(cmd, "notes", "deps", "raw")
	return cmd
}
