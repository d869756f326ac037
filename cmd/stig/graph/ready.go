package graph

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/orient"
	"stig/signals"
)

func ReadyCommand(a *cli.App) *cobra.Command {
	var limit int
	var all bool
	var as string
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "list what you can take now",
		Long: "List what you can take now: open, held up neither by a blocker of its own nor by one of\n" +
			"an epic above it, without children or an unanswered question, and assigned to nobody\n" +
			"else. By priority, then by how many unclosed issues wait for it, the most first, then\n" +
			"by id. With --json all open issues that nothing blocks are listed, with flags.",
		GroupID: "graph",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig ready\n  stig ready --limit 5\n  stig ready --all",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return app.Usage(fmt.Sprintf("--limit: must be at least 1, or 0 for all; found %d", limit), "")
			}
			return ready(cmd.Context(), a, limit, all, as)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "the first `N` only (default all)")
	cmd.Flags().BoolVar(&all, "all", false, "also what nothing blocks and you cannot take, with the reason")
	cmd.Flags().StringVar(&as, "as", "", "what `NAME` can take (default who acts: STIG_ACTOR, BD_ACTOR, git user.name)")
	return cmd
}

// ready lists what can be taken, the first of it where there is a limit.
func ready(ctx context.Context, a *cli.App, limit int, all bool, as string) error {
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
	rows, err := a.ReadyRows(ctx, file, graph, now, as)
	if err != nil {
		return err
	}
	free := len(app.Takeable(rows))
	if a.JSON {
		total := len(rows)
		return a.PrintJSON("ready", map[string]any{"ready": firstOf(rows, limit), "total": total, "can_take": free})
	}
	held := rows[free:]
	if !all {
		rows = rows[:free]
	}
	return printReady(a, firstOf(rows, limit), held, len(rows), all, unclosed(graph, file.Len()))
}

// unclosed is how many of so many lines are issues that a survey counts as unclosed.
func unclosed(graph *dag.Graph, lines int) (n int) {
	for i := range lines {
		if graph.Lasting(i) && !graph.Closed(i) {
			n++
		}
	}
	return n
}

func firstOf(rows []app.ReadyRow, limit int) []app.ReadyRow {
	if limit > 0 && limit < len(rows) {
		return rows[:limit]
	}
	return rows
}

// whyNone says what to look at when nothing is ready.
func whyNone(unclosed int) string {
	if unclosed == 0 {
		return "type stig create TITLE to add an issue"
	}
	return "type stig orient to see what holds people up"
}

// heldWords says how many issues that nothing blocks cannot be taken, and why.
func heldWords(held []app.ReadyRow) string {
	count := map[dag.State]int{}
	for _, row := range held {
		count[row.State]++
	}
	var parts []string
	for _, of := range []struct {
		state dag.State
		words string
	}{
		{dag.StateAssigned, "assigned to others"}, {dag.StateAsked, "waiting for an answer"},
		{dag.StateEpic, "with unclosed children"}, {dag.StateComplete, "to close, since all its children are closed"},
	} {
		if n := count[of.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of.words))
		}
	}
	return strings.Join(parts, ", ")
}

// printReady prints the rows, how many there are in all, of how many unclosed
// issues, and what is held.
func printReady(a *cli.App, rows, held []app.ReadyRow, total int, all bool, unclosed int) error {
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row.ID))
	}
	var text strings.Builder
	free := total
	if all {
		free -= len(held)
	}
	fmt.Fprintf(&text, "%d of %s are ready\n", free, app.Counted(unclosed, "unclosed issue"))
	if len(rows) > 0 {
		text.WriteString("\n")
	}
	for _, row := range rows {
		fmt.Fprintf(&text, "P%d  %-*s  %s%s\n", row.Priority, widest, row.ID, app.Folded(row.Title), row.Place())
	}
	if len(rows) < total {
		fmt.Fprintf(&text, "\n%d more: stig ready%s\n", total-len(rows), map[bool]string{true: " --all"}[all])
	}
	if len(held) > 0 && !all {
		fmt.Fprintf(&text, "\nnot blocked, and not listed: %s: stig ready --all\n", heldWords(held))
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	if len(rows) == 0 || !rows[0].CanTake {
		a.Hint(whyNone(unclosed))
		return nil
	}
	a.Hint("type stig orient " + rows[0].ID + " to be briefed on the first")
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
