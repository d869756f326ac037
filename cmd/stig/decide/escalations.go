package decide

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/orient"
)

func EscalationsCommand(a *cli.App) *cobra.Command {
	var all, watch bool
	cmd := &cobra.Command{
		Use:   "escalations",
		Short: "the questions that wait for a person, the oldest first",
		Long: "List the questions that wait for a person, the oldest first: how old each is, who\n" +
			"asked, its options, which issues wait, and what to type to answer it.",
		GroupID: "decide",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig escalations\n  stig escalations --watch",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case all && watch:
				return app.Usage("--all and --watch exclude each other", "leave one of them out")
			case watch:
				return watchEscalations(cmd.Context(), a)
			case all:
				return escalations(a, orient.AllEscalations)
			}
			return escalations(a, orient.Escalations)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "those that were answered too, with the answers")
	cmd.Flags().BoolVar(&watch, "watch", false, "go on, and print new ones as they come, until interrupted")
	return cmd
}

// lookup lists questions of a store.
type lookup func(*beads.Snapshot, *dag.Graph, orient.Rules) ([]orient.Asked, error)

func escalations(a *cli.App, find lookup) error {
	file, err := a.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	now, err := a.Clock()
	if err != nil {
		return err
	}
	list, err := find(file, dag.New(file), orient.Rules{Schema: a.Schema, Now: now})
	if err != nil {
		return err
	}
	pending, answered := []orient.Asked{}, []orient.Asked{}
	for _, q := range list {
		if q.Answer == nil {
			pending = append(pending, q)
		} else {
			answered = append(answered, q)
		}
	}
	if a.JSON {
		body := map[string]any{"pending": pending}
		if len(answered) > 0 {
			body["answered"] = answered
		}
		return a.PrintJSON("escalations", body)
	}
	s := a.Sheet()
	s.Line(cli.Strong, waitingLine(pending))
	s.Questions(pending)
	if len(answered) > 0 {
		s.Blank()
		s.Line(cli.Strong, app.Counted(len(answered), "question")+" answered")
		s.Questions(answered)
	}
	return a.Show(s)
}

// waitingLine says how many questions wait, and how old the oldest is.
func waitingLine(pending []orient.Asked) string {
	line := "no question waits for a person"
	switch len(pending) {
	case 0:
		return line
	case 1:
		line = "1 question waits for a person"
	default:
		line = fmt.Sprintf("%d questions wait for a person", len(pending))
	}
	oldest := 0
	for _, q := range pending {
		if q.AgeDays != nil {
			oldest = max(oldest, *q.AgeDays)
		}
	}
	if oldest > 0 && len(pending) > 1 {
		line += ", the oldest for " + app.Counted(oldest, "day")
	}
	return line
}

// watchEscalations prints the questions that wait, and new ones as they come.
func watchEscalations(ctx context.Context, a *cli.App) error {
	file, err := a.Open() // says what of the store is unreadable
	if err != nil {
		return err
	}
	store := a.At(file.Place())
	file.Close()
	changes, stop := store.Watch()
	defer stop()
	seen := map[string]bool{}
	for first := true; ; first = false {
		fresh, err := a.Unseen(store, seen)
		if err != nil && first {
			return err
		}
		if err != nil { // another program may be in the middle of writing; the next change tells
			a.Warn("%s", err)
		}
		if len(fresh) > 0 || first {
			if err := printFresh(a, fresh, first); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changes:
			app.Settle(ctx)
		}
	}
}

func printFresh(a *cli.App, fresh []orient.Asked, first bool) error {
	if a.JSON {
		return a.PrintJSON("escalations", map[string]any{"pending": fresh})
	}
	s := a.Sheet()
	if first {
		s.Line(cli.Strong, waitingLine(fresh))
	}
	s.Questions(fresh)
	if first {
		a.Note("watching; interrupt to end")
	}
	return a.Show(s)
}
