package service

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// issueView is an issue with its signals, sections and links.
type issueView struct {
	Issue      issueText      `json:"issue"`
	Signals    *signals.Table `json:"signals"`
	Sections   []sectionRow   `json:"sections"`
	DependsOn  []LinkRow      `json:"depends_on"`
	Dependents []LinkRow      `json:"dependents"`
	Cost       string         `json:"cost,omitempty"` // cost of the loops' runs for it in this clone, as text

	merged []string // days of the estimates that a merge kept
}

type issueText struct {
	ID                 string   `json:"id"`
	Title              string   `json:"title"`
	Status             string   `json:"status"`
	IssueType          string   `json:"issue_type"`
	Priority           int      `json:"priority"`
	Assignee           string   `json:"assignee"`
	Labels             []string `json:"labels"`
	Description        string   `json:"description"`
	Design             string   `json:"design"`
	AcceptanceCriteria string   `json:"acceptance_criteria"`
	Notes              string   `json:"notes"`
	CloseReason        string   `json:"close_reason"`
	CreatedAt          string   `json:"created_at"`
	UpdatedAt          string   `json:"updated_at"`
	ClosedAt           string   `json:"closed_at"`
	DeferUntil         string   `json:"defer_until,omitempty"`
	DueAt              string   `json:"due_at,omitempty"`
	EstimatedMinutes   int      `json:"estimated_minutes,omitempty"`
	ExternalRef        string   `json:"external_ref,omitempty"`
	SpecID             string   `json:"spec_id,omitempty"`

	Keys []orient.Keyed `json:"keys,omitempty"` // metadata, and keys unknown to the format

	Comments []orient.Comment `json:"comments"` // newest last
}

type sectionRow struct {
	Name  string `json:"name"`
	Line  int    `json:"line"`
	Bytes int    `json:"bytes"`
}

// LinkRow is an issue that another one is linked to.
type LinkRow struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
	Type   string `json:"type"`
	Stands string `json:"stands,omitempty"` // of an issue in another store that blocks: whether it is done, and the proof or why not
}

// Issue returns one issue.
func Issue(a *workspace.Run, id string) (*issueView, error) {
	return withIssue(a, id, false, func(file *beads.Snapshot, at int) (*issueView, error) { return viewOf(a, file, at) })
}

func viewOf(a *workspace.Run, file *beads.Snapshot, at int) (*issueView, error) {
	issue := file.At(at)
	record, err := issue.Record()
	if err != nil {
		return nil, err
	}
	doc := notes.Parse(record.Text(beads.Notes))
	view := &issueView{
		Issue: issueText{
			ID: issue.ID, Title: issue.Title, Status: issue.Status, IssueType: issue.Type,
			Priority: issue.Priority, Assignee: issue.Assignee, Labels: append([]string{}, record.Labels()...),
			Description: record.Text(beads.Description), Design: record.Text(beads.Design),
			AcceptanceCriteria: record.Text(beads.AcceptanceCriteria), Notes: doc.Text(),
			CloseReason: record.Text(beads.CloseReason), CreatedAt: record.Text(beads.CreatedAt),
			UpdatedAt: record.Text(beads.UpdatedAt), ClosedAt: record.Text(beads.ClosedAt),
			DeferUntil: record.Text(beads.DeferUntil), DueAt: record.Text(beads.DueAt), ExternalRef: record.Text(beads.ExternalRef),
			SpecID: record.Text("spec_id"), Keys: orient.KeysOf(record),
			Comments: orient.Comments(record),
		},
		Signals:    signals.Read(doc, a.Schema),
		Sections:   []sectionRow{},
		DependsOn:  []LinkRow{},
		Dependents: []LinkRow{},
	}
	view.Issue.EstimatedMinutes, _ = record.Number(beads.EstimatedMinutes)
	for _, s := range doc.Sections() {
		view.Sections = append(view.Sections, sectionRow{Name: s.Name, Line: s.Line, Bytes: s.End - s.Start})
	}
	for _, e := range signals.MergedEstimates(doc) {
		view.merged = append(view.merged, cmp.Or(e.Date, "undated"))
	}
	view.link(file, at)
	view.Cost = spentOn(a, file.Place(), issue.ID)
	return view, nil
}

// spentOn returns the cost of the runs for an issue within 90 days, as far as this clone knows;
// "" for no runs.
func spentOn(a *workspace.Run, store beads.Place, id string) string {
	now, err := a.Clock()
	if err != nil {
		return ""
	}
	place, err := a.Live(store)
	if err != nil {
		return ""
	}
	runs, _, err := place.Runs(now.Add(-90 * 24 * time.Hour))
	var spent clone.Spent
	count := 0
	for _, r := range runs {
		if r.Issue == id {
			spent.Add(r)
			count++
		}
	}
	if text := spent.String(); err == nil && text != "" {
		return text + " in " + visible.Counted(count, "run")
	}
	return ""
}

// link lists the rows in both directions, of every type, blocking or not.
func (v *issueView) link(file *beads.Snapshot, at int) {
	for _, dep := range file.At(at).Deps {
		row := LinkRow{ID: dep.On, Type: dep.Type, Status: "missing"}
		if dag.IsExternal(dep.On) {
			row.Status = "in another store"
			if dag.Blocks(dep.Type) {
				row.Title, row.Stands = standing(file.External(at, dep.On))
			}
		}
		if i, ok := file.Index(dep.On); ok {
			row.Title, row.Status = file.At(i).Title, file.At(i).Status
		}
		v.DependsOn = append(v.DependsOn, row)
	}
	for _, u := range file.At(at).Unread {
		if u.Rule == beads.UnreadRow {
			v.DependsOn = append(v.DependsOn, LinkRow{ID: cmp.Or(u.Dep.On, "?"), Title: u.Raw, Type: cmp.Or(u.Dep.Type, "no type"), Status: "malformed"})
		}
	}
	for _, l := range dag.AllIncoming(file, at) {
		issue := file.At(l.From)
		v.Dependents = append(v.Dependents, LinkRow{ID: issue.ID, Title: issue.Title, Status: issue.Status, Type: l.Type})
	}
}

// standing returns the title of an issue in another store, and whether it is done.
func standing(e beads.External) (title, stands string) {
	switch {
	case !e.Done:
		stands = "not done: " + e.Why
	case e.Commit != "":
		stands = "done at " + e.Commit
	default:
		stands = "done"
	}
	return e.Title, stands
}

// Text returns the issue for a reader, without section markers and with times in UTC. With raw,
// notes and times are as in the store.
func (v *issueView) Text(raw bool) string {
	shown, notesText := moment, readable
	if raw {
		shown, notesText = func(text string) string { return text }, func(text string) string { return text }
	}
	var b strings.Builder
	i := v.Issue
	fmt.Fprintf(&b, "%s %s\n", i.ID, i.Title)
	summary := signals.NoTable
	if v.Signals.Present() {
		summary = v.Signals.Summary()
	}
	fmt.Fprintf(&b, "%s · %s · P%d\n%s\n", i.Status, cmp.Or(i.IssueType, "no type"), i.Priority, summary)
	estimate := ""
	if i.EstimatedMinutes > 0 {
		estimate = visible.Counted(i.EstimatedMinutes, "minute")
	}
	for _, row := range []struct{ name, value string }{
		{"assignee", i.Assignee}, {"labels", strings.Join(i.Labels, ", ")},
		{"deferred until", shown(i.DeferUntil)}, {"due", shown(i.DueAt)}, {"estimate", estimate}, {"external reference", i.ExternalRef}, {"specification", i.SpecID},
		{"created", shown(i.CreatedAt)}, {"updated", shown(i.UpdatedAt)}, {"closed", shown(i.ClosedAt)}, {"cost", strings.TrimPrefix(v.Cost, "cost ")},
	} {
		if row.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", row.name, row.value)
		}
	}
	for _, k := range i.Keys {
		fmt.Fprintf(&b, "%s: %s\n", visible.OneLine(k.Key), visible.OneLine(k.Value))
	}
	if len(v.merged) > 0 {
		fmt.Fprintf(&b, "also learned, on a branch: %s (stig checkpoint %s --fold)\n", strings.Join(v.merged, ", "), i.ID)
	}
	for _, part := range []struct{ name, text string }{
		{"Description", i.Description}, {"Design", i.Design}, {"Acceptance criteria", i.AcceptanceCriteria},
		{"Notes", notesText(i.Notes)}, {"Comments", v.comments()}, {"Close reason", i.CloseReason},
	} {
		if strings.TrimSpace(part.text) != "" {
			fmt.Fprintf(&b, "\n%s\n\n%s\n", part.name, strings.TrimRight(part.text, "\n"))
		}
	}
	if links := v.Links(); links != "" {
		b.WriteString("\n" + links)
	}
	return b.String()
}

// moment returns a time of the store in UTC, or text unchanged if it is not a time.
func moment(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return visible.Moment(t)
}

// readable returns notes without section markers, with the signal table in columns. A section
// without a heading of its own gets its name as heading.
func readable(text string) string {
	doc := notes.Parse(text)
	var b strings.Builder
	end := 0
	for _, s := range doc.Sections() {
		b.WriteString(text[end:s.Start])
		body := strings.Trim(doc.Body(s), "\r\n")
		switch {
		case s.Name == signals.Section:
			body = columns(body)
		case !strings.HasPrefix(body, "#"):
			body = s.Name + ":\n" + body
		}
		b.WriteString(body)
		end = s.End
	}
	return b.String() + text[end:]
}

// columns aligns the rows of a Markdown table, and leaves other lines as they are.
func columns(body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		row, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !isRow {
			b.WriteString(line)
			continue
		}
		if strings.Trim(row, "|-: ") == "" {
			continue
		}
		text := ""
		for k, cell := range strings.Split(strings.TrimSuffix(row, "|"), "|") {
			text += fmt.Sprintf("%-*s  ", []int{18, 20, 0}[min(k, 2)], strings.TrimSpace(cell))
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// comments returns the comments of the issue, newest last, each under its author and day. What
// the rounds of swarms left is only counted: the notes have the conclusion.
func (v *issueView) comments() string {
	var texts []string
	folded := 0
	for _, c := range v.Issue.Comments {
		if t, err := trace.Parse(c.Text); err == nil && t.IsOfSwarm() {
			folded++
			continue
		}
		texts = append(texts, c.About()+":\n"+c.Text)
	}
	if folded > 0 {
		texts = append(texts, fmt.Sprintf("%s of swarms: stig swarm report %s, stig trace list %[2]s", visible.Counted(folded, "trace"), v.Issue.ID))
	}
	return strings.Join(texts, "\n\n")
}

// meaning explains a row that does not explain itself; "" for others.
func (r LinkRow) meaning() string {
	switch {
	case r.Stands != "":
		return ": " + visible.OneLine(r.Stands)
	case r.Type == beads.Conditional:
		return ": only if that fails"
	case r.Type == beads.WaitsFor:
		return ": once its children are closed"
	}
	return ""
}

func (v *issueView) Links() string {
	var b strings.Builder
	for _, group := range []struct {
		name string
		rows []LinkRow
	}{{"Depends on", v.DependsOn}, {"Depended on by", v.Dependents}} {
		if len(group.rows) == 0 {
			continue
		}
		b.WriteString(group.name + "\n")
		for _, r := range group.rows {
			meaning := ""
			if group.name == "Depends on" {
				meaning = r.meaning()
			}
			fmt.Fprintf(&b, "  %s %s (%s, %s)%s\n", r.ID, r.Title, r.Type, r.Status, meaning)
		}
	}
	return b.String()
}
