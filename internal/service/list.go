package service

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// ListRequest says which issues to list. An issue must match all filters; an empty filter
// matches every issue.
type ListRequest struct {
	Status, Types, Assignees []string // any of these values; the assignee @me means the actor, none means unassigned
	Priorities               []int    // any of these
	Labels                   []string // all of these
	Signals                  []SignalValue
	Parent                   string // within this epic
	Since                    string // changed since: a date, a time or an age; see TimeOf
	All                      *bool  // include closed issues if Status is empty; nil means as the view says
	Tables                   bool   // add the signal tables to the rows
	Labelled                 bool   // add the labels to the rows
	Overdue                  bool   // unclosed and past their due time
	BD                       bool   // add bd's objects to the list

	Sort  string // one of SortKeys; "" for priority
	Limit *int   // at most this many; 0 for all, nil means as the view says
	View  string // a view of the configuration; its filters apply where the request has none

	me     string    // the actor that @me means, including its sessions; "" for none
	parent string    // the full id
	since  time.Time // parsed from Since
	now    time.Time
}

// SortKeys returns the keys that a list can be sorted by. Times sort latest first; ties are
// broken by id.
func SortKeys() []string {
	return []string{"priority", "created", "updated", "id", "title", "status"}
}

// SignalValue is a signal with the required value.
type SignalValue struct {
	Signal signals.Signal
	Value  string
}

// ParseSignalValue parses NAME=VALUE.
func ParseSignalValue(text string) (SignalValue, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return SignalValue{}, workspace.Usage(fmt.Sprintf("--signal: must be NAME=VALUE; found %q", text), "for example --signal cynefin=complex")
	}
	s, ok := signals.Named(name)
	if !ok {
		var names []string
		for _, s := range signals.All() {
			names = append(names, s.String())
		}
		return SignalValue{}, workspace.Usage(fmt.Sprintf("--signal: must be one of %s; found %q", strings.Join(names, ", "), name), "")
	}
	return SignalValue{s, value}, nil
}

// ListRow is one listed issue.
type ListRow struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	Status    string         `json:"status"`
	IssueType string         `json:"issue_type"`
	Priority  int            `json:"priority"`
	Assignee  string         `json:"assignee"`
	Signals   *signals.Table `json:"signals"` // empty unless tables were requested

	Updated time.Time `json:"-"` // zero if unknown
	created time.Time
	labels  []string
}

// Listed is the listed issues and the number of all that match.
type Listed struct {
	Rows    []ListRow  `json:"issues"`
	Total   int        `json:"total"`
	Waiting int        `json:"waiting,omitempty"` // if status blocked is requested: number of other issues that wait for unclosed ones
	BD      []BDObject `json:"-"`                 // the rows as bd's objects
}

// List returns the matching issues, up to the limit, and how many match in all. A value that no
// issue can have is an error, not an empty list.
func List(a *workspace.Run, r ListRequest) (*Listed, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if r, err = viewed(a, r); err != nil {
		return nil, err
	}
	if err := checkList(a, file, &r); err != nil {
		return nil, err
	}
	rows, err := r.rows(file, a.Schema)
	if err != nil {
		return nil, err
	}
	list := &Listed{Rows: rows, Total: len(rows)}
	if r.Limit != nil && *r.Limit > 0 {
		list.Rows = rows[:min(*r.Limit, list.Total)]
	}
	if slices.Contains(r.Status, beads.StatusBlocked) {
		if list.Waiting, err = r.waiting(file, a.Schema); err != nil {
			return nil, err
		}
	}
	if r.BD {
		var ids []string
		for _, row := range list.Rows {
			ids = append(ids, row.ID)
		}
		list.BD, err = bdList(file, ids, nil)
	}
	return list, err
}

// waiting counts the issues that depend on unclosed ones and match except for their status.
func (r ListRequest) waiting(file *beads.Snapshot, schema *signals.Schema) (n int, err error) {
	graph, listed := dag.New(file), r.Status
	r.Status, r.All = nil, nil
	rows, err := r.rows(file, schema)
	for _, row := range rows {
		i, _ := file.Index(row.ID)
		if !slices.Contains(listed, row.Status) && waits(graph, file.At(i), i) {
			n++
		}
	}
	return n, err
}

// rows returns the matching issues in the order of the list.
func (r ListRequest) rows(file *beads.Snapshot, schema *signals.Schema) ([]ListRow, error) {
	rows := []ListRow{}
	none := signals.Read(notes.Parse(""), schema)
	reader := file.Reader()
	for i, issue := range file.All() {
		if at, _ := file.Index(issue.ID); at != i || !r.matchesIndex(issue) {
			continue
		}
		row := ListRow{
			ID: issue.ID, Title: issue.Title, Status: issue.Status, IssueType: issue.Type,
			Priority: issue.Priority, Assignee: issue.Assignee, Signals: none, Updated: issue.UpdatedAt,
		}
		matches, err := r.matchesLine(issue, reader, &row, schema)
		if err != nil {
			return nil, err
		}
		if matches {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, r.order)
	return rows, nil
}

// order compares rows by the sort key.
func (r ListRequest) order(x, y ListRow) int {
	byID := cmp.Compare(x.ID, y.ID)
	switch r.Sort {
	case "created":
		return cmp.Or(y.created.Compare(x.created), byID)
	case "updated":
		return cmp.Or(y.Updated.Compare(x.Updated), byID)
	case "id":
		return byID
	case "title":
		return cmp.Or(cmp.Compare(strings.ToLower(x.Title), strings.ToLower(y.Title)), byID)
	case "status":
		return cmp.Or(cmp.Compare(x.Status, y.Status), cmp.Compare(x.Priority, y.Priority), byID)
	}
	return cmp.Or(cmp.Compare(x.Priority, y.Priority), byID)
}

// viewed returns the request, with the view's filters where it has none.
func viewed(a *workspace.Run, r ListRequest) (ListRequest, error) {
	if r.View == "" {
		return r, nil
	}
	v, ok := a.Config.Views[r.View]
	if !ok {
		names := slices.Sorted(maps.Keys(a.Config.Views))
		if len(names) == 0 {
			return r, workspace.Usage(fmt.Sprintf("--view: the configuration has no views; found %q", r.View), "add views: {NAME: {status: [\"open\"]}} to .stig.cue")
		}
		return r, workspace.Usage(fmt.Sprintf("--view: must be one of %s; found %q", strings.Join(names, ", "), r.View), "")
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
	r.Limit, r.All = cmp.Or(r.Limit, &v.Limit), cmp.Or(r.All, &v.All)
	return r, nil
}

// checkList validates the request and resolves what it names.
func checkList(a *workspace.Run, file *beads.Snapshot, r *ListRequest) error {
	if err := r.check(file); err != nil {
		return err
	}
	if r.Limit != nil && *r.Limit < 0 {
		return workspace.Usage(fmt.Sprintf("--limit: must not be negative; found %d", *r.Limit), "")
	}
	if r.Sort != "" && !slices.Contains(SortKeys(), r.Sort) {
		return workspace.Usage(fmt.Sprintf("--sort: must be one of %s; found %q", strings.Join(SortKeys(), ", "), r.Sort), "")
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
	r.now = now
	if r.since, err = workspace.TimeOf(r.Since, now); err != nil {
		return err
	}
	r.Assignees = slices.Clone(r.Assignees)
	for i, name := range r.Assignees {
		switch name {
		case "@me":
			if r.me, err = a.MustActor(a.Ctx); err != nil {
				return err
			}
		case "none":
			r.Assignees[i] = ""
		}
	}
	return nil
}

// Statuses returns the statuses that the format has.
func Statuses() []string {
	return []string{
		beads.StatusOpen, beads.StatusInProgress, beads.StatusBlocked, beads.StatusDeferred,
		beads.StatusClosed, beads.StatusTombstone, beads.StatusPinned, beads.StatusHooked,
	}
}

// check rejects values that no issue can have, and puts signal values into canonical form.
func (r *ListRequest) check(file *beads.Snapshot) error {
	if err := oneOf(file, "--status", r.Status, Statuses(), func(i *beads.Issue) string { return i.Status }); err != nil {
		return err
	}
	if err := oneOf(file, "--type", r.Types, checkpoint.Types(), func(i *beads.Issue) string { return i.Type }); err != nil {
		return err
	}
	r.Signals = slices.Clone(r.Signals)
	for i, want := range r.Signals {
		value, err := signals.Canonical(want.Signal, want.Value, nil)
		if err != nil {
			return workspace.Usage("--signal: "+err.Error(), "")
		}
		r.Signals[i].Value = value
	}
	return nil
}

// oneOf rejects values that are neither usual nor used in the store.
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
			return workspace.Usage(fmt.Sprintf("%s: must be one of %s; found %q", flag, strings.Join(allowed, ", "), value), "")
		}
	}
	return nil
}

// matchesIndex reports whether an issue matches as far as the index knows.
func (r ListRequest) matchesIndex(issue *beads.Issue) bool {
	switch {
	case len(r.Status) > 0:
		if !slices.Contains(r.Status, issue.Status) {
			return false
		}
	case issue.Status == beads.StatusTombstone, issue.Status == beads.StatusClosed && (r.All == nil || !*r.All):
		return false
	}
	return (len(r.Types) == 0 || slices.Contains(r.Types, issue.Type)) &&
		(len(r.Priorities) == 0 || slices.Contains(r.Priorities, issue.Priority)) &&
		(len(r.Assignees) == 0 || slices.Contains(r.Assignees, issue.Assignee) || clone.BelongsTo(issue.Assignee, r.me)) &&
		(r.parent == "" || slices.ContainsFunc(issue.Deps, func(d beads.Dep) bool { return d.On == r.parent && dag.Contains(d.Type) })) &&
		!issue.UpdatedAt.Before(r.since)
}

// matchesLine reports whether an issue has the labels and signals, and adds to its row what
// only its line contains. The line is read only if needed.
func (r ListRequest) matchesLine(issue *beads.Issue, reader *beads.Reader, row *ListRow, schema *signals.Schema) (bool, error) {
	if len(r.Labels) > 0 || r.Labelled || r.Overdue || r.Sort == "created" || issue.HasNotes && (r.Tables || len(r.Signals) > 0) {
		record, err := reader.Record(issue)
		if err != nil {
			return false, err
		}
		row.labels = record.Labels()
		if slices.ContainsFunc(r.Labels, func(l string) bool { return !slices.Contains(row.labels, l) }) {
			return false, nil
		}
		if due, ok := record.Time(beads.DueAt); r.Overdue && (!ok || !due.Before(r.now) || beads.IsClosed(issue.Status)) {
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

// SearchRequest asks which issues contain words in any of their texts.
type SearchRequest struct {
	Words string
	Open  bool         // leave out closed issues
	Among *ListRequest // only issues that match; its Sort, Limit and View are ignored
	Limit int          // at most this many; 0 for all
}

// SearchRow is one issue that was found.
type SearchRow struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Status   string  `json:"status"`
	Priority int     `json:"priority"`
	Words    int     `json:"words"` // how many of the words were found
	Score    float64 `json:"score"`
	Field    string  `json:"field"`   // the best matching key
	Excerpt  string  `json:"excerpt"` // its best matching line

	IssueType, Assignee string    `json:"-"`
	Updated             time.Time `json:"-"` // zero if unknown
}

// searched returns the searched fields of an issue and their weights.
func searched(r *beads.Record) orient.Document {
	var comments []string
	for _, c := range r.Comments() {
		comments = append(comments, c.Text)
	}
	d := orient.Document{Fields: []orient.Field{
		{Name: "labels", Text: strings.Join(r.Labels(), "\n"), Weight: 3}, {Name: "comments", Text: strings.Join(comments, "\n"), Weight: 1},
	}}
	for _, f := range []struct {
		key    beads.Key
		weight float64
	}{
		{beads.ID, 8}, {beads.Title, 4}, {beads.ExternalRef, 3}, {beads.Description, 1}, {beads.Design, 1},
		{beads.AcceptanceCriteria, 1}, {beads.Notes, 1}, {beads.CloseReason, 1},
	} {
		d.Fields = append(d.Fields, orient.Field{Name: string(f.key), Text: r.Text(f.key), Weight: f.weight})
	}
	return d
}

// Search finds issues, including closed ones, by words in any of their texts, best first, up to
// the limit, and returns how many there are in all. See orient.Search for the order.
func Search(a *workspace.Run, r SearchRequest) (rows []SearchRow, total int, err error) {
	if len(orient.Words(r.Words)) == 0 {
		return nil, 0, workspace.Usage(fmt.Sprintf("search: must be words; found %q", r.Words), "type for example stig search tide gauge")
	}
	if r.Limit < 0 {
		return nil, 0, workspace.Usage(fmt.Sprintf("--limit: must not be negative; found %d", r.Limit), "")
	}
	file, err := a.Open()
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	among := &ListRequest{All: new(true)}
	if r.Among != nil {
		*among = *r.Among
	}
	if *among, err = viewed(a, *among); err != nil {
		return nil, 0, err
	}
	if err := checkList(a, file, among); err != nil {
		return nil, 0, err
	}
	var places []int
	none := signals.Read(notes.Parse(""), a.Schema)
	reader := file.Reader()
	hits := orient.Search(r.Words, func(yield func(orient.Document) bool) {
		for i, issue := range file.All() {
			if at, _ := file.Index(issue.ID); at != i || r.Open && issue.Status == beads.StatusClosed || !among.matchesIndex(issue) {
				continue
			}
			var matches bool
			if matches, err = among.matchesLine(issue, reader, &ListRow{Signals: none}, a.Schema); err != nil {
				return
			} else if !matches {
				continue
			}
			var record *beads.Record
			if record, err = reader.Record(issue); err != nil {
				return
			}
			if places = append(places, i); !yield(searched(record)) {
				return
			}
		}
	})
	if err != nil {
		return nil, 0, err
	}
	if total = len(hits); r.Limit > 0 {
		hits = hits[:min(r.Limit, total)]
	}
	rows = []SearchRow{}
	for _, hit := range hits {
		issue := file.At(places[hit.Doc])
		record, err := issue.Record()
		if err != nil {
			return nil, 0, err
		}
		rows = append(rows, SearchRow{
			ID: issue.ID, Title: issue.Title, Status: issue.Status, Priority: issue.Priority, IssueType: issue.Type, Assignee: issue.Assignee, Updated: issue.UpdatedAt,
			Words: hit.Words, Score: math.Round(hit.Score*1000) / 1000, Field: hit.Field, Excerpt: excerpt(searched(record), hit.Field, r.Words),
		})
	}
	return rows, total, nil
}

// excerpt returns the line of a field that matches the words best.
func excerpt(d orient.Document, field, words string) string {
	for _, f := range d.Fields {
		if f.Name != field {
			continue
		}
		lines := strings.Split(f.Text, "\n")
		best := orient.Search(words, func(yield func(orient.Document) bool) {
			for _, line := range lines {
				if !yield(orient.Document{Fields: []orient.Field{{Text: line, Weight: 1}}}) {
					return
				}
			}
		})
		if len(best) > 0 {
			return visible.OneLine(lines[best[0].Doc])
		}
	}
	return ""
}
