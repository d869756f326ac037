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
	"stig/signals"
)

func CreateCommand(a *cli.App) *cobra.Command {
	var d checkpoint.Draft
	var priority string
	var deps []string
	var dryRun bool
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
			d.Title = args[0]
			if d.Priority, err = priorityOf(priority); err != nil {
				return err
			}
			for _, dep := range deps {
				d.Deps = append(d.Deps, depOf(dep))
			}
			return create(a, cmd, d, dryRun)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&d.Type, "type", "t", "task", "bug, feature, task, epic, chore, or another one")
	flags.StringVarP(&priority, "priority", "p", "2", "0 (most urgent) to 4, or P0 to P4")
	flags.StringVarP(&d.Description, "description", "d", "", "what there is to do, and why")
	flags.StringVar(&d.Acceptance, "acceptance", "", "how it will be known to work, with the commands that prove it")
	flags.StringSliceVarP(&d.Labels, "labels", "l", nil, "labels, separated by commas")
	flags.StringVar(&d.Parent, "parent", "", "`ID` of the epic it belongs to")
	flags.StringSliceVar(&deps, "deps", nil, "`ID`s that it waits for, or TYPE:ID")
	flags.StringVar(&d.Cynefin, "cynefin", "", usageOf(signals.Cynefin)+"; brings its planning depth")
	flags.StringVar(&d.Assignee, "assignee", "", "who is to do it")
	a.Writes(cmd, &dryRun)
	return cmd
}

// priorityOf reads 0 to 4, or P0 to P4.
func priorityOf(text string) (int, error) {
	digit := strings.TrimPrefix(strings.ToUpper(text), "P")
	if len(digit) != 1 || digit[0] < '0' || digit[0] > '4' {
		return 0, app.Usage(fmt.Sprintf("priority: must be 0 to 4, or P0 to P4; found %q", text), "0 is the most urgent")
	}
	return int(digit[0] - '0'), nil
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

func create(a *cli.App, cmd *cobra.Command, d checkpoint.Draft, dryRun bool) error {
	store, options, err := a.ToWrite(cmd.Context(), dryRun)
	if err != nil {
		return err
	}
	if d.By, err = a.ActorName(cmd.Context()); err != nil {
		return err
	}
	d.Evidence, d.Types = a.Config.Signals.Evidence, a.Config.Types
	if earlier, ok := a.Untold(store, d, options.Now); ok && !dryRun {
		return a.PrintEarlier(earlier, d.Title)
	}
	d.Number = a.ChildNumbers(cmd.Context(), store, dryRun)
	created, err := checkpoint.Create(cmd.Context(), store, options, d, checkpoint.Rules{Schema: a.Schema, Now: options.Now})
	if err != nil {
		return err
	}
	err = printCreated(cmd.Context(), a, store, created, d, dryRun)
	switch {
	case dryRun:
		return err
	case err != nil:
		return &app.UnprintedError{Id: created.ID, Err: err}
	}
	a.Journal.Told()
	return nil
}

// printCreated prints which issue was made.
func printCreated(ctx context.Context, a *cli.App, store beads.Store, created *checkpoint.Created, d checkpoint.Draft, dryRun bool) error {
	created.Warnings = append(created.Warnings, a.Unprovable(ctx, store, d.Acceptance)...)
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
