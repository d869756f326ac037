package issue

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

func CreateCommand(a *cli.App) *cobra.Command {
	var r service.CreateRequest
	var title, priority, estimate, until, due, from string
	var deps []string
	cmd := &cobra.Command{
		Use:   "create TITLE",
		Short: "create an issue, with its signal table",
		Long: "Add an issue and print its id: a hash of its content, or the next number below its parent.\n" +
			"With -q, print only the id. A type is one of bd, of the store, or of types in .stig.cue.\n" +
			"With --from, add all issues of a file, or none.\n\n" +
			"Each line of a JSON file is an object with the keys of an issue, and with parent, deps,\n" +
			"cynefin, and name, which other lines may use in parent and deps.\n\n" +
			"In Markdown, each heading is an issue, and the headings below it are its children. Below a\n" +
			"heading come, all optional, lines KEY: VALUE (name, type, priority, labels, after, cynefin,\n" +
			"assignee, estimate, defer, due), then the description, then the headings Acceptance and\n" +
			"Design. after has the titles or names of the issues that it waits for.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return workspace.Usage(fmt.Sprintf("%s: takes one title; found %d arguments", cli.Called(cmd), len(args)), "type stig create "+visible.Quoted(strings.Join(args, " ")))
			}
			return nil
		},
		Example: "  stig create \"Read both forms\" --parent demo-4k2 -p 1 --acceptance '`go test ./...` passes'\n" +
			"  stig create \"Find out why it hangs\" --cynefin complex --deps demo-8x1 --deps related:demo-7pw\n" +
			"  echo '{\"title\":\"Dig\",\"name\":\"dig\"}\n  {\"title\":\"Fill\",\"deps\":[\"dig\"]}' | stig create --from -\n" +
			"  stig create --from plan.md --dry-run",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if from != "" {
				return createAll(cmd.Context(), a, from, args, r.DryRun)
			}
			switch {
			case title != "" && len(args) > 0:
				return workspace.Usage(fmt.Sprintf("the title is given twice; found %q and --title", args[0]), "omit one of them")
			case title != "":
				args = []string{title}
			case len(args) == 0:
				return cli.Takes(1, 1, "one title")(cmd, args)
			}
			now, err := a.Clock()
			if err != nil {
				return err
			}
			r.Title = args[0]
			if r.Priority, err = checkpoint.ParsePriority(priority); err != nil {
				return err
			}
			if r.Estimate, err = checkpoint.ParseEstimate(estimate); err != nil {
				return err
			}
			if r.Defer, err = checkpoint.ParseDay("defer", until, now); err != nil {
				return err
			}
			if r.Due, err = checkpoint.ParseDay("due", due, now); err != nil {
				return err
			}
			for _, dep := range deps {
				r.Deps = append(r.Deps, checkpoint.ParseDep(dep))
			}
			return create(cmd.Context(), a, r)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&title, "title", "", "the title, as in bd")
	_ = flags.MarkHidden("title") // fails only for an unknown flag
	flags.StringVarP(&r.Type, "type", "t", "task", strings.Join(checkpoint.Types(), ", ")+", or another type of the project")
	flags.StringVarP(&priority, "priority", "p", "2", "0 (most urgent) to 4, or P0 to P4")
	flags.StringVarP(&r.Description, "description", "d", "", "what to do, and why")
	flags.StringVar(&r.Acceptance, "acceptance", "", "how to tell that it works, with the commands that prove it")
	flags.StringSliceVarP(&r.Labels, "labels", "l", nil, "labels, separated by commas")
	flags.StringVar(&r.Parent, "parent", "", "`ID` of the epic it belongs to")
	flags.StringSliceVar(&deps, "deps", nil, "`ID`s that it waits for, or TYPE:ID")
	flags.StringVar(&r.Cynefin, "cynefin", "", usageOf(signals.Cynefin)+"; also sets the planning depth")
	flags.StringVarP(&r.Assignee, "assignee", "a", "", "`NAME` of the assignee; @me is you")
	flags.StringVar(&r.Design, "design", "", "how to do it")
	flags.StringVar(&until, "defer", "", "not ready until `WHEN`: a day, a time, or a span such as 3d")
	flags.StringVar(&due, "due", "", "due `WHEN`: a day, a time, or a span such as 3d")
	flags.StringVar(&estimate, "estimate", "", "how long it takes: minutes, or a span such as 1h30m")
	flags.StringVar(&r.ExternalRef, "external-ref", "", "id in another tracker, such as gh-9")
	flags.StringVar(&from, "from", "", "read issues from `FILE`, JSON or Markdown (- for standard input)")
	cli.SingleLine(cmd, "labels", "deps")
	cli.Exclude(cmd, "from", "title", "type", "priority", "description", "acceptance", "labels", "parent", "deps",
		"cynefin", "assignee", "design", "defer", "due", "estimate", "external-ref")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func create(ctx context.Context, a *cli.App, r service.CreateRequest) error {
	created, err := service.Create(ctx, a.Run, r)
	if err != nil {
		return err
	}
	if created.Earlier {
		a.Note("%s: was created a moment ago by the same command, which could not print it", created.ID)
	}
	noteIDs(a, r.DryRun)
	err = printCreated(a, created, r.DryRun)
	if r.DryRun {
		return err
	}
	return service.Printed(a.Run, created.ID, err)
}

// printCreated prints the new issue.
func printCreated(a *cli.App, created *service.Created, dryRun bool) error {
	return a.EditResult("created", created, created.Lines, dryRun, func() error {
		if a.Quiet {
			return a.Printf("%s\n", created.ID)
		}
		if err := a.Printf("%s: created\nnext: stig orient %s\n", created.ID, created.ID); err != nil {
			return err
		}
		a.WarnOfEdit(created.ID, created.Warnings, created.Lines)
		return nil
	})
}
