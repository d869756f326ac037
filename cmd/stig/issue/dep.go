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

// DepCommand returns stig dep, with others among its subcommands.
func DepCommand(a *cli.App, others ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dep",
		Short: "add, remove and show dependencies",
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
		Short: "add a dependency or another link between issues",
		Long: "Make an issue wait for another. The types blocks, conditional-blocks and waits-for block it;\n" +
			"parent-child puts it into an epic; any other type is a note. stig refuses a dependency that\n" +
			"would form a cycle. Two IDs mean the same: the first depends on the second.",
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
	cmd.Flags().StringVar(&r.On, "on", "", "`ID` of the issue it depends on")
	cmd.Flags().StringVarP(&r.Type, "type", "t", "blocks", "type: blocks, parent-child, related, …")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func depRm(a *cli.App) *cobra.Command {
	var r service.LinkRequest
	cmd := &cobra.Command{
		Use:     "rm ID --on ID",
		Aliases: []string{"remove"},
		Short:   "remove a dependency or another link",
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
	cmd.Flags().StringVar(&r.On, "on", "", "`ID` of the issue it depends on")
	cmd.Flags().StringVarP(&r.Type, "type", "t", "", "only the dependency of this type (default all)")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// readDep takes a second argument as the value of --on, as bd does.
func readDep(args []string, r *service.LinkRequest) error {
	r.ID = args[0]
	if len(args) < 2 {
		return nil
	}
	if r.On != "" {
		return workspace.Usage(fmt.Sprintf("the other issue is given twice; found --on and %s", args[1]), "give one dependency at a time")
	}
	r.On = args[1]
	return nil
}

// printLinked prints the result of an edit of dependencies: done if something changed, else
// nothing.
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
