package orient

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
)

// Related is an issue that this one is linked to without waiting for it.
type Related struct {
	beads.Ref
	Type   string `json:"type"`             // type of the row
	Reason string `json:"reason,omitempty"` // close reason of a closed issue
	As     string `json:"as"`               // the relation as words, such as "duplicate of"
}

// relations returns how a dependency type reads in both directions: out from the issue with the
// row to its target, in from the target back.
func relations(dependencyType string) (out, in string) {
	switch dependencyType {
	case "discovered-from":
		return "discovered from", "led to"
	case "duplicates":
		return "duplicate of", "duplicated by"
	case "supersedes":
		return "supersedes", "superseded by"
	case "related", "relates-to":
		return "related to", "related to"
	case "tracks":
		return "tracks", "tracked by"
	case "caused-by":
		return "caused by", "cause of"
	case "validates":
		return "validates", "validated by"
	}
	return dependencyType, dependencyType + " of"
}

// mostRelated limits the related issues whose close reasons are read.
const mostRelated = 8

// reason returns the close reason of an issue in one line; "" if it says nothing.
func (a assembly) reason(at int) string {
	record, err := a.file.At(at).Record()
	if err != nil || gate.SaysNothing(record.Text(beads.CloseReason)) {
		return ""
	}
	return visible.OneLine(strings.TrimSpace(record.Text(beads.CloseReason)))
}

// related lists the links of every type that neither blocks nor contains, the issue's own links
// first.
func (a assembly) related(i int) []Related {
	list := []Related{}
	add := func(id, dependencyType, as string) {
		had := func(r Related) bool { return r.ID == id && r.As == as }
		if dag.Blocks(dependencyType) || dag.Contains(dependencyType) || id == a.file.At(i).ID || slices.ContainsFunc(list, had) {
			return
		}
		r := Related{Ref: beads.Ref{ID: id, Status: "missing"}, Type: dependencyType, As: as}
		if at, ok := a.file.Index(id); ok {
			r.Title, r.Status = a.file.At(at).Title, a.file.At(at).Status
			if r.Status == beads.StatusClosed && len(list) < mostRelated {
				r.Reason = a.reason(at)
			}
		}
		list = append(list, r)
	}
	for _, dep := range a.file.At(i).Deps {
		out, _ := relations(dep.Type)
		add(dep.On, dep.Type, out)
	}
	for _, row := range dag.AllIncoming(a.file, i) {
		if at, ok := a.file.Index(a.file.At(row.From).ID); ok && at == row.From {
			_, in := relations(row.Type)
			add(a.file.At(row.From).ID, row.Type, in)
		}
	}
	return list
}

// relatedLine returns the related issues in one line.
func (b *Briefing) relatedLine(w *page) {
	var words []string
	last := ""
	for _, r := range b.Related {
		text := r.ID + " " + title(r.Title) + " (" + r.Status + ")"
		if r.Title == "" {
			text = r.ID + " (" + r.Status + ")"
		}
		if r.Reason != "" {
			text = strings.TrimSuffix(text, ")") + ": “" + r.Reason + "”)"
		}
		if r.As != last {
			text = r.As + " " + text
		}
		last = r.As
		words = append(words, text)
	}
	if len(words) > 0 {
		w.line(strings.Join(words, "; "))
	}
}

// Comments returns the nonempty comments of an issue, newest last. Comments without a time come
// first, in the order of the line.
func Comments(record *beads.Record) []Comment {
	list := []Comment{}
	all := record.Comments()
	slices.SortStableFunc(all, func(a, b beads.Comment) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, c := range all {
		comment := Comment{Author: c.Author, Text: strings.TrimSpace(c.Text)}
		if !c.CreatedAt.IsZero() {
			comment.CreatedAt = c.CreatedAt.Format(time.RFC3339)
		}
		if comment.Text != "" {
			list = append(list, comment)
		}
	}
	return list
}

func (c Comment) size() int { return utf8.RuneCountInString(c.Author + c.Text) }

// About returns the author and day of the comment.
func (c Comment) About() string {
	day, _, _ := strings.Cut(c.CreatedAt, "T")
	return join(cmp.Or(visible.OneLine(c.Author), "no author"), day)
}

func (b *Briefing) comments(w *page) {
	if len(b.Comments) == 0 {
		return
	}
	w.heading("Comments, newest last")
	for _, c := range b.Comments {
		w.said(c.About(), c.Text)
	}
}

// join joins two texts with a comma unless one is empty.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}
