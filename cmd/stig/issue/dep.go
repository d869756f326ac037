package issue

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
)

func DepCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "dep",
		Short:   "say what an issue depends on",
		GroupID: "store",
		Args:    a.UnknownCommand,
		RunE:    a.HelpAlone,
	}
	cmd.AddCommand(depAdd(a), depRm(a))
	return cmd
}

func depAdd(a *cli.App) *cobra.Command {
	var d beads.Dep
	var dryRun bool
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
			if err := second(&d.On, args); err != nil {
				return err
			}
			return dep(cmd.Context(), a, args[0], d, dryRun, "now depends", "depends already", func(s beads.Store, o beads.Options) (*checkpoint.Linked, error) {
				actor, err := a.ActorName(cmd.Context())
				if err != nil {
					return nil, err
				}
				return checkpoint.Link(cmd.Context(), s, o, args[0], d, actor)
			})
		},
	}
	cmd.Flags().StringVar(&d.On, "on", "", "`ID` of the issue that it depends on")
	cmd.Flags().StringVarP(&d.Type, "type", "t", "blocks", "how: blocks, parent-child, related, …")
	a.Writes(cmd, &dryRun)
	return cmd
}

func depRm(a *cli.App) *cobra.Command {
	var d beads.Dep
	var dryRun bool
	cmd := &cobra.Command{
		Use:        "rm ID --on ID",
		SuggestFor: []string{"remove", "delete"},
		Short:      "take away what an issue depends on",
		Args:       cli.Takes(1, 2, "one issue, and --on the one that it depends on"),
		Example:    "  stig dep rm demo-2 --on demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := second(&d.On, args); err != nil {
				return err
			}
			return dep(cmd.Context(), a, args[0], d, dryRun, "no longer depends", "does not depend", func(s beads.Store, o beads.Options) (*checkpoint.Linked, error) {
				return checkpoint.Unlink(cmd.Context(), s, o, args[0], d)
			})
		},
	}
	cmd.Flags().StringVar(&d.On, "on", "", "`ID` of the issue that it depends on")
	cmd.Flags().StringVarP(&d.Type, "type", "t", "", "only the dependency of this type (default all)")
	a.Writes(cmd, &dryRun)
	return cmd
}

// second takes the issue after the first for that of --on, as bd does.
func second(on *string, args []string) error {
	if len(args) < 2 {
		return nil
	}
	if *on != "" {
		return app.Usage(fmt.Sprintf("--on is given, and %s too", args[1]), "one dependency at a time: leave one of them out")
	}
	*on = args[1]
	return nil
}

// dep makes an edit of dependencies and says what came of it.
func dep(ctx context.Context, a *cli.App, id string, d beads.Dep, dryRun bool, done, nothing string, edit func(beads.Store, beads.Options) (*checkpoint.Linked, error)) error {
	if d.On == "" {
		return app.Usage("--on is missing", "name the issue that "+id+" depends on: --on ID")
	}
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	linked, err := edit(store, options)
	if err != nil {
		return err
	}
	for _, w := range linked.Warnings {
		if !a.JSON {
			a.Warn("%s", w)
		}
	}
	switch {
	case a.JSON:
		return a.PrintEdit("dep", linked, linked.Lines, dryRun)
	case dryRun:
		return a.PrintDiff(linked.Lines)
	case len(linked.Lines) == 0:
		kind := ""
		if d.Type != "" {
			kind = " (" + d.Type + ")"
		}
		return a.Printf("%s: %s on %s%s, nothing changed\n", linked.From, nothing, linked.On, kind)
	}
	if err := a.Print(fmt.Sprintf("%s: %s on %s (%s)\n", linked.From, done, linked.On, strings.Join(linked.Types, ", "))); err != nil {
		return err
	}
	a.WarnOfLines(linked.Lines)
	return nil
}
