package app

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/beads"
	"stig/dag"
	"stig/git"
	"stig/notes"
	"stig/orient"
	"stig/process"
	"stig/signals"
)

// LookBack computes the retrospective of the store or of an epic.
func (a *App) LookBack(ctx context.Context, args []string, last int) (*orient.Retro, beads.Place, error) {
	file, err := a.Open()
	if err != nil {
		return nil, beads.Place{}, err
	}
	defer file.Close()
	request := orient.RetroRequest{Last: last}
	graph := dag.New(file)
	if len(args) == 1 {
		epic, err := file.Find(args[0])
		if err != nil {
			return nil, file.Place(), err
		}
		if at, _ := file.Index(epic.ID); len(graph.Children(at)) == 0 {
			return nil, file.Place(), Usage(epic.ID+": holds no issues", "name an epic, or none for the whole store")
		}
		request.Epic = epic.ID
	}
	if request.Turns, request.History, err = a.turns(ctx, file.Place()); err != nil {
		return nil, file.Place(), err
	}
	rules, err := a.Reading(file, signals.ThresholdStaleDays)
	if err != nil {
		return nil, file.Place(), err
	}
	r, err := orient.LookBack(file, graph, request, rules)
	return r, file.Place(), err
}

// turns reads the history of the store, where it has one.
func (a *App) turns(ctx context.Context, store beads.Place) (turns []orient.Turn, known bool, err error) {
	if !process.Finder("", a.Getenv)("git") {
		return nil, false, nil
	}
	repo, path, err := a.Git(store)
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
	turns, err = orient.Turns(changes, read, a.Schema)
	return turns, err == nil, err
}

// Point is an issue as a commit left it.
type Point struct {
	Commit   string  `json:"commit"`
	Time     string  `json:"time"`
	Subject  string  `json:"subject"`
	Surprise float64 `json:"surprise"`
	Progress string  `json:"progress"`
	Cynefin  string  `json:"cynefin"`
	Handoff  bool    `json:"handoff"`
}

// Trajectory lists the commits that changed an issue's signals or estimate,
// the oldest first.
func (a *App) Trajectory(ctx context.Context, store beads.Place, id, since string) ([]Point, error) {
	repo, path, err := a.Git(store)
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
		return nil, Usage(unknown.Reason, "the trajectory of an issue is git's history of "+store.Path)
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
	points := []Point{}
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
func (a *App) pastOf(ctx context.Context, repo git.Client, changes []git.Change, id string) (map[string]*state, error) {
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
			known[string(text)] = stateOf(record, a.Schema)
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
func pointAt(c git.Change, past map[string]*state, id string) (p Point, changed bool) {
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
	return Point{
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
