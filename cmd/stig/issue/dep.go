package issue

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
)

// DepCommand groups the commands about dependencies, with others that are given.
func DepCommand(a *cli.App, others ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dep",
		Short: "say what an issue depends on",
		Args:  a.UnknownCommand,
		RunE:  a.HelpAlone,
	}
	cmd.AddCommand(append(others, depAdd(a), depRm(a))...)
	return cmd
}

func depAdd(a *cli.App) *cobra.Command {
	var r service.LinkRequest
	cmd := &cobra.Command{
		Use:   "add ID --on ID",
		Short: "have an issue wait for another, or link it otherwise",
		Long: "Have an issue wait for another one. The types that hold it up are blocks,\n" +
			"conditional-blocks and waits-for; parent-child puts it into an epic; any other\n" +
			"type is a note. What would have issues form a dependency cycle is refused.\n" +
			"Two IDs mean the same: the first depends on the second.",
		Args:    cli.Takes(1, 2, "one issue, and --on the one that it depends on"),
		Example: "  stig dep add demo-2 --on demo-1\n  stig dep add demo-2 --on demo-9 --type parent-child",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := readDep(args, &r); err != nil {
				return err
			}
			linked, err := service.Link(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printLinked(a, r, linked, "now depends", "depends already")
		},
	}
	cmd.Flags().StringVar(&r.On, "on", "", "`ID` of the issue that it depends on")
	cmd.Flags().StringVarP(&r.Type, "type", "t", "blocks", "how: blocks, parent-child, related, …")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func depRm(a *cli.App) *cobra.Command {
	var r service.LinkRequest
	cmd := &cobra.Command{
		Use:     "rm ID --on ID",
		Aliases: []string{"remove"},
		Short:   "take away what an issue depends on",
		Args:    cli.Takes(1, 2, "one issue, and --on the one that it depends on"),
		Example: "  stig dep rm demo-2 --on demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := readDep(args, &r); err != nil {
				return err
			}
			linked, err := service.Unlink(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printLinked(a, r, linked, "no longer depends", "does not depend")
		},
	}
	cmd.Flags().StringVar(&r.On, "on", "", "`ID` of the issue that it depends on")
	cmd.Flags().StringVarP(&r.Type, "type", "t", "", "only the dependency of this type (default all)")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// readDep takes the issue after the first for that of --on, as bd does.
func readDep(args []string, r *service.LinkRequest) error {
	r.ID = args[0]
	if len(args) < 2 {
		return nil
	}
	if r.On != "" {
		return workspace.Usage(fmt.Sprintf("--on is given, and %s too", args[1]), "one dependency at a time: leave one of them out")
	}
	r.On = args[1]
	return nil
}

// printLinked says what came of an edit of dependencies: what was done, or that
// nothing was to be done.
func printLinked(a *cli.App, r service.LinkRequest, linked *checkpoint.Linked, done, nothing string) error {
	for _, w := range linked.Warnings {
		if !a.JSON {
			a.Warn("%s", w)
		}
	}
	return a.EditResult("dep", linked, linked.Lines, r.DryRun, func() error {
		if len(linked.Lines) == 0 {
			kind := ""
			if r.Type != "" {
				kind = " (" + r.Type + ")"
			}
			return a.Printf("%s: %s on %s%s, nothing changed\n", linked.From, nothing, linked.On, kind)
		}
		if err := a.Printf("%s: %s on %s (%s)\n", linked.From, done, linked.On, strings.Join(linked.Types, ", ")); err != nil {
			return err
		}
		a.WarnOfLines(linked.Lines)
		return nil
	})
}
