package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/dag"
	"stig/orient"
)

func (a *app) readyCommand() *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "what can be started now",
		Long: "List what can be started now: open, and held up neither by a blocker of its own\n" +
			"nor by one of an epic above it. By priority, then by how many unclosed issues\n" +
			"wait for it, the most first, then by id.",
		GroupID: "graph",
		Args:    takes(0, 0, "no arguments"),
		Example: "  stig ready\n  stig ready --limit 5",
		RunE: func(*cobra.Command, []string) error {
			if limit < 0 {
				return usage(fmt.Sprintf("--limit: must be at least 1, or 0 for all; found %d", limit), "")
			}
			return a.ready(limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "the first `N` only (default all)")
	return cmd
}

// ready lists what can be started, the first of them where there is a limit.
func (a *app) ready(limit int) error {
	now, err := a.clock()
	if err != nil {
		return err
	}
	file, err := a.open()
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
	rows, err := a.readyRows(file, graph, ready)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON("ready", map[string]any{"ready": rows, "total": total})
	}
	return a.printReady(rows, total, file.Len())
}

// readyRow is one issue that can be started.
type readyRow struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Priority int    `json:"priority"`
	Unblocks int    `json:"unblocks"` // how many unclosed issues wait for it
	Epic     string `json:"epic"`
	Asked    bool   `json:"asked,omitempty"` // waits for a person's answer
}

func (a *core) readyRows(file *beads.File, graph *dag.Graph, ready []int) ([]readyRow, error) {
	rows := []readyRow{}
	unblocks := graph.Unblocks()
	asked, err := orient.Pending(file, ready, a.schema)
	if err != nil {
		return nil, err
	}
	for k, i := range ready {
		issue := file.At(i)
		row := readyRow{ID: issue.ID, Title: issue.Title, Priority: issue.Priority, Unblocks: unblocks[i], Asked: asked[k]}
		if epic, ok := graph.Epic(i); ok {
			row.Epic = file.At(epic).ID
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// whyNone says what to look at when nothing is ready.
func whyNone(issues int) string {
	if issues == 0 {
		return "type stig create TITLE to add the first issue"
	}
	return "all are closed, in progress, deferred, or wait for another: type stig orient to see which"
}

// printReady prints the rows, how many there are in all, and of how many issues.
func (a *app) printReady(rows []readyRow, total, issues int) error {
	if len(rows) == 0 {
		a.hint(whyNone(issues))
		return a.printf("0 of %d issues are ready\n", issues)
	}
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row.ID))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d issues are ready\n\n", total, issues)
	for _, row := range rows {
		fmt.Fprintf(&text, "P%d  %-*s  %s%s\n", row.Priority, widest, row.ID, strings.Join(strings.Fields(row.Title), " "), row.place())
	}
	if len(rows) < total {
		fmt.Fprintf(&text, "\n%d more: stig ready\n", total-len(rows))
	}
	if err := a.print(text.String()); err != nil {
		return err
	}
	first := max(0, slices.IndexFunc(rows, func(r readyRow) bool { return !r.Asked }))
	a.hint("type stig orient " + rows[first].ID + " to be briefed on the first")
	return nil
}

// place says what a row belongs to and what waits for it.
func (r readyRow) place() string {
	var parts []string
	if r.Epic != "" {
		parts = append(parts, "in "+r.Epic)
	}
	switch r.Unblocks {
	case 0:
	case 1:
		parts = append(parts, "1 issue waits for it")
	default:
		parts = append(parts, fmt.Sprintf("%d issues wait for it", r.Unblocks))
	}
	if r.Asked {
		parts = append(parts, "asked: waits for an answer")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}
