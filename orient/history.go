package orient

import (
	"context"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// Point is the state of an issue after a commit.
type Point struct {
	Commit   string   `json:"commit"`
	Time     string   `json:"time"`
	Subject  string   `json:"subject"`
	Surprise *float64 `json:"surprise"` // nil without a signal table, as are Progress and Cynefin
	Progress *string  `json:"progress"`
	Cynefin  *string  `json:"cynefin"`
	Handoff  bool     `json:"handoff"`
}

// Trajectory lists the commits since a revision and after a time that changed an issue's
// signals or estimate, the oldest first.
func Trajectory(ctx context.Context, history beads.History, id, since string, after time.Time, schema *signals.Schema) ([]Point, error) {
	versions, err := history.Versions(ctx, since)
	if err != nil {
		return nil, err
	}
	versions = slices.DeleteFunc(versions, func(v beads.Version) bool { return v.Time.Before(after) })
	states, err := readStates(ctx, history, versions, id, schema)
	if err != nil {
		return nil, err
	}
	points := []Point{}
	for _, v := range versions {
		if p, ok := pointAt(v, states, id); ok {
			points = append(points, p)
		}
	}
	return points, nil
}

// state is the state of an issue in a version of the store.
type state struct {
	table    *signals.Table
	estimate string
}

// readStates reads an issue in the texts of all versions; a version without the issue has no
// entry.
func readStates(ctx context.Context, history beads.History, versions []beads.Version, id string, schema *signals.Schema) (map[string]*state, error) {
	states := map[string]*state{}
	known := map[string]*state{} // cached by notes, which most versions share
	err := history.Texts(ctx, versions, id, func(name string, text []byte) {
		record := beads.RecordIn(text, id)
		if record == nil {
			return
		}
		text = record.Raw(beads.Notes)
		if known[string(text)] == nil {
			known[string(text)] = stateOf(record, schema)
		}
		states[name] = known[string(text)]
	})
	return states, err
}

func stateOf(record *beads.Record, schema *signals.Schema) *state {
	doc := notes.Parse(record.Text(beads.Notes))
	estimate, _ := signals.LastEstimate(doc)
	return &state{table: signals.Read(doc, schema), estimate: estimate.Date + "\n" + estimate.Body}
}

// differs reports whether the signals or the estimate differ.
func (s *state) differs(from *state) bool {
	return from == nil || s.table.Present() != from.table.Present() || s.estimate != from.estimate || slices.ContainsFunc(signals.All(), func(signal signals.Signal) bool {
		return s.table.Value(signal) != from.table.Value(signal)
	})
}

// pointAt returns the issue after a commit, and whether that commit changed it. A merge changed
// it if it differs from every parent.
func pointAt(v beads.Version, past map[string]*state, id string) (p Point, changed bool) {
	now := past[v.After]
	if now == nil {
		return p, false
	}
	handoff := isCheckpointOf(v.Subject, id)
	for _, blob := range v.Before {
		if !now.differs(past[blob]) {
			return p, false
		}
	}
	estimated := !slices.ContainsFunc(v.Before, func(blob string) bool {
		before := past[blob]
		return before != nil && before.estimate == now.estimate || before == nil && now.estimate == "\n"
	})
	p = Point{Commit: v.Commit, Time: v.Time.UTC().Format(time.RFC3339), Subject: v.Subject, Handoff: handoff || estimated}
	if now.table.Present() {
		p.Surprise, p.Progress, p.Cynefin = new(now.table.Number()), new(now.table.Value(signals.Progress)), new(now.table.Value(signals.Cynefin))
	}
	return p, true
}

// isCheckpointOf reports whether a subject is from checkpoint --commit, or from a commit in a
// database, which may contain several edits.
func isCheckpointOf(subject, id string) bool {
	if rest, ok := strings.CutPrefix(subject, "chore(beads): checkpoint "); ok {
		first, _, _ := strings.Cut(rest, " ")
		return first == id
	}
	for edit := range strings.SplitSeq(subject, "; ") {
		if ids, ok := strings.CutPrefix(edit, "stig checkpoint "); ok && slices.Contains(strings.Fields(ids), id) {
			return true
		}
	}
	return false
}
