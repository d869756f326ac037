package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/checkpoint"
	"stig/dag"
	"stig/git"
	"stig/orient"
	"stig/process"
	"stig/signals"
)

// retroOptions are the flags of a retrospective.
type retroOptions struct {
	last     int
	on       string
	escalate bool
	dryRun   bool
}

func (a *app) retroCommand() *cobra.Command {
	var o retroOptions
	cmd := &cobra.Command{
		Use:   "retro [EPIC]",
		Short: "whether the way of working should change: patterns over closed issues",
		Long: "Look back at the issues that were closed last, in the store and in its history: their\n" +
			"surprise, shifts of domain, what passed its criteria at first, was waived, was reopened,\n" +
			"or surprised nobody. Nothing is claimed of four issues or fewer. What stands out is put\n" +
			"into a question to a person, which --escalate asks on the epic or on another issue.",
		GroupID: "decide",
		Args:    takes(0, 1, "one epic at most"),
		Example: "  stig retro\n  stig retro demo-e --last 12\n  stig retro --escalate --on demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.last < 1 {
				return usage(fmt.Sprintf("--last: must be at least 1; found %d", o.last), "")
			}
			if o.on != "" && !o.escalate {
				return usage("--on says where --escalate asks", "give both")
			}
			if o.escalate && o.on == "" && len(args) == 0 {
				return usage("--escalate: no issue to ask on", "name an epic, or an issue with --on ID")
			}
			return a.retro(cmd.Context(), args, o)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.last, "last", orient.RetroLast, "look at the last `N` closed issues")
	flags.BoolVar(&o.escalate, "escalate", false, "ask a person whether the way of working should change")
	flags.StringVar(&o.on, "on", "", "ask on the issue `ID` instead of the epic")
	a.writes(cmd, &o.dryRun)
	return cmd
}

func (a *app) retro(ctx context.Context, args []string, o retroOptions) error {
	r, store, err := a.lookBack(ctx, args, o.last)
	if err != nil {
		return err
	}
	if !o.escalate {
		if a.json {
			return a.printJSON("retro", r)
		}
		return a.printMarkdown(r.Markdown())
	}
	if r.Draft == "" {
		return usage("no pattern stands out, and there is nothing to ask", "type stig retro to see what was looked at")
	}
	on := o.on
	if on == "" {
		on = r.Epic
	}
	return a.askRetro(ctx, store, on, r, o.dryRun)
}

// askRetro puts what a retrospective drafted to a person.
func (a *app) askRetro(ctx context.Context, store beads.Store, on string, r *orient.Retro, dryRun bool) error {
	options, err := a.options(dryRun)
	if err != nil {
		return err
	}
	if err := a.refuseUnfinished(ctx, store); err != nil {
		return err
	}
	q := checkpoint.Question{Text: r.Draft, Process: true, Evidence: a.config.Signals.Evidence}
	if q.By, err = a.mustActor(ctx); err != nil {
		return err
	}
	report, err := checkpoint.Escalate(ctx, store, options, on, q, checkpoint.Rules{Schema: a.schema, Now: options.Now})
	if err != nil {
		return err
	}
	if !dryRun {
		a.notify(ctx, store, options.Now, reportNotices(report, q, signals.Day(options.Now)))
	}
	switch {
	case a.json:
		return a.printEdit("retro", struct {
			*orient.Retro
			Escalated string `json:"escalated"`
		}{r, report.ID}, report.Lines, dryRun)
	case dryRun:
		return a.printDiff(report.Lines)
	}
	return a.printf("%s: asked whether the way of working should change; a person has to answer\n", report.ID)
}

// lookBack computes the retrospective of the store or of an epic.
func (a *core) lookBack(ctx context.Context, args []string, last int) (*orient.Retro, beads.Store, error) {
	file, err := a.open()
	if err != nil {
		return nil, beads.Store{}, err
	}
	defer file.Close()
	request := orient.RetroRequest{Last: last}
	graph := dag.New(file)
	if len(args) == 1 {
		epic, err := file.Find(args[0])
		if err != nil {
			return nil, file.Store(), err
		}
		if at, _ := file.Index(epic.ID); len(graph.Children(at)) == 0 {
			return nil, file.Store(), usage(epic.ID+": holds no issues", "name an epic, or none for the whole store")
		}
		request.Epic = epic.ID
	}
	if request.Turns, request.History, err = a.turns(ctx, file.Store()); err != nil {
		return nil, file.Store(), err
	}
	rules, err := a.reading(file, signals.ThresholdStaleDays)
	if err != nil {
		return nil, file.Store(), err
	}
	r, err := orient.LookBack(file, graph, request, rules)
	return r, file.Store(), err
}

// turns reads the history of the store, where it has one.
func (a *core) turns(ctx context.Context, store beads.Store) (turns []orient.Turn, known bool, err error) {
	if !process.Finder("", a.getenv)("git") {
		return nil, false, nil
	}
	repo, path, err := a.git(store)
	if err != nil {
		return nil, false, err
	}
	changes, err := repo.History(ctx, path, "")
	if _, none := errors.AsType[*git.RevisionError](err); none || err == nil && len(changes) == 0 {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	slices.Reverse(changes)
	read := func(blobs []string, take func(string, []byte)) error { return repo.Blobs(ctx, blobs, take) }
	turns, err = orient.Turns(changes, read, a.schema)
	return turns, err == nil, err
}
