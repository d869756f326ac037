package issue

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/signals"
)

func CreateCommand(a *cli.App) *cobra.Command {
	var r app.CreateRequest
	var priority string
	var deps []string
	cmd := &cobra.Command{
		Use:        "create TITLE",
		SuggestFor: []string{"new", "add"},
		Short:      "add an issue, with its signal table",
		Long: "Add an issue and print its id: a hash of what it is about, or the next one below\n" +
			"its parent. With -q nothing but the id is printed.",
		GroupID: "store",
		Args:    cli.Takes(1, 1, "one title; quote it"),
		Example: "  stig create \"Read both forms\" --parent demo-4k2 -p 1 --acceptance '`go test ./...` passes'\n" +
			"  stig create \"Find out why it hangs\" --cynefin complex --deps demo-8x1 --deps related:demo-7pw",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r.Title = args[0]
			if r.Priority, err = priorityOf(priority); err != nil {
				return err
			}
			for _, dep := range deps {
				r.Deps = append(r.Deps, depOf(dep))
			}
			return create(cmd.Context(), a, r)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&r.Type, "type", "t", "task", "bug, feature, task, epic, chore, or another one")
	flags.StringVarP(&priority, "priority", "p", "2", "0 (most urgent) to 4, or P0 to P4")
	flags.StringVarP(&r.Description, "description", "d", "", "what there is to do, and why")
	flags.StringVar(&r.Acceptance, "acceptance", "", "how it will be known to work, with the commands that prove it")
	flags.StringSliceVarP(&r.Labels, "labels", "l", nil, "labels, separated by commas")
	flags.StringVar(&r.Parent, "parent", "", "`ID` of the epic it belongs to")
	flags.StringSliceVar(&deps, "deps", nil, "`ID`s that it waits for, or TYPE:ID")
	flags.StringVar(&r.Cynefin, "cynefin", "", usageOf(signals.Cynefin)+"; brings its planning depth")
	flags.StringVar(&r.Assignee, "assignee", "", "who is to do it")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// depOf reads TYPE:ID, or the ID of a blocker. What another store holds is
// named external:PROJECT:ID.
func depOf(text string) beads.Dep {
	kind, on, typed := strings.Cut(text, ":")
	if !typed || kind == "external" {
		return beads.Dep{On: text, Type: "blocks"}
	}
	return beads.Dep{On: on, Type: kind}
}

func create(ctx context.Context, a *cli.App, r app.CreateRequest) error {
	created, err := a.Create(ctx, r)
	if err != nil {
		return err
	}
	if created.Earlier {
		a.Note("%s: was created a moment ago by the same command, which could not print it", created.ID)
	}
	err = printCreated(a, created, r.DryRun)
	if r.DryRun {
		return err
	}
	return a.Printed(created.ID, err)
}

// printCreated prints which issue was made.
func printCreated(a *cli.App, created *app.Created, dryRun bool) error {
	switch {
	case a.JSON:
		return a.PrintEdit("created", created, created.Lines, dryRun)
	case dryRun:
		return a.PrintDiff(created.Lines)
	case a.Quiet:
		return a.Printf("%s\n", created.ID)
	}
	if err := a.Printf("%s: created\nnext: stig orient %s\n", created.ID, created.ID); err != nil {
		return err
	}
	a.WarnOfEdit(created.ID, created.Warnings, created.Lines)
	return nil
}
