package orient

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/beads"
	"stig/fault"
	"stig/notes"
	"stig/signals"
)

// Turn is something that the history of a store holds and the store itself
// does not: how an issue was before a commit, and after it.
type Turn struct {
	ID       string
	Kind     TurnKind
	From, To string
}

// TurnKind says what turned.
type TurnKind int

const (
	Reopened TurnKind = iota // status, from closed to something else
	Shifted                  // cynefin, of an issue that had a signal table before
	WentBack                 // progress, from verifying to something before it
)

// Turns reads the turns of all issues out of the history of a store, the oldest
// first; known is false of a store that has none. A merge counts for what it left different from every parent. Lines that
// cannot be read are passed over: a past version cannot be fixed.
func Turns(ctx context.Context, history beads.History, schema *signals.Schema) (turns []Turn, known bool, err error) {
	versions, err := history.Versions(ctx, "")
	if fault.Is(err, fault.NoRevision) || err == nil && len(versions) == 0 {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	p := past{schema: schema, seed: maphash.MakeSeed(), known: map[uint64]int{}, versions: map[string][]int{}}
	if err := history.Texts(ctx, versions, "", p.take); err != nil {
		return nil, false, err
	}
	for _, v := range versions {
		if v.After != "" {
			turns = append(turns, p.turns(v)...)
		}
	}
	return turns, true, nil
}

// past holds the versions of a store as lists of lines, each line once: a
// commit changes few of them.
type past struct {
	schema   *signals.Schema
	seed     maphash.Seed
	known    map[uint64]int // hash of a line → index in lines
	lines    []standing
	versions map[string][]int // name of a text → indices in lines
}

// standing is what a line says of its issue.
type standing struct {
	id, status string // "" where it cannot be read
	signalled  bool
	cynefin    string
	progress   string
}

func (p *past) take(name string, text []byte) {
	var version []int
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		hash := maphash.Bytes(p.seed, line)
		at, known := p.known[hash]
		if !known {
			at = len(p.lines)
			p.known[hash] = at
			p.lines = append(p.lines, p.standing(line))
		}
		version = append(version, at)
	}
	p.versions[name] = version
}

func (p *past) standing(line []byte) standing {
	record, err := beads.ParseRecord(slices.Clone(line)) // the text does not last
	if err != nil {
		return standing{}
	}
	table := signals.Read(notes.Parse(record.Text(beads.Notes)), p.schema)
	return standing{
		id: record.Text(beads.ID), status: record.Text(beads.Status), signalled: table.Present(),
		cynefin: strings.Clone(table.Value(signals.Cynefin)), progress: strings.Clone(table.Value(signals.Progress)),
	}
}

// turns compares a version with those before it.
func (p *past) turns(v beads.Version) (turns []Turn) {
	stays := map[int]bool{}
	for _, name := range v.Before {
		for _, at := range p.versions[name] {
			stays[at] = true
		}
	}
	now := map[string]standing{}
	for _, at := range p.versions[v.After] {
		if s := p.lines[at]; !stays[at] && s.id != "" {
			now[s.id] = s
		}
	}
	if len(now) == 0 {
		return nil
	}
	for _, name := range v.Before {
		for _, at := range p.versions[name] {
			was := p.lines[at]
			if is, changed := now[was.id]; changed {
				turns = append(turns, was.turn(is)...)
				delete(now, was.id) // the first parent that has it counts
			}
		}
	}
	return turns
}

// turn lists what turned from one version of an issue to the next.
func (s standing) turn(is standing) (turns []Turn) {
	if s.status == beads.StatusClosed && !beads.IsClosed(is.status) {
		turns = append(turns, Turn{is.id, Reopened, s.status, is.status})
	}
	if s.signalled && is.signalled && s.cynefin != is.cynefin {
		turns = append(turns, Turn{is.id, Shifted, s.cynefin, is.cynefin})
	}
	if s.progress == signals.ProgressVerifying && is.progress != s.progress && is.signalled {
		turns = append(turns, Turn{is.id, WentBack, s.progress, is.progress})
	}
	return turns
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

// Trajectory lists the commits that changed an issue's signals or estimate, the oldest
// first: those that a revision since has not, and none from before a time.
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

// state is what a version of the store says of an issue.
type state struct {
	table    *signals.Table
	estimate string
}

// readStates reads an issue in all texts that versions name; nil where it was not there.
func readStates(ctx context.Context, history beads.History, versions []beads.Version, id string, schema *signals.Schema) (map[string]*state, error) {
	states := map[string]*state{}
	known := map[string]*state{} // by the notes, which most versions share
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

// differs reports whether the signals or the estimate are others.
func (s *state) differs(from *state) bool {
	return from == nil || s.estimate != from.estimate || slices.ContainsFunc(signals.All(), func(signal signals.Signal) bool {
		return s.table.Value(signal) != from.table.Value(signal)
	})
}

// pointAt is the issue after a commit, if that commit changed it: a merge does
// when it is different from every parent.
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
	surprise, err := strconv.ParseFloat(now.table.Value(signals.Surprise), 64)
	if err != nil { // the schema takes nothing but numbers
		surprise = 0
	}
	return Point{
		Commit: v.Commit, Time: v.Time.UTC().Format(time.RFC3339), Subject: v.Subject, Surprise: surprise,
		Progress: now.table.Value(signals.Progress), Cynefin: now.table.Value(signals.Cynefin),
		Handoff: handoff || estimated,
	}, true
}

// isCheckpointOf reads the subject that checkpoint --commit writes, and that of a commit
// in a database, which may be of several edits.
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
