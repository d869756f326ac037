package app

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/beads"
	"stig/checkpoint"
	"stig/dag"
	"stig/draw"
	"stig/notes"
	"stig/orient"
	"stig/process"
	"stig/signals"
)

// Picture draws the whole store, or what is around the issue that is named.
func (a *App) Picture(ids []string) (*draw.Picture, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	if len(ids) == 0 {
		return draw.Draw(file, graph, draw.Whole(file, graph), a.Schema)
	}
	issue, err := file.Find(ids[0])
	if err != nil {
		return nil, err
	}
	at, _ := file.Index(issue.ID)
	return draw.Draw(file, graph, draw.Around(file, graph, at), a.Schema)
}

// OrientRequest asks for what to read before work: on one issue, or without ID for
// the survey of all.
type OrientRequest struct {
	ID        string
	Depth     string // of one issue, instead of its own
	Budget    int    // most characters of the Markdown; 0 is orient.SurveyBudget for the survey, no limit for one issue
	Full      bool   // everything
	As        string // of the survey: whose claims come first
	StaleDays int    // an issue in progress is stale when it was not changed for longer
}

// check refuses what does not go together.
func (r OrientRequest) check() error {
	switch depths := signals.PlanningDepth.Domain(); {
	case r.Depth != "" && !slices.Contains(depths, r.Depth):
		return Usage(fmt.Sprintf("--depth: must be one of %s; found %q", strings.Join(depths, ", "), r.Depth), "")
	case r.Budget != 0 && r.Budget < orient.MinBudget:
		return Usage(fmt.Sprintf("--budget: must be at least %d characters; found %d", orient.MinBudget, r.Budget), "")
	case r.Budget != 0 && r.Full:
		return Usage("--full and --budget exclude each other", "leave one of them out")
	case r.StaleDays < 0:
		return Usage(fmt.Sprintf("--stale-days: must not be negative; found %d", r.StaleDays), "")
	case r.ID == "" && r.Depth != "":
		return Usage("--depth: goes with one issue", "type stig orient ID --depth "+r.Depth)
	case r.ID != "" && r.As != "":
		return Usage("--as: goes with the survey, which names no issue", "type stig orient --as "+r.As)
	}
	return nil
}

// Orientation is what to read before work: a briefing or a survey.
type Orientation struct {
	Briefing *orient.Briefing
	Survey   *orient.Survey
}

// Markdown is the orientation as text.
func (o *Orientation) Markdown() string {
	if o.Briefing != nil {
		return o.Briefing.Markdown()
	}
	return o.Survey.Markdown()
}

// Output is the orientation as data.
func (o *Orientation) Output() Output {
	if o.Briefing != nil {
		return output("briefing", o.Briefing)
	}
	return output("survey", o.Survey)
}

// Orient gives what to read before work.
func (a *App) Orient(ctx context.Context, r OrientRequest) (*Orientation, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.ID == "" {
		survey, err := a.survey(ctx, r)
		return &Orientation{Survey: survey}, err
	}
	briefing, err := a.briefing(ctx, r)
	return &Orientation{Briefing: briefing}, err
}

func (a *App) briefing(ctx context.Context, r OrientRequest) (*orient.Briefing, error) {
	file, at, err := a.OpenIssue(r.ID)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rules, err := a.beforeWork(ctx, file, r.StaleDays)
	if err != nil {
		return nil, err
	}
	return orient.Brief(file, dag.New(file), at, orient.Request{Depth: r.Depth, Budget: r.Budget, Full: r.Full}, rules)
}

func (a *App) survey(ctx context.Context, r OrientRequest) (*orient.Survey, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rules, err := a.beforeWork(ctx, file, r.StaleDays)
	if err != nil {
		return nil, err
	}
	if r.Budget == 0 && !r.Full {
		r.Budget = orient.SurveyBudget
	}
	return orient.Look(file, dag.New(file), orient.SurveyRequest{As: r.As, Budget: r.Budget, Full: r.Full}, rules)
}

// beforeWork refuses a store to begin work from that an unfinished merge left,
// warns of values that were lost, and gives the rules to read it by.
func (a *App) beforeWork(ctx context.Context, file *beads.Snapshot, staleDays int) (orient.Rules, error) {
	if err := a.RefuseUnfinished(ctx, file.Place()); err != nil {
		return orient.Rules{}, err
	}
	a.WarnOfLost(ctx, file.Place())
	return a.Reading(file, staleDays)
}

// OpenIssue opens the store and finds an issue in it.
func (a *App) OpenIssue(id string) (*beads.Snapshot, int, error) {
	file, err := a.Open()
	if err != nil {
		return nil, 0, err
	}
	issue, err := file.Find(id)
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	at, _ := file.Index(issue.ID)
	return file, at, nil
}

// Reading are the rules of whatever reads before work.
func (a *App) Reading(file *beads.Snapshot, staleDays int) (orient.Rules, error) {
	now, err := a.Clock()
	return orient.Rules{
		Schema: a.Schema, Look: process.Finder(filepath.Dir(file.Place().Dir), a.Getenv),
		Now: now, StaleDays: staleDays,
	}, err
}

// ReadyRow is one issue that can be started.
type ReadyRow struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Priority int    `json:"priority"`
	Unblocks int    `json:"unblocks"` // how many unclosed issues wait for it
	Epic     string `json:"epic"`
	Asked    bool   `json:"asked,omitempty"` // waits for a person's answer
}

func (a *App) ReadyRows(file *beads.Snapshot, graph *dag.Graph, ready []int) ([]ReadyRow, error) {
	rows := []ReadyRow{}
	unblocks := graph.Unblocks()
	asked, err := orient.Pending(file, ready, a.Schema)
	if err != nil {
		return nil, err
	}
	for k, i := range ready {
		issue := file.At(i)
		row := ReadyRow{ID: issue.ID, Title: issue.Title, Priority: issue.Priority, Unblocks: unblocks[i], Asked: asked[k]}
		if epic, ok := graph.Epic(i); ok {
			row.Epic = file.At(epic).ID
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Place says what a row belongs to and what waits for it.
func (r ReadyRow) Place() string {
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

// withoutTable picks the issues that have no table: among those named, else
// among all that are not closed.
func (a *App) withoutTable(named []string) ([]string, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var candidates []*beads.Issue
	for _, id := range named {
		issue, err := file.Find(id)
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, issue)
	}
	if len(named) == 0 {
		for _, issue := range file.All() {
			if issue.Status != "closed" && issue.Status != "tombstone" {
				candidates = append(candidates, issue)
			}
		}
	}
	var ids []string
	reader := file.Reader()
	for _, issue := range candidates {
		record, err := reader.Record(issue)
		if err != nil {
			return nil, err
		}
		if len(notes.Parse(record.Text(beads.Notes)).Named(signals.Section)) == 0 {
			ids = append(ids, issue.ID)
		}
	}
	return ids, nil
}

// ListRequest says which issues to list. Every filter must match; one that is empty
// lets everything through.
type ListRequest struct {
	Status, Types, Assignees []string // one of these values
	Priorities               []int    // the same
	Labels                   []string // all of these
	Signals                  []SignalValue
	All                      bool // closed issues too, where Status is empty
	Tables                   bool // the rows have the tables of the issues
}

// SignalValue is a signal with the value that it must have.
type SignalValue struct {
	Signal signals.Signal
	Value  string
}

// ListRow is one issue as it is listed.
type ListRow struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	Status    string         `json:"status"`
	IssueType string         `json:"issue_type"`
	Priority  int            `json:"priority"`
	Assignee  string         `json:"assignee"`
	Signals   *signals.Table `json:"signals"` // the defaults unless tables were asked for
}

// List gives the issues that match, by priority, then id. A value that no issue can
// have is a mistake, not an empty list.
func (a *App) List(r ListRequest) ([]ListRow, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := r.check(file); err != nil {
		return nil, err
	}
	rows := []ListRow{}
	none := signals.Read(notes.Parse(""), a.Schema)
	reader := file.Reader()
	for i, issue := range file.All() {
		if at, _ := file.Index(issue.ID); at != i || !r.matchesIndex(issue) {
			continue
		}
		table, matches, err := r.matchesLine(issue, reader, none, a.Schema)
		if err != nil {
			return nil, err
		}
		if matches {
			rows = append(rows, ListRow{
				ID: issue.ID, Title: issue.Title, Status: issue.Status, IssueType: issue.Type,
				Priority: issue.Priority, Assignee: issue.Assignee, Signals: table,
			})
		}
	}
	slices.SortFunc(rows, func(x, y ListRow) int {
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.ID, y.ID))
	})
	return rows, nil
}

// check refuses values that no issue can have, and gives those of signals the form
// that tables have.
func (r *ListRequest) check(file *beads.Snapshot) error {
	statuses := []string{"open", "in_progress", "blocked", "deferred", "closed", "tombstone", "pinned", "hooked"}
	if err := oneOf(file, "--status", r.Status, statuses, func(i *beads.Issue) string { return i.Status }); err != nil {
		return err
	}
	if err := oneOf(file, "--type", r.Types, checkpoint.Types(), func(i *beads.Issue) string { return i.Type }); err != nil {
		return err
	}
	r.Signals = slices.Clone(r.Signals)
	for i, want := range r.Signals {
		value, err := signals.Canonical(want.Signal, want.Value, nil)
		if err != nil {
			return Usage("--signal: "+err.Error(), "")
		}
		r.Signals[i].Value = value
	}
	return nil
}

// oneOf refuses what is neither usual nor in the store itself.
func oneOf(file *beads.Snapshot, flag string, given, usual []string, of func(*beads.Issue) string) error {
	if len(given) == 0 {
		return nil
	}
	var own []string
	for _, issue := range file.All() {
		if value := of(issue); value != "" && !slices.Contains(usual, value) {
			own = append(own, value)
		}
	}
	slices.Sort(own)
	allowed := slices.Concat(usual, slices.Compact(own))
	for _, value := range given {
		if !slices.Contains(allowed, value) {
			return Usage(fmt.Sprintf("%s: must be one of %s; found %q", flag, strings.Join(allowed, ", "), value), "")
		}
	}
	return nil
}

// matchesIndex reports whether an issue matches by what the index knows of it.
func (r ListRequest) matchesIndex(issue *beads.Issue) bool {
	switch {
	case len(r.Status) > 0:
		if !slices.Contains(r.Status, issue.Status) {
			return false
		}
	case issue.Status == "tombstone", issue.Status == "closed" && !r.All:
		return false
	}
	return (len(r.Types) == 0 || slices.Contains(r.Types, issue.Type)) &&
		(len(r.Priorities) == 0 || slices.Contains(r.Priorities, issue.Priority)) &&
		(len(r.Assignees) == 0 || slices.Contains(r.Assignees, issue.Assignee))
}

// matchesLine reports whether an issue has the labels and the signals, and gives its
// table, which begins as the defaults. Its line is read only where that is needed.
func (r ListRequest) matchesLine(issue *beads.Issue, reader *beads.Reader, table *signals.Table, schema *signals.Schema) (*signals.Table, bool, error) {
	if len(r.Labels) > 0 || issue.HasNotes && (r.Tables || len(r.Signals) > 0) {
		record, err := reader.Record(issue)
		if err != nil {
			return nil, false, err
		}
		if labels := record.Labels(); slices.ContainsFunc(r.Labels, func(l string) bool { return !slices.Contains(labels, l) }) {
			return nil, false, nil
		}
		if issue.HasNotes {
			table = signals.Read(notes.Parse(record.Text(beads.Notes)), schema)
		}
	}
	lacks := func(want SignalValue) bool { return table.Value(want.Signal) != want.Value }
	return table, !slices.ContainsFunc(r.Signals, lacks), nil
}
