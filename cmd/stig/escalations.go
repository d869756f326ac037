package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/dag"
	"stig/orient"
)

func (a *app) escalationsCommand() *cobra.Command {
	var all, watch bool
	cmd := &cobra.Command{
		Use:   "escalations",
		Short: "the questions that wait for a person, the oldest first",
		Long: "List the questions that wait for a person, the oldest first: how old each is, who\n" +
			"asked, its options, which issues wait, and what to type to answer it.",
		GroupID: "decide",
		Args:    takes(0, 0, "no arguments"),
		Example: "  stig escalations\n  stig escalations --watch",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case all && watch:
				return usage("--all and --watch exclude each other", "leave one of them out")
			case watch:
				return a.watchEscalations(cmd.Context())
			case all:
				return a.escalations(orient.AllEscalations)
			}
			return a.escalations(orient.Escalations)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "those that were answered too, with the answers")
	cmd.Flags().BoolVar(&watch, "watch", false, "go on, and print new ones as they come, until interrupted")
	return cmd
}

// lookup lists questions of a store.
type lookup func(*beads.File, *dag.Graph, orient.Rules) ([]orient.Asked, error)

func (a *app) escalations(find lookup) error {
	file, err := a.open()
	if err != nil {
		return err
	}
	defer file.Close()
	now, err := a.clock()
	if err != nil {
		return err
	}
	list, err := find(file, dag.New(file), orient.Rules{Schema: a.schema, Now: now})
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
	if a.json {
		body := map[string]any{"pending": pending}
		if len(answered) > 0 {
			body["answered"] = answered
		}
		return a.printJSON("escalations", body)
	}
	s := a.sheet()
	s.line(strong, waitingLine(pending))
	s.questions(pending)
	if len(answered) > 0 {
		s.blank()
		s.line(strong, counted(len(answered), "question")+" answered")
		s.questions(answered)
	}
	return a.show(s)
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
		line += ", the oldest for " + counted(oldest, "day")
	}
	return line
}

// watchEscalations prints the questions that wait, and new ones as they come.
func (a *app) watchEscalations(ctx context.Context) error {
	file, err := a.open() // says what of the store is unreadable
	if err != nil {
		return err
	}
	store := file.Store()
	file.Close()
	changes, stop := beads.Watch(store)
	defer stop()
	seen := map[string]bool{}
	for first := true; ; first = false {
		fresh, err := a.unseen(store, seen)
		if err != nil && first {
			return err
		}
		if err != nil { // another program may be in the middle of writing; the next change tells
			a.warn("%s", err)
		}
		if len(fresh) > 0 || first {
			if err := a.printFresh(fresh, first); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changes:
			settle(ctx)
		}
	}
}

// unseen gives the questions that were not seen before, and marks them seen.
func (a *core) unseen(store beads.Store, seen map[string]bool) ([]orient.Asked, error) {
	now, err := a.clock()
	if err != nil {
		return nil, err
	}
	list, err := a.pending(store, now)
	if err != nil {
		return nil, err
	}
	fresh := []orient.Asked{}
	for _, q := range list {
		key := strings.Join([]string{q.ID, q.Since, q.By, q.Kind, q.Question}, "\x00")
		if !seen[key] {
			seen[key] = true
			fresh = append(fresh, q)
		}
	}
	return fresh, nil
}

func (a *app) printFresh(fresh []orient.Asked, first bool) error {
	if a.json {
		return a.printJSON("escalations", map[string]any{"pending": fresh})
	}
	s := a.sheet()
	if first {
		s.line(strong, waitingLine(fresh))
	}
	s.questions(fresh)
	if first {
		a.note("watching; interrupt to end")
	}
	return a.show(s)
}

// settle waits a moment, so that several changes in a row are read once.
func settle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}
