package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// These services provide what bd prints and stig has no format of its own for: bd's objects,
// blocked issues, counts, and the dependency tree.

// BDObject is an issue as bd prints it with --json: the keys of its line as they are, and the
// keys that bd computes.
type BDObject = json.RawMessage

// bdKeys are the keys that bd computes or whose values it replaces.
type bdKeys map[beads.Key]any

// bdObject returns the object of a line, with the computed keys last, in the given order.
func bdObject(r *beads.Record, computed bdKeys, order ...beads.Key) (BDObject, error) {
	text := []byte{'{'}
	add := func(k beads.Key, value []byte) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		name, _ := json.Marshal(string(k)) // marshaling a string cannot fail
		text = append(append(append(text, name...), ':'), value...)
	}
	for _, k := range r.Keys() {
		if _, again := computed[k]; !again && k != "_type" {
			add(k, r.Raw(k))
		}
	}
	for _, k := range order {
		if computed[k] == nil {
			continue
		}
		value, err := json.Marshal(computed[k])
		if err != nil {
			return nil, err
		}
		add(k, value)
	}
	return append(text, '}'), nil
}

// bdCounts counts, by issue, the rows of type blocks that it has and those that name it.
type bdCounts struct{ holds, named map[string]int }

func countBlocks(file *beads.Snapshot) bdCounts {
	c := bdCounts{map[string]int{}, map[string]int{}}
	for _, issue := range file.All() {
		for _, d := range issue.Deps {
			if d.Type == "blocks" {
				c.holds[issue.ID]++
				c.named[d.On]++
			}
		}
	}
	return c
}

// keys returns the keys that bd adds to an issue in a list.
func (c bdCounts) keys(issue *beads.Issue, r *beads.Record) bdKeys {
	keys := bdKeys{"dependency_count": c.holds[issue.ID], "dependent_count": c.named[issue.ID], "comment_count": len(r.Comments()), "parent": nil}
	for _, d := range issue.Deps {
		if dag.Contains(d.Type) {
			keys["parent"] = d.On
			break
		}
	}
	return keys
}

var bdListed = []beads.Key{"dependency_count", "dependent_count", "comment_count", "parent", "blocked_by_count", "blocked_by"}

// bdList returns issues as bd list and bd ready print them. more adds keys to an issue; it may
// be nil.
func bdList(file *beads.Snapshot, ids []string, more func(id string, keys bdKeys)) ([]BDObject, error) {
	list, counts, reader := []BDObject{}, countBlocks(file), file.Reader()
	for _, id := range ids {
		at, _ := file.Index(id)
		record, err := reader.Record(file.At(at))
		if err != nil {
			return nil, err
		}
		keys := counts.keys(file.At(at), record)
		if more != nil {
			more(id, keys)
		}
		object, err := bdObject(record, keys, bdListed...)
		if err != nil {
			return nil, err
		}
		list = append(list, object)
	}
	return list, nil
}

// IssuesBD returns the issues that exist, as bd show prints them: the issues it depends on and
// those that depend on it are objects too, each with the type of the row. Rows whose issue is
// not in the store are left out. The error (fault.NotFound) names the first id that is not
// found.
func IssuesBD(a *workspace.Run, ids []string) (list []BDObject, missing error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	counts := countBlocks(file)
	for _, id := range ids {
		at, err := placeOf(file, id)
		if fault.Is(err, fault.NotFound) {
			missing = cmp.Or(missing, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		object, err := bdShown(file, counts, at)
		if err != nil {
			return nil, err
		}
		list = append(list, object)
	}
	return list, missing
}

func bdShown(file *beads.Snapshot, counts bdCounts, at int) (BDObject, error) {
	issue := file.At(at)
	record, err := issue.Record()
	if err != nil {
		return nil, err
	}
	keys := counts.keys(issue, record)
	linked := func(list []BDObject, at int, kind string) ([]BDObject, error) {
		r, err := file.At(at).Record()
		if err != nil {
			return nil, err
		}
		object, err := bdObject(r, bdKeys{beads.Dependencies: nil, beads.Comments: nil, "dependency_type": kind}, "dependency_type")
		return append(list, object), err
	}
	var on, by []BDObject
	for _, d := range issue.Deps {
		if i, ok := file.Index(d.On); ok && err == nil {
			on, err = linked(on, i, d.Type)
		}
	}
	for _, in := range dag.AllIncoming(file, at) {
		if err == nil {
			by, err = linked(by, in.From, in.Type)
		}
	}
	if err != nil {
		return nil, err
	}
	keys[beads.Dependencies], keys["dependents"] = present(on), present(by)
	return bdObject(record, keys, append([]beads.Key{beads.Dependencies, "dependents"}, bdListed...)...)
}

// present returns list as a JSON value, or nil for an empty list, whose key bd omits.
func present(list []BDObject) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// BlockedRow is an unclosed issue that depends on others.
type BlockedRow struct {
	ID        string   `json:"id"`
	Title     string   `json:"title"`
	Status    string   `json:"status"`
	Priority  int      `json:"priority"`
	BlockedBy []string `json:"blocked_by"` // blockers of it and of the epics above it: issues, and references to other stores
	Holds     []string `json:"holds"`      // the same in words, to print after its id
}

// BlockedList contains the blocked issues, by priority, then id.
type BlockedList struct {
	Rows          []BlockedRow `json:"issues"`
	Total         int          `json:"total"`
	StatusBlocked int          `json:"status_blocked"` // number of others that have status blocked but wait for no issue
	BD            []BDObject   `json:"-"`
}

// Blocked lists the issues with unclosed blockers, only those within epic if one is given.
func Blocked(a *workspace.Run, epic string) (*BlockedList, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph, list := dag.New(file), &BlockedList{Rows: []BlockedRow{}}
	within := func(int) bool { return true }
	if epic != "" {
		at, err := placeOf(file, epic)
		if err != nil {
			return nil, err
		}
		inside := graph.Inside(at)
		within = func(i int) bool { return slices.Contains(inside, i) }
	}
	for i, issue := range file.All() {
		switch {
		case !waits(graph, issue, i) || !within(i):
		case graph.Blocked(i):
			list.Rows = append(list.Rows, blockedRow(file, i, graph.Holds(i, now)))
		case issue.Status == beads.StatusBlocked:
			list.StatusBlocked++
		}
	}
	slices.SortFunc(list.Rows, func(x, y BlockedRow) int {
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.ID, y.ID))
	})
	list.Total = len(list.Rows)
	rows := map[string]BlockedRow{}
	var ids []string
	for _, row := range list.Rows {
		rows[row.ID], ids = row, append(ids, row.ID)
	}
	list.BD, err = bdList(file, ids, func(id string, keys bdKeys) {
		keys["blocked_by"], keys["blocked_by_count"] = rows[id].BlockedBy, len(rows[id].BlockedBy)
	})
	return list, err
}

// waits reports whether an issue is work that is blocked or has status blocked.
func waits(graph *dag.Graph, issue *beads.Issue, i int) bool {
	return graph.Lasting(i) && !graph.Closed(i) && !issue.IsPinned() && (graph.Blocked(i) || issue.Status == beads.StatusBlocked)
}

func blockedRow(file *beads.Snapshot, i int, holds []dag.Hold) BlockedRow {
	issue := file.At(i)
	row := BlockedRow{ID: issue.ID, Title: issue.Title, Status: issue.Status, Priority: issue.Priority, BlockedBy: []string{}}
	holds = slices.DeleteFunc(holds, func(h dag.Hold) bool { return h.Kind == dag.HeldByDeferral })
	for _, h := range holds {
		on := ""
		switch h.Kind {
		case dag.HeldByBlocker, dag.HeldByFirstChild, dag.HeldByCondition:
			on = file.At(h.On).ID
		case dag.HeldByExternal:
			on = h.Raw
		}
		if on != "" && !slices.Contains(row.BlockedBy, on) {
			row.BlockedBy = append(row.BlockedBy, on)
		}
	}
	row.Holds = dag.Standing{Holds: holds}.Words(i, namesOf(file))
	return row
}

// GroupKeys are what Count can group issues by.
func GroupKeys() []string { return []string{"status", "priority", "type", "assignee", "label"} }

// Group is the number of issues that have one value.
type Group struct {
	Group string `json:"group"`
	Count int    `json:"count"`
}

// Counted is the number of matching issues, and the counts by group, sorted by name, if groups
// were requested.
type Counted struct {
	Count  int     `json:"count"`
	Total  int     `json:"total,omitzero"` // the same as Count, if there are groups
	Groups []Group `json:"groups,omitzero"`
}

// Count counts the matching issues, including closed ones unless the request has a status. If
// by is one of GroupKeys it counts each group; an issue is in one group for each of its labels.
func Count(a *workspace.Run, r ListRequest, by string) (*Counted, error) {
	if by != "" && !slices.Contains(GroupKeys(), by) {
		return nil, workspace.Usage(fmt.Sprintf("--by: must be one of %s; found %q", strings.Join(GroupKeys(), ", "), by), "")
	}
	if r.All == nil {
		r.All = new(true)
	}
	r.Labelled = by == "label"
	list, err := List(a, r)
	if err != nil {
		return nil, err
	}
	counted, groups := &Counted{Count: list.Total}, map[string]int{}
	if by == "" {
		return counted, nil
	}
	for _, row := range list.Rows {
		for _, group := range row.groups(by) {
			groups[group]++
		}
	}
	counted.Total, counted.Groups = list.Total, []Group{}
	for group, n := range groups {
		counted.Groups = append(counted.Groups, Group{group, n})
	}
	slices.SortFunc(counted.Groups, func(x, y Group) int { return cmp.Compare(x.Group, y.Group) })
	return counted, nil
}

// groups returns the groups of an issue for a key, named as in bd.
func (r ListRow) groups(by string) []string {
	switch by {
	case "priority":
		return []string{fmt.Sprintf("P%d", r.Priority)}
	case "type":
		return []string{r.IssueType}
	case "assignee":
		return []string{cmp.Or(r.Assignee, "(unassigned)")}
	case "label":
		if len(r.labels) == 0 {
			return []string{"(no labels)"}
		}
		return r.labels
	}
	return []string{r.Status}
}

// Statistics are the issue counts of a store, under bd's names. Blocked counts the issues that
// Blocked lists, and ready those that the reader can claim.
type Statistics struct {
	Total      int `json:"total_issues"`
	Open       int `json:"open_issues"`
	InProgress int `json:"in_progress_issues"`
	Closed     int `json:"closed_issues"`
	Blocked    int `json:"blocked_issues"`
	Deferred   int `json:"deferred_issues"`
	Ready      int `json:"ready_issues"`
	Pinned     int `json:"pinned_issues"`
	Complete   int `json:"epics_eligible_for_closure"`
}

// Stats counts the issues of a store.
func Stats(ctx context.Context, a *workspace.Run) (*Statistics, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph, s := dag.New(file), &Statistics{}
	rows, err := readyRows(ctx, a, file, graph, now, "")
	if err != nil {
		return nil, err
	}
	s.Ready = len(takeable(rows))
	for i, issue := range file.All() {
		if !graph.Lasting(i) {
			continue
		}
		s.Total++
		switch issue.Status {
		case beads.StatusOpen:
			s.Open++
		case beads.StatusInProgress:
			s.InProgress++
		case beads.StatusClosed:
			s.Closed++
		case beads.StatusDeferred:
			s.Deferred++
		}
		if issue.IsPinned() {
			s.Pinned++
		}
		if waits(graph, issue, i) && graph.Blocked(i) {
			s.Blocked++
		}
		if graph.State(i, dag.Worker{Now: now}) == dag.StateComplete {
			s.Complete++
		}
	}
	return s, nil
}

// TreeRow is an issue in a dependency tree.
type TreeRow struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Status    string `json:"status"` // "missing" if the store does not have the issue
	Priority  int    `json:"priority"`
	Depth     int    `json:"depth"`
	ParentID  string `json:"parent_id"` // its parent in the tree; "" for the root
	Type      string `json:"type,omitempty"`
	Truncated bool   `json:"truncated"` // its children are left out: listed above, or below the maximum depth
	Cycle     bool   `json:"cycle"`     // it depends on itself
}

// Tree returns the tree of the issues that an issue depends on, or with up of those that depend
// on it. It follows rows of every type, to a depth of at most depth, and lists parents before
// children.
func Tree(a *workspace.Run, id string, up bool, depth int) ([]TreeRow, error) {
	if depth < 1 {
		return nil, workspace.Usage(fmt.Sprintf("--max-depth: must be at least 1; found %d", depth), "")
	}
	file, at, err := OpenIssue(a, id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rows []TreeRow
	for _, b := range dag.Tree(file, at, up, depth) {
		row := TreeRow{ID: b.ID, Status: "missing", Depth: b.Depth, ParentID: b.Parent, Type: b.Type, Truncated: b.Cut, Cycle: b.Cycle}
		if i, ok := file.Index(b.ID); ok {
			issue := file.At(i)
			row.Title, row.Status, row.Priority = issue.Title, issue.Status, issue.Priority
		} else if dag.IsExternal(b.ID) {
			row.Status = "in another store"
		}
		rows = append(rows, row)
	}
	return rows, nil
}
