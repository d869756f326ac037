package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

// Propagated lists the issues that got a discovery.
type Propagated struct {
	ID       string       `json:"id"`
	Targets  []Propagatee `json:"targets"`
	Warnings []string     `json:"warnings"`

	stored
}

// Propagatee is an issue that got the discovery, and the section of its notes that contains it.
type Propagatee struct {
	beads.Ref
	Section string `json:"section"`
	Changed bool   `json:"changed"`
}

// Propagate writes a discovery made in one issue into the notes of others, each as a new
// section "propagated-from ID DATE", into all of them or none. Without targets these are the
// unclosed issues that wait for it. Repeating a text on the same day changes nothing; a second
// text of that day gets a section whose name ends in 2, and so on. An empty text or no
// recipients is a fault.Usage.
func Propagate(ctx context.Context, s beads.Store, o beads.Options, from string, to []string, text string, rules Rules) (*Propagated, error) {
	if strings.TrimSpace(text) == "" {
		return nil, usage("nothing to propagate", "give the text with -m, --file, or - for standard input")
	}
	var sections []string // sections that this edit adds
	o.Notes = func(before, after string) error { return notes.Permit{Change: sections}.Check(before, after) }
	return edit(ctx, s, o, func(tx *beads.Tx) (*Propagated, error) {
		source, err := tx.Snapshot().Find(from)
		if err != nil {
			return nil, err
		}
		targets, err := targetsOf(tx.Snapshot(), source.ID, to)
		if err != nil {
			return nil, err
		}
		report := &Propagated{ID: source.ID, Targets: []Propagatee{}, Warnings: []string{}}
		sections = nil
		for _, target := range targets {
			p, err := tell(tx, target, fmt.Sprintf("%s %s %s", signals.PropagatedSection, source.ID, rules.today()), text)
			if err != nil {
				return nil, err
			}
			if p.Status == beads.StatusClosed {
				report.Warnings = append(report.Warnings, fmt.Sprintf("%s: is closed, and unlikely to be read again", p.ID))
			}
			report.Targets = append(report.Targets, p)
			sections = append(sections, p.Section)
		}
		return report, nil
	})
}

// targetsOf returns the ids of the recipients without duplicates.
func targetsOf(f *beads.Snapshot, from string, to []string) (ids []string, err error) {
	if len(to) == 0 {
		if at, ok := f.Index(from); ok {
			for _, i := range dag.New(f).Waiting(at) {
				ids = append(ids, f.At(i).ID)
			}
		}
		if len(ids) == 0 {
			return nil, &fault.Error{Code: fault.Usage, ID: from, Reason: "no unclosed issue waits for it", Hint: "name the issues to inform with --to ID"}
		}
		return ids, nil
	}
	for _, id := range to {
		issue, err := f.Find(id)
		if err != nil {
			return nil, err
		}
		if issue.ID == from {
			return nil, &fault.Error{Code: fault.Usage, ID: from, Reason: "cannot propagate to itself", Hint: "type stig checkpoint " + from + " --learned … instead"}
		}
		if !slices.Contains(ids, issue.ID) {
			ids = append(ids, issue.ID)
		}
	}
	return ids, nil
}

// tell adds the section to the notes of one issue unless it already has the same text.
func tell(tx *beads.Tx, id, name, text string) (Propagatee, error) {
	record, err := tx.Record(id)
	if err != nil {
		return Propagatee{}, err
	}
	p := Propagatee{
		Ref:     beads.Ref{ID: id, Title: record.Text(beads.Title), Status: record.Text(beads.Status)},
		Section: name,
	}
	doc := notes.Parse(record.Text(beads.Notes))
	for n := 2; ; n++ {
		live, there := doc.Live(p.Section)
		if !there {
			break
		}
		if sameText(doc.Body(live), text) {
			return p, nil
		}
		p.Section = fmt.Sprintf("%s %d", name, n)
	}
	after, err := doc.Replace(p.Section, strings.Trim(text, "\r\n"))
	if err != nil {
		return Propagatee{}, &IssueError{ID: id, Err: err}
	}
	p.Changed = true
	return p, tx.Set(id, beads.Set{Key: beads.Notes, Text: after.Text()})
}
