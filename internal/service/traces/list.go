package traces

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/trace"
	"stig/internal/workspace"
)

// ListRequest says which traces and comments to list.
type ListRequest struct {
	Issue string // "" means all issues
	Epic  string // within this epic
	Types []string
	By    []string // by these actors
	To    []string // to one of these
	Since string   // a date, a time, or an age

	since time.Time
}

// Row is a trace as data. Content is defined by the type's definition in the schema of traces.
type Row struct {
	ID        string         `json:"id"`
	Issue     string         `json:"issue"`
	Type      string         `json:"type"`
	Source    string         `json:"source"`
	CreatedAt string         `json:"created_at"` // "" if the comment has no time
	Content   map[string]any `json:"content"`
	Body      string         `json:"body"`
}

// RowOf returns a trace as data.
func RowOf(l trace.Entry) Row {
	row := Row{ID: l.Name, Issue: l.Issue, Type: l.Type, Source: l.Source}
	if !l.At.IsZero() {
		row.CreatedAt = l.At.UTC().Format(time.RFC3339)
	}
	row.Content, row.Body = l.Content()
	return row
}

// List returns the requested traces, oldest first; at equal times in the order of the store.
func List(ctx context.Context, a *workspace.Run, r ListRequest) ([]trace.Entry, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	if r.since, err = workspace.TimeOf(r.Since, now); err != nil {
		return nil, err
	}
	within, err := r.within(file)
	if err != nil {
		return nil, err
	}
	list := []trace.Entry{}
	reader := file.Reader()
	for i, issue := range file.All() {
		if at, ok := file.Index(issue.ID); !ok || at != i || within != nil && !within[i] || !issue.HasComments {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		record, err := reader.Record(issue)
		if err != nil {
			return nil, err
		}
		for _, left := range trace.Of(record) {
			if r.matches(left) {
				list = append(list, left)
			}
		}
	}
	trace.Sort(list)
	return list, r.known(list)
}

// within returns the indices of the requested issues; nil for all.
func (r ListRequest) within(file *beads.Snapshot) (map[int]bool, error) {
	if r.Issue == "" && r.Epic == "" {
		return nil, nil
	}
	within := map[int]bool{}
	for _, id := range []string{r.Issue, r.Epic} {
		if id == "" {
			continue
		}
		issue, err := file.Find(id)
		if err != nil {
			return nil, err
		}
		at, _ := file.Index(issue.ID)
		within[at] = true
		if id == r.Epic {
			for _, child := range dag.New(file).Inside(at) {
				within[child] = true
			}
		}
	}
	return within, nil
}

func (r ListRequest) matches(l trace.Entry) bool {
	forOne := func(name string) bool { return slices.Contains(l.Values("to"), name) }
	return (len(r.Types) == 0 || slices.Contains(r.Types, l.Type)) &&
		(len(r.By) == 0 || slices.Contains(r.By, l.Source)) &&
		(len(r.To) == 0 || slices.ContainsFunc(r.To, forOne)) &&
		!l.At.Before(r.since)
}

// known returns an error for a type that neither this program nor any trace has: the list would
// always be empty.
func (r ListRequest) known(found []trace.Entry) error {
	for _, name := range r.Types {
		if _, ok := trace.KindOf(name); ok || name == trace.Comment || slices.ContainsFunc(found, func(l trace.Entry) bool { return l.Type == name }) {
			continue
		}
		return workspace.Usage(fmt.Sprintf("--type: must be one of %s, or the type of an existing trace; found %q", strings.Join(append(trace.Types(), trace.Comment), ", "), name), nearest(name))
	}
	return nil
}

// Show returns all traces with a name: the same text by the same author on several issues has
// one name.
func Show(ctx context.Context, a *workspace.Run, name string) ([]trace.Entry, error) {
	if !trace.IsName(name) {
		return nil, workspace.Usage(fmt.Sprintf("the name of a trace must be t- and ten letters or digits such as t-k2qhn5rzvw; found %q", name), "type stig trace list to see the names")
	}
	list, err := List(ctx, a, ListRequest{})
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(l trace.Entry) bool { return l.Name != name })
	if len(list) == 0 {
		return nil, workspace.Usage(name+": no such trace", "type stig trace list to see the existing ones")
	}
	return list, nil
}
