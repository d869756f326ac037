package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
func (a *App) beforeWork(ctx context.Context, file *beads.File, staleDays int) (orient.Rules, error) {
	if err := a.RefuseUnfinished(ctx, file.Store()); err != nil {
		return orient.Rules{}, err
	}
	a.WarnOfLost(ctx, file.Store())
	return a.Reading(file, staleDays)
}

// OpenQuietly reads the store without saying anything; nil where there is none, or
// where it cannot be read.
func (a *App) OpenQuietly() *beads.File {
	store, err := a.Discover()
	if _, wrong := errors.AsType[*configError](err); err != nil && !wrong {
		return nil
	}
	file, err := beads.Read(store)
	if err != nil {
		return nil
	}
	return file
}

// OpenIssue opens the store and finds an issue in it.
func (a *App) OpenIssue(id string) (*beads.File, int, error) {
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
func (a *App) Reading(file *beads.File, staleDays int) (orient.Rules, error) {
	now, err := a.Clock()
	return orient.Rules{
		Schema: a.Schema, Look: process.Finder(filepath.Dir(file.Store().Dir), a.Getenv),
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

func (a *App) ReadyRows(file *beads.File, graph *dag.Graph, ready []int) ([]ReadyRow, error) {
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
	Status, Types, Assignees []string // one of these values; the assignee @me is who asks, none is nobody
	Priorities               []int    // the same
	Labels                   []string // all of these
	Signals                  []SignalValue
	Parent                   string // the epic that holds them
	Since                    string // changed since then: a day, a time or an age; see TimeOf
	All                      bool   // closed issues too, where Status is empty
	Tables                   bool   // the rows have the tables of the issues

	Sort  string // one of SortKeys; "" for priority
	Limit int    // the first so many; 0 for all
	View  string // the name of a view of the configuration: its filters count where the request has none

	parent string    // the whole id
	since  time.Time // Since
}

// SortKeys are what a list can be sorted by: times the latest first, and then by
// id.
func SortKeys() []string {
	return []string{"priority", "created", "updated", "id", "title", "status"}
}

// SignalValue is a signal with the value that it must have.
type SignalValue struct {
	Signal signals.Signal
	Value  string
}

// ParseSignalValue reads NAME=VALUE.
func ParseSignalValue(text string) (SignalValue, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return SignalValue{}, Usage(fmt.Sprintf("--signal: must be NAME=VALUE; found %q", text), "for example --signal cynefin=complex")
	}
	s, ok := signals.Named(name)
	if !ok {
		var names []string
		for _, s := range signals.All() {
			names = append(names, s.String())
		}
		return SignalValue{}, Usage(fmt.Sprintf("--signal: must be one of %s; found %q", strings.Join(names, ", "), name), "")
	}
	return SignalValue{s, value}, nil
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

	created, updated time.Time
}

// List gives the issues that match, and how many there are with those beyond the
// limit. A value that no issue can have is a mistake, not an empty list.
func (a *App) List(r ListRequest) (rows []ListRow, total int, err error) {
	file, err := a.Open()
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if r, err = a.viewed(r); err != nil {
		return nil, 0, err
	}
	if err := a.checkList(file, &r); err != nil {
		return nil, 0, err
	}
	rows = []ListRow{}
	none := signals.Read(notes.Parse(""), a.Schema)
	reader := file.Reader()
	for i, issue := range file.All() {
		if at, _ := file.Index(issue.ID); at != i || !r.matchesIndex(issue) {
			continue
		}
		row := ListRow{
			ID: issue.ID, Title: issue.Title, Status: issue.Status, IssueType: issue.Type,
			Priority: issue.Priority, Assignee: issue.Assignee, Signals: none, updated: issue.UpdatedAt,
		}
		matches, err := r.matchesLine(issue, reader, &row, a.Schema)
		if err != nil {
			return nil, 0, err
		}
		if matches {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, r.order)
	total = len(rows)
	if r.Limit > 0 {
		rows = rows[:min(r.Limit, total)]
	}
	return rows, total, nil
}

// order compares rows by the key that the list is sorted by.
func (r ListRequest) order(x, y ListRow) int {
	byID := cmp.Compare(x.ID, y.ID)
	switch r.Sort {
	case "created":
		return cmp.Or(y.created.Compare(x.created), byID)
	case "updated":
		return cmp.Or(y.updated.Compare(x.updated), byID)
	case "id":
		return byID
	case "title":
		return cmp.Or(cmp.Compare(strings.ToLower(x.Title), strings.ToLower(y.Title)), byID)
	case "status":
		return cmp.Or(cmp.Compare(x.Status, y.Status), cmp.Compare(x.Priority, y.Priority), byID)
	}
	return cmp.Or(cmp.Compare(x.Priority, y.Priority), byID)
}

// viewed gives the request with the filters of its view where it has none.
func (a *App) viewed(r ListRequest) (ListRequest, error) {
	if r.View == "" {
		return r, nil
	}
	v, ok := a.Config.Views[r.View]
	if !ok {
		names := slices.Sorted(maps.Keys(a.Config.Views))
		if len(names) == 0 {
			return r, Usage(fmt.Sprintf("--view: the configuration has no views; found %q", r.View), "write views: {NAME: {status: [\"open\"]}} into .stig.cue")
		}
		return r, Usage(fmt.Sprintf("--view: must be one of %s; found %q", strings.Join(names, ", "), r.View), "")
	}
	for _, set := range []struct {
		to   *[]string
		view []string
	}{{&r.Status, v.Status}, {&r.Types, v.Type}, {&r.Assignees, v.Assignee}, {&r.Labels, v.Label}} {
		if len(*set.to) == 0 {
			*set.to = set.view
		}
	}
	if len(r.Priorities) == 0 {
		r.Priorities = v.Priority
	}
	if len(r.Signals) == 0 {
		for _, text := range v.Signal {
			s, err := ParseSignalValue(text)
			if err != nil {
				return r, err
			}
			r.Signals = append(r.Signals, s)
		}
	}
	r.Parent, r.Since, r.Sort = cmp.Or(r.Parent, v.Parent), cmp.Or(r.Since, v.Since), cmp.Or(r.Sort, v.Sort)
	r.Limit, r.All = cmp.Or(r.Limit, v.Limit), r.All || v.All
	return r, nil
}

// checkList refuses values that no issue can have, and finds what a request names.
func (a *App) checkList(file *beads.File, r *ListRequest) error {
	if err := r.check(file); err != nil {
		return err
	}
	if r.Limit < 0 {
		return Usage(fmt.Sprintf("--limit: must not be negative; found %d", r.Limit), "")
	}
	if r.Sort != "" && !slices.Contains(SortKeys(), r.Sort) {
		return Usage(fmt.Sprintf("--sort: must be one of %s; found %q", strings.Join(SortKeys(), ", "), r.Sort), "")
	}
	if r.Parent != "" {
		epic, err := file.Find(r.Parent)
		if err != nil {
			return err
		}
		r.parent = epic.ID
	}
	now, err := a.Clock()
	if err != nil {
		return err
	}
	if r.since, err = TimeOf(r.Since, now); err != nil {
		return Usage("--since: "+err.Error(), Classify(err).Hint)
	}
	r.Assignees = slices.Clone(r.Assignees)
	for i, name := range r.Assignees {
		switch name {
		case "@me":
			if r.Assignees[i], err = a.MustActor(a.Ctx); err != nil {
				return err
			}
		case "none":
			r.Assignees[i] = ""
		}
	}
	return nil
}

// check refuses values that no issue can have, and gives those of signals the form
// that tables have.
func (r *ListRequest) check(file *beads.File) error {
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
func oneOf(file *beads.File, flag string, given, usual []string, of func(*beads.Issue) string) error {
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
		(len(r.Assignees) == 0 || slices.Contains(r.Assignees, issue.Assignee)) &&
		(r.parent == "" || slices.ContainsFunc(issue.Deps, func(d beads.Dep) bool { return d.On == r.parent && dag.Contains(d.Type) })) &&
		!issue.UpdatedAt.Before(r.since)
}

// matchesLine reports whether an issue has the labels and the signals, and puts into
// its row what only its line says. The line is read only where that is needed.
func (r ListRequest) matchesLine(issue *beads.Issue, reader *beads.Reader, row *ListRow, schema *signals.Schema) (bool, error) {
	if len(r.Labels) > 0 || r.Sort == "created" || issue.HasNotes && (r.Tables || len(r.Signals) > 0) {
		record, err := reader.Record(issue)
		if err != nil {
			return false, err
		}
		if labels := record.Labels(); slices.ContainsFunc(r.Labels, func(l string) bool { return !slices.Contains(labels, l) }) {
			return false, nil
		}
		row.created, _ = record.Time(beads.CreatedAt)
		if issue.HasNotes {
			row.Signals = signals.Read(notes.Parse(record.Text(beads.Notes)), schema)
		}
	}
	lacks := func(want SignalValue) bool { return row.Signals.Value(want.Signal) != want.Value }
	return !slices.ContainsFunc(r.Signals, lacks), nil
}
