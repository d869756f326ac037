package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/dag"
	"stig/gate"
	"stig/orient"
	"stig/signals"
)

func (a *app) orientCommand() *cobra.Command {
	var request orient.Request
	cmd := &cobra.Command{
		Use:     "orient [ID]",
		Short:   "what to read before working: the briefing of one issue, or what is ready",
		GroupID: "work",
		Args:    takes(0, 1, "one issue at most"),
		Example: "  stig orient\n  stig orient demo-1\n  stig orient demo-1 --depth deep --budget 8000",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.orientAll()
			}
			return a.orientOne(args[0], request)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&request.Depth, "depth", "", "read at `DEPTH` (shallow, standard, deep, probe) instead of the issue's own")
	flags.IntVar(&request.Budget, "budget", 0, "at most `N` characters, the most urgent first")
	flags.BoolVar(&request.Full, "full", false, "everything of the depth, farther dependencies' checkpoints too")
	return cmd
}

func (a *app) orientOne(id string, request orient.Request) error {
	if err := checkRequest(request); err != nil {
		return err
	}
	file, err := a.open()
	if err != nil {
		return err
	}
	defer file.Close()
	issue, err := file.Find(id)
	if err != nil {
		return err
	}
	at, _ := file.Index(issue.ID)
	rules := orient.Rules{Schema: a.schema, Look: gate.Here(filepath.Dir(file.Store().Dir), a.getenv)}
	briefing, err := orient.Brief(file, dag.New(file), at, request, rules)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON("briefing", briefing)
	}
	return a.print(briefing.Markdown())
}

func checkRequest(r orient.Request) error {
	if depths := signals.PlanningDepth.Domain(); r.Depth != "" && !slices.Contains(depths, r.Depth) {
		return usage(fmt.Sprintf("--depth: must be one of %s; found %q", strings.Join(depths, ", "), r.Depth), "")
	}
	if r.Budget != 0 && r.Budget < orient.MinBudget {
		return usage(fmt.Sprintf("--budget: must be at least %d characters; found %d", orient.MinBudget, r.Budget), "")
	}
	if r.Budget != 0 && r.Full {
		return usage("--full and --budget exclude each other", "leave one of them out")
	}
	return nil
}

// readyRow is one issue that can be started.
type readyRow struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Priority int    `json:"priority"`
	Epic     string `json:"epic,omitempty"`
}

// orientAll lists what can be started now.
func (a *app) orientAll() error {
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
	rows := []readyRow{}
	for _, i := range graph.Ready(now) {
		issue := file.At(i)
		row := readyRow{ID: issue.ID, Title: issue.Title, Priority: issue.Priority}
		if epic, ok := graph.Epic(i); ok {
			row.Epic = file.At(epic).ID
		}
		rows = append(rows, row)
	}
	if a.json {
		return a.printJSON("ready", map[string]any{"ready": rows})
	}
	return a.printReady(file, rows)
}

func (a *app) printReady(file *beads.File, rows []readyRow) error {
	if len(rows) == 0 {
		a.hint("nothing is ready: every open issue waits for another, or there is none")
		return a.printf("0 of %d issues are ready\n", file.Len())
	}
	widest := 0
	for _, row := range rows {
		widest = max(widest, len(row.ID))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d issues are ready\n\n", len(rows), file.Len())
	for _, row := range rows {
		fmt.Fprintf(&text, "P%d  %-*s  %s", row.Priority, widest, row.ID, strings.Join(strings.Fields(row.Title), " "))
		if row.Epic != "" {
			fmt.Fprintf(&text, "  (in %s)", row.Epic)
		}
		text.WriteString("\n")
	}
	if err := a.print(text.String()); err != nil {
		return err
	}
	a.hint("type stig orient " + rows[0].ID + " to be briefed on the first")
	return nil
}
