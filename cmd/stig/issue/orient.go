package issue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/orient"
	"stig/signals"
)

// orientOptions are the flags of one reading.
type orientOptions struct {
	depth     string
	budget    int
	full      bool
	as        string
	staleDays int
}

func OrientCommand(a *cli.App) *cobra.Command {
	var o orientOptions
	cmd := &cobra.Command{
		Use:        "orient [ID]",
		SuggestFor: []string{"status", "stats", "prime", "onboard", "quickstart"},
		Short:      "what to read before working: the briefing of one issue, or the survey of all",
		Long: "What to read before working. With an issue it is the briefing of that one, as deep as\n" +
			"the issue is uncertain; without, the survey of the store: what needs attention, who\n" +
			"works on what, what is ready, and one recommended next step.",
		GroupID: "work",
		Args:    cli.Takes(0, 1, "one issue at most"),
		Example: "  stig orient\n  stig orient --as ann\n  stig orient demo-1\n  stig orient demo-1 --depth deep --budget 8000",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(len(args) == 0); err != nil {
				return err
			}
			if len(args) == 0 {
				return orientAll(cmd.Context(), a, o)
			}
			return orientOne(cmd.Context(), a, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.depth, "depth", "", "read at `DEPTH` (shallow, standard, deep, probe) instead of the issue's own")
	flags.IntVar(&o.budget, "budget", 0, fmt.Sprintf("at most `N` characters, the most urgent first (%d for the survey, no limit for a briefing)", orient.SurveyBudget))
	flags.BoolVar(&o.full, "full", false, "everything: all rows of the survey, farther dependencies' checkpoints of a briefing")
	flags.StringVar(&o.as, "as", "", "the survey for `NAME`, whose own claims come first")
	flags.IntVar(&o.staleDays, "stale-days", signals.ThresholdStaleDays, "an issue in progress is stale when it was not changed for more than `N` days")
	return cmd
}

// check refuses flags that do not go together. all tells that no issue is named.
func (o orientOptions) check(all bool) error {
	if depths := signals.PlanningDepth.Domain(); o.depth != "" && !slices.Contains(depths, o.depth) {
		return app.Usage(fmt.Sprintf("--depth: must be one of %s; found %q", strings.Join(depths, ", "), o.depth), "")
	}
	if o.budget != 0 && o.budget < orient.MinBudget {
		return app.Usage(fmt.Sprintf("--budget: must be at least %d characters; found %d", orient.MinBudget, o.budget), "")
	}
	if o.budget != 0 && o.full {
		return app.Usage("--full and --budget exclude each other", "leave one of them out")
	}
	if o.staleDays < 0 {
		return app.Usage(fmt.Sprintf("--stale-days: must not be negative; found %d", o.staleDays), "")
	}
	if all && o.depth != "" {
		return app.Usage("--depth: goes with one issue", "type stig orient ID --depth "+o.depth)
	}
	if !all && o.as != "" {
		return app.Usage("--as: goes with the survey, which names no issue", "type stig orient --as "+o.as)
	}
	return nil
}

func orientOne(ctx context.Context, a *cli.App, id string, o orientOptions) error {
	file, at, err := a.OpenIssue(id)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := a.RefuseUnfinished(ctx, file.Place()); err != nil {
		return err
	}
	a.WarnOfLost(ctx, file.Place())
	rules, err := a.Reading(file, o.staleDays)
	if err != nil {
		return err
	}
	request := orient.Request{Depth: o.depth, Budget: o.budget, Full: o.full}
	briefing, err := orient.Brief(file, dag.New(file), at, request, rules)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON("briefing", briefing)
	}
	return a.PrintMarkdown(briefing.Markdown())
}

func orientAll(ctx context.Context, a *cli.App, o orientOptions) error {
	file, err := a.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	if err := a.RefuseUnfinished(ctx, file.Place()); err != nil {
		return err
	}
	a.WarnOfLost(ctx, file.Place())
	rules, err := a.Reading(file, o.staleDays)
	if err != nil {
		return err
	}
	request := orient.SurveyRequest{As: o.as, Budget: o.budget, Full: o.full}
	if o.budget == 0 && !o.full {
		request.Budget = orient.SurveyBudget
	}
	survey, err := orient.Look(file, dag.New(file), request, rules)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON("survey", survey)
	}
	return a.PrintMarkdown(survey.Markdown())
}
