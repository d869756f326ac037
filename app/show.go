package app

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"stig/beads"
	"stig/dag"
	"stig/notes"
	"stig/recall"
	"stig/signals"
)

// issueView is an issue with its signals, sections and links.
type issueView struct {
	Issue      issueText      `json:"issue"`
	Signals    *signals.Table `json:"signals"`
	Sections   []sectionRow   `json:"sections"`
	DependsOn  []linkRow      `json:"depends_on"`
	Dependents []linkRow      `json:"dependents"`

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
}

type sectionRow struct {
	Name  string `json:"name"`
	Line  int    `json:"line"`
	Bytes int    `json:"bytes"`
}

type linkRow struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
	Type   string `json:"type"`
}

// Issue gives one issue as it stands.
func (a *App) Issue(id string) (*issueView, error) {
	file, at, err := a.OpenIssue(id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return a.viewOf(file, at)
}

func (a *App) viewOf(file *beads.File, at int) (*issueView, error) {
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
		},
		Signals:    signals.Read(doc, a.Schema),
		Sections:   []sectionRow{},
		DependsOn:  []linkRow{},
		Dependents: []linkRow{},
	}
	for _, s := range doc.Sections() {
		view.Sections = append(view.Sections, sectionRow{Name: s.Name, Line: s.Line, Bytes: s.End - s.Start})
	}
	for _, e := range signals.MergedEstimates(doc) {
		view.merged = append(view.merged, cmp.Or(e.Date, "undated"))
	}
	view.link(file, at)
	return view, nil
}

// link lists the rows in both directions, of every type, whether or not they block.
func (v *issueView) link(file *beads.File, at int) {
	for _, dep := range file.At(at).Deps {
		row := linkRow{ID: dep.On, Type: dep.Type, Status: "missing"}
		if i, ok := file.Index(dep.On); ok {
			row.Title, row.Status = file.At(i).Title, file.At(i).Status
		}
		v.DependsOn = append(v.DependsOn, row)
	}
	for _, l := range dag.AllIncoming(file, at) {
		issue := file.At(l.From)
		v.Dependents = append(v.Dependents, linkRow{ID: issue.ID, Title: issue.Title, Status: issue.Status, Type: l.Type})
	}
}

func (v *issueView) Text() string {
	var b strings.Builder
	i := v.Issue
	fmt.Fprintf(&b, "%s %s\n", i.ID, i.Title)
	fmt.Fprintf(&b, "%s · %s · P%d\n%s\n", i.Status, cmp.Or(i.IssueType, "no type"), i.Priority, v.Signals.Summary())
	for _, row := range []struct{ name, value string }{
		{"assignee", i.Assignee}, {"labels", strings.Join(i.Labels, ", ")},
		{"created", i.CreatedAt}, {"updated", i.UpdatedAt}, {"closed", i.ClosedAt},
	} {
		if row.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", row.name, row.value)
		}
	}
	if len(v.merged) > 0 {
		fmt.Fprintf(&b, "also learned, on a branch: %s (stig checkpoint %s --fold)\n", strings.Join(v.merged, ", "), i.ID)
	}
	for _, part := range []struct{ name, text string }{
		{"Description", i.Description}, {"Design", i.Design}, {"Acceptance criteria", i.AcceptanceCriteria},
		{"Notes", i.Notes}, {"Close reason", i.CloseReason},
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

func (v *issueView) Links() string {
	var b strings.Builder
	for _, group := range []struct {
		name string
		rows []linkRow
	}{{"Depends on", v.DependsOn}, {"Depended on by", v.Dependents}} {
		if len(group.rows) == 0 {
			continue
		}
		b.WriteString(group.name + "\n")
		for _, r := range group.rows {
			fmt.Fprintf(&b, "  %s %s (%s, %s)\n", r.ID, r.Title, r.Type, r.Status)
		}
	}
	return b.String()
}

// SearchRequest asks which issues hold words, in any of their texts.
type SearchRequest struct {
	Words string
	Open  bool // leaves closed issues out
	Limit int  // the best so many; 0 for all
}

// SearchRow is one issue that holds words.
type SearchRow struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Status   string  `json:"status"`
	Priority int     `json:"priority"`
	Words    int     `json:"words"` // how many of the words it holds
	Score    float64 `json:"score"`
	Field    string  `json:"field"`   // the key that counted most
	Excerpt  string  `json:"excerpt"` // the line of it that holds most of the words
}

// searched are the fields of an issue, and how much a word in each counts.
func searched(r *beads.Record) recall.Document {
	var comments []string
	for _, element := range r.Elements(beads.Comments) {
		if c, err := beads.ParseRecord(element); err == nil {
			comments = append(comments, c.Text("text"))
		}
	}
	d := recall.Document{Fields: []recall.Field{
		{Name: "labels", Text: strings.Join(r.Labels(), "\n"), Weight: 3}, {Name: "comments", Text: strings.Join(comments, "\n"), Weight: 1},
	}}
	for _, f := range []struct {
		key    beads.Key
		weight float64
	}{
		{beads.ID, 8}, {beads.Title, 4}, {beads.ExternalRef, 3}, {beads.Description, 1}, {beads.Design, 1},
		{beads.AcceptanceCriteria, 1}, {beads.Notes, 1}, {beads.CloseReason, 1},
	} {
		d.Fields = append(d.Fields, recall.Field{Name: string(f.key), Text: r.Text(f.key), Weight: f.weight})
	}
	return d
}

// Search finds issues by words in any of their texts, closed ones too, the best
// first, and says how many there are with those beyond the limit. See package recall
// for the order.
func (a *App) Search(r SearchRequest) (rows []SearchRow, total int, err error) {
	if len(recall.Words(r.Words)) == 0 {
		return nil, 0, Usage(fmt.Sprintf("search: must be words; found %q", r.Words), "type for example stig search tide gauge")
	}
	if r.Limit < 0 {
		return nil, 0, Usage(fmt.Sprintf("--limit: must not be negative; found %d", r.Limit), "")
	}
	file, err := a.Open()
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	var places []int
	reader := file.Reader()
	hits := recall.Search(r.Words, func(yield func(recall.Document) bool) {
		for i, issue := range file.All() {
			if at, _ := file.Index(issue.ID); at != i || issue.Status == "tombstone" || r.Open && issue.Status == "closed" {
				continue
			}
			record, e := reader.Record(issue)
			if e != nil {
				err = e
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
			ID: issue.ID, Title: issue.Title, Status: issue.Status, Priority: issue.Priority,
			Words: hit.Words, Score: math.Round(hit.Score*1000) / 1000, Field: hit.Field, Excerpt: excerpt(searched(record), hit.Field, r.Words),
		})
	}
	return rows, total, nil
}

// excerpt is the line of a field that ranks best for the words.
func excerpt(d recall.Document, field, words string) string {
	for _, f := range d.Fields {
		if f.Name != field {
			continue
		}
		lines := strings.Split(f.Text, "\n")
		best := recall.Search(words, func(yield func(recall.Document) bool) {
			for _, line := range lines {
				if !yield(recall.Document{Fields: []recall.Field{{Text: line, Weight: 1}}}) {
					return
				}
			}
		})
		if len(best) > 0 {
			return Folded(lines[best[0].Doc])
		}
	}
	return ""
}
