package graph

import (
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

func ReadyCommand(a *cli.App) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "what can be started now",
		Long: "List what can be started now: open, and held up neither by a blocker of its own\n" +
			"nor by one of an epic above it. By priority, then by how many unclosed issues\n" +
			"wait for it, the most first, then by id.",
		GroupID: "graph",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig ready\n  stig ready --limit 5",
		RunE: func(*cobra.Command, []string) error {
			if limit < 0 {
				return app.Usage(fmt.Sprintf("--limit: must be at least 1, or 0 for all; found %d", limit), "")
			}
			return ready(a, limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "the first `N` only (default all)")
	return cmd
}

// ready lists what can be started, the first of them where there is a limit.
func ready(a *cli.App, limit int) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	file, err := a.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	graph := dag.New(file)
	ready := graph.Ready(now)
	total := len(ready)
	if limit > 0 && limit < total {
		ready = ready[:limit]
	}
	rows, err := a.ReadyRows(file, graph, ready)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON("ready", map[string]any{"ready": rows, "total": total})
	}
	return printReady(a, rows, total, file.Len())
}

// whyNone says what to look at when nothing is ready.
func whyNone(issues int) string {
	if issues == 0 {
		return "type stig create TITLE to add the first issue"
	}
	return "all are closed, in progress, deferred, or wait for another: type stig orient to see which"
}

// printReady prints the rows, how many there are in all, and of how many issues.
func printReady(a *cli.App, rows []app.ReadyRow, total, issues int) error {
	if len(rows) == 0 {
		a.Hint(whyNone(issues))
		return a.Printf("0 of %d issues are ready\n", issues)
	}
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row.ID))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d issues are ready\n\n", total, issues)
	for _, row := range rows {
		fmt.Fprintf(&text, "P%d  %-*s  %s%s\n", row.Priority, widest, row.ID, strings.Join(strings.Fields(row.Title), " "), row.Place())
	}
	if len(rows) < total {
		fmt.Fprintf(&text, "\n%d more: stig ready\n", total-len(rows))
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	first := max(0, slices.IndexFunc(rows, func(r app.ReadyRow) bool { return !r.Asked }))
	a.Hint("type stig orient " + rows[first].ID + " to be briefed on the first")
	return nil
}

func ReviewCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "review ID",
		Short: "where finished work comes together: its trails, surprise and evidence",
		Long: "Review what an issue is to be built on: what its finished dependencies left, in the\n" +
			"order they were built, how much they surprised against what its domain allows, the\n" +
			"weakest and the oldest evidence, and what its own criteria would run. Runs nothing.",
		GroupID: "graph",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig review demo-1",
		RunE: func(_ *cobra.Command, args []string) error {
			file, at, err := a.OpenIssue(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			rules, err := a.Reading(file, signals.ThresholdStaleDays)
			if err != nil {
				return err
			}
			review, err := orient.Assess(file, dag.New(file), at, rules)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON("review", review)
			}
			return a.Print(review.Markdown())
		},
	}
}
