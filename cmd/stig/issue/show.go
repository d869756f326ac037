package issue

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/workspace"
)

func ShowCommand(a *cli.App) *cobra.Command {
	var notesOnly, links, bd, raw bool
	cmd := &cobra.Command{
		Use:     "show ID…",
		Short:   "show one issue",
		Args:    cli.Takes(1, -1, "one issue"),
		Example: "  stig show demo-1\n  stig show demo-1 --notes\n  stig show demo-1 --format bd | jq -r '.[0].notes // \"\"'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if bd {
				return showBD(a, args)
			}
			if len(args) > 1 {
				return workspace.Usage("show: takes one issue, or several with --format bd; found "+strconv.Itoa(len(args)), "type stig show "+strings.Join(args, " ")+" --format bd")
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
			return a.Print(view.Text(raw))
		},
	}
	cmd.Flags().BoolVar(&notesOnly, "notes", false, "print only the notes, byte for byte")
	cmd.Flags().BoolVar(&links, "deps", false, "print only what it depends on and what depends on it")
	a.BDFormat(cmd, &bd)
	cmd.Flags().BoolVar(&raw, "raw", false, "print notes with their section markers, and times as stored")
	cli.Exclude(cmd, "notes", "deps", "format", "raw")
	return cmd
}

// showBD prints issues as bd show does: an array of those that exist.
func showBD(a *cli.App, ids []string) error {
	list, err := service.IssuesBD(a.Run, ids)
	if err == nil || fault.Is(err, fault.NotFound) {
		err = errors.Join(err, a.PrintBD(list))
	}
	return err
}
