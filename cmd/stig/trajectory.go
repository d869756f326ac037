package main

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/git"
	"stig/notes"
	"stig/signals"
)

func (a *app) trajectoryCommand() *cobra.Command {
	var since string
	var plot bool
	cmd := &cobra.Command{
		Use:        "trajectory ID",
		SuggestFor: []string{"log", "history"},
		Short:      "how the signals of an issue went over the commits of the store",
		Long: "trajectory lists the commits that changed the signals or the state estimate of an\n" +
			"issue, the oldest first, also under the names that the store had before. A handoff\n" +
			"is a checkpoint, or a new state estimate. On a terminal surprise is plotted.",
		GroupID: "graph",
		Args:    takes(1, 1, "one issue"),
		Example: "  stig trajectory demo-1\n  stig trajectory demo-1 --since 2026-11-01\n  stig trajectory demo-1 --since v1.2 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := a.open()
			if err != nil {
				return err
			}
			defer file.Close()
			id, title := args[0], ""
			issue, missing := file.Find(id)
			if missing == nil {
				id, title = issue.ID, issue.Title
			}
			points, err := a.trajectory(cmd.Context(), file.Store(), id, since)
			if err != nil {
				return err
			}
			if missing != nil && len(points) == 0 {
				return missing
			}
			if a.json {
				return a.printJSON("trajectory", map[string]any{"id": id, "points": points})
			}
			text := pointsText(id, title, points)
			if len(points) > 0 && (plot || a.toTerminal()) {
				text += "\n" + plotSurprise(points)
			}
			return a.print(text)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "only what came after `WHEN`: a date, a time, or a revision")
	cmd.Flags().BoolVar(&plot, "plot", false, "plot surprise, as on a terminal")
	return cmd
}

// point is an issue as a commit left it.
type point struct {
	Commit   string  `json:"commit"`
	Time     string  `json:"time"`
	Subject  string  `json:"subject"`
	Surprise float64 `json:"surprise"`
	Progress string  `json:"progress"`
	Cynefin  string  `json:"cynefin"`
	Handoff  bool    `json:"handoff"`
}

// trajectory lists the commits that changed an issue's signals or estimate,
// the oldest first.
func (a *core) trajectory(ctx context.Context, store beads.Store, id, since string) ([]point, error) {
	repo, path, err := a.git(store)
	if err != nil {
		return nil, err
	}
	after, isTime := dateOrTime(since)
	revision := since
	if isTime {
		revision = ""
	}
	changes, err := repo.History(ctx, path, revision)
	var unknown *git.RevisionError
	if errors.As(err, &unknown) {
		return nil, usage(unknown.Reason, "the trajectory of an issue is git's history of "+store.Path)
	}
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return c.Time.Before(after) })
	slices.Reverse(changes)
	past, err := a.pastOf(ctx, repo, changes, id)
	if err != nil {
		return nil, err
	}
	points := []point{}
	for _, c := range changes {
		if p, ok := pointAt(c, past, id); ok {
			points = append(points, p)
		}
	}
	return points, nil
}

// dateOrTime reads YYYY-MM-DD, the beginning of that day in UTC, or RFC 3339.
func dateOrTime(text string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil || text == ""
}

// state is what a version of the store says of an issue.
type state struct {
	table    *signals.Table
	estimate string
}

// pastOf reads an issue in all versions that the changes name; nil where it
// was not there.
func (a *core) pastOf(ctx context.Context, repo git.Client, changes []git.Change, id string) (map[string]*state, error) {
	past := map[string]*state{}
	var blobs []string
	for _, c := range changes {
		for _, blob := range append([]string{c.After}, c.Before...) {
			if _, known := past[blob]; !known && blob != "" {
				past[blob] = nil
				blobs = append(blobs, blob)
			}
		}
	}
	known := map[string]*state{} // by the notes, which most versions share
	err := repo.Blobs(ctx, blobs, func(blob string, text []byte) {
		record := beads.RecordIn(text, id)
		if record == nil {
			return
		}
		text = record.Raw(beads.Notes)
		if known[string(text)] == nil {
			known[string(text)] = stateOf(record, a.schema)
		}
		past[blob] = known[string(text)]
	})
	return past, err
}

func stateOf(record *beads.Record, schema *signals.Schema) *state {
	doc := notes.Parse(record.Text(beads.Notes))
	estimate, _ := signals.LastEstimate(doc)
	return &state{table: signals.Read(doc, schema), estimate: estimate.Date + "\n" + estimate.Body}
}

// differs reports whether the signals or the estimate are others.
func (s *state) differs(from *state) bool {
	return from == nil || s.estimate != from.estimate || slices.ContainsFunc(signals.All(), func(signal signals.Signal) bool {
		return s.table.Value(signal) != from.table.Value(signal)
	})
}

// pointAt is the issue after a commit, if that commit changed it: a merge does
// when it is different from every parent.
func pointAt(c git.Change, past map[string]*state, id string) (p point, changed bool) {
	now := past[c.After]
	if now == nil {
		return p, false
	}
	handoff := isCheckpointOf(c.Subject, id)
	for _, blob := range c.Before {
		if !now.differs(past[blob]) {
			return p, false
		}
	}
	estimated := !slices.ContainsFunc(c.Before, func(blob string) bool {
		before := past[blob]
		return before != nil && before.estimate == now.estimate || before == nil && now.estimate == "\n"
	})
	surprise, err := strconv.ParseFloat(now.table.Value(signals.Surprise), 64)
	if err != nil { // the schema takes nothing but numbers
		surprise = 0
	}
	return point{
		Commit: c.Commit, Time: c.Time.UTC().Format(time.RFC3339), Subject: c.Subject, Surprise: surprise,
		Progress: now.table.Value(signals.Progress), Cynefin: now.table.Value(signals.Cynefin),
		Handoff: handoff || estimated,
	}, true
}

// isCheckpointOf reads the subject that checkpoint --commit writes.
func isCheckpointOf(subject, id string) bool {
	rest, ok := strings.CutPrefix(subject, "chore(beads): checkpoint ")
	first, _, _ := strings.Cut(rest, " ")
	return ok && first == id
}
