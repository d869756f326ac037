package board

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// draft is the fields of an issue in a form.
type draft struct {
	ID                                                           string // "" for a new issue
	Title, Type, Assignee, Parent, Labels, Description, Criteria string
	Priority                                                     int
	Sum                                                          string // of all fields, when the form was made
	Back                                                         string // the page after the edit
	Types                                                        []string
	Epics                                                        []Epic
}

// draftOf returns the fields of an issue.
func draftOf(file *beads.Snapshot, id string) (*draft, error) {
	issue, record, err := file.FindRecord(id)
	if err != nil {
		return nil, err
	}
	d := &draft{
		ID: issue.ID, Title: issue.Title, Type: issue.Type, Assignee: issue.Assignee, Priority: issue.Priority,
		Labels: strings.Join(record.Labels(), ", "), Description: visible.LF(record.Text(beads.Description)), Criteria: visible.LF(record.Text(beads.AcceptanceCriteria)),
	}
	for _, dep := range issue.Deps {
		if d.Parent == "" && dag.Contains(dep.Type) {
			d.Parent = dep.On
		}
	}
	sum := sha256.Sum256([]byte(d.all() + strconv.Itoa(d.Priority)))
	d.Sum = hex.EncodeToString(sum[:8])
	return d, nil
}

// all returns all texts.
func (d *draft) all() string {
	return strings.Join([]string{d.Title, d.Type, d.Assignee, d.Parent, d.Labels, d.Description, d.Criteria}, "\n\n")
}

// blank returns the form of a new issue.
func (v *view) blank(m menus) *draft {
	return &draft{Type: "task", Priority: 2, Parent: v.query.Get("parent"), Types: checkpoint.Types(), Epics: m.Epics, Back: v.at("new", "")}
}

// edited returns the form of the issue that the query names; nil for none.
func (v *view) edited() (*draft, error) {
	id := v.query.Get("edit")
	if id == "" || !v.MayAll() {
		return nil, nil
	}
	epics, err := v.epics()
	if err != nil {
		return nil, err
	}
	file, err := v.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	d, err := draftOf(file, id)
	if err != nil {
		return nil, err
	}
	if !isPlain(d.all()) {
		return nil, &fault.Error{Code: fault.Usage, ID: d.ID, Reason: "has hidden characters, which a form would lose", Hint: "type stig edit " + d.ID}
	}
	m := menus{Epics: epics}
	d.Types, d.Epics, d.Back = m.Choices(checkpoint.Types(), d.Type), m.EpicsWith(d.Parent), v.at("edit", "")
	return d, nil
}

// Form names the form.
func (d *draft) Form() string {
	if d.ID == "" {
		return "create"
	}
	return "edit"
}

// Filled returns a draft with what was typed into its form, if that was rejected.
func (v *view) Filled(d *draft) *draft {
	if v.typed.Get("form") != d.Form() {
		return d
	}
	v.again = true
	typed, _ := fields(v.typed) // what is wrong was said
	typed.ID, typed.Sum, typed.Back, typed.Types, typed.Epics = d.ID, v.typed.Get("sum"), d.Back, d.Types, d.Epics
	return &typed
}

// Priorities returns the priorities of a menu.
func (*draft) Priorities() []int { return []int{0, 1, 2, 3, 4} }

// fields reads the form of an issue.
func fields(form url.Values) (d draft, err error) {
	text := func(name string) string { return strings.TrimSpace(visible.LF(form.Get(name))) }
	d = draft{
		Title: text("title"), Type: text("type"), Assignee: text("assignee"), Parent: text("parent"), Labels: strings.Join(labelsOf(text("labels")), ", "),
		Description: text("description"), Criteria: text("criteria"),
	}
	if d.Priority, err = checkpoint.ParsePriority(text("priority")); err == nil && d.Title == "" {
		err = workspace.Usage("the title is empty", "enter a title in the form")
	}
	return d, err
}

func labelsOf(text string) (list []string) {
	for label := range strings.SplitSeq(text, ",") {
		if label = strings.TrimSpace(label); label != "" {
			list = append(list, label)
		}
	}
	return list
}

// create adds an issue. The next page is that of the issue.
func create(ctx context.Context, a *workspace.Run, _ string, form url.Values) (string, error) {
	d, err := fields(form)
	if err != nil {
		return "", err
	}
	created, err := service.Create(ctx, a, service.CreateRequest{Draft: checkpoint.Draft{
		Title: d.Title, Type: d.Type, Assignee: d.Assignee, Parent: d.Parent, Labels: labelsOf(d.Labels), Priority: d.Priority,
		Description: d.Description, Acceptance: d.Criteria,
	}})
	if err != nil {
		return "", err
	}
	for _, warning := range created.Warnings {
		a.Warn("%s", warning)
	}
	form.Set("then", "/issues/"+url.PathEscape(created.ID))
	return created.ID + ": created", service.Printed(a, created.ID, nil)
}

// edit changes the fields of an issue that differ from those in the form, if nobody has changed
// them since.
func edit(ctx context.Context, a *workspace.Run, id string, form url.Values) (string, error) {
	want, err := fields(form)
	if err != nil {
		return "", err
	}
	file, err := a.Open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	is, err := draftOf(file, id)
	if err != nil {
		return "", err
	}
	if is.Sum != form.Get("sum") {
		return "", &fault.Error{Code: fault.Conflict, ID: is.ID, Reason: "somebody else has changed it", Hint: "copy what you wrote, and reload the page"}
	}
	change := amendmentOf(is, &want)
	if change.IsEmpty() {
		return "unchanged", nil
	}
	amended, err := service.Amend(ctx, a, service.AmendRequest{IDs: []string{is.ID}, Each: []checkpoint.Amendment{change}})
	if err != nil {
		return "", err
	}
	for _, one := range amended.Edited {
		a.WarnOfEdit(one.ID, one.Warnings, amended.Changes)
	}
	return "changed", nil
}

// amendmentOf returns the change from one draft to another.
func amendmentOf(is, want *draft) (m checkpoint.Amendment) {
	for _, f := range []struct {
		to       **string
		is, want string
	}{
		{&m.Title, is.Title, want.Title}, {&m.Type, is.Type, want.Type}, {&m.Assignee, is.Assignee, want.Assignee}, {&m.Parent, is.Parent, want.Parent},
		{&m.Description, is.Description, want.Description}, {&m.Acceptance, is.Criteria, want.Criteria},
	} {
		if strings.TrimSpace(f.is) != f.want {
			*f.to = &f.want
		}
	}
	if is.Priority != want.Priority {
		m.Priority = &want.Priority
	}
	if labels := labelsOf(want.Labels); !slices.Equal(labelsOf(is.Labels), labels) {
		if labels == nil {
			labels = []string{}
		}
		m.Labels = &labels
	}
	return m
}

// Limits of saved views.
const (
	mostViews    = 30
	longestName  = 40
	longestQuery = 1000
)

// save keeps the query of the form as a view of the clone; forget removes it.
func save(_ context.Context, a *workspace.Run, _ string, form url.Values) (string, error) {
	name, query := strings.TrimSpace(visible.OneLine(form.Get("name"))), form.Get("query")
	if name == "" || len(name) > longestName {
		return "", workspace.Usage("the name of a view must have 1 to "+strconv.Itoa(longestName)+" bytes", "enter another name in the form")
	}
	if _, err := url.ParseQuery(query); err != nil || query == "" || len(query) > longestQuery {
		return "", workspace.Usage("the view has no filters, or too many", "choose filters first")
	}
	place, err := a.LivePlace()
	if err != nil {
		return "", err
	}
	return "saved", place.ChangeViews(func(all map[string]string) error {
		if _, known := all[name]; !known && len(all) >= mostViews {
			return workspace.Usage("there are "+strconv.Itoa(mostViews)+" views already", "remove one first")
		}
		all[name] = query
		return nil
	})
}

func forget(_ context.Context, a *workspace.Run, _ string, form url.Values) (string, error) {
	place, err := a.LivePlace()
	if err != nil {
		return "", err
	}
	return "removed", place.ChangeViews(func(all map[string]string) error {
		delete(all, form.Get("name"))
		return nil
	})
}
