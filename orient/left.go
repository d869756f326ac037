package orient

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/signals"
)

// Left is a trace that somebody left on an issue.
type Left struct {
	ID        string `json:"id"` // the name of the trace
	Issue     string `json:"issue"`
	Type      string `json:"type"`
	Source    string `json:"source"`
	CreatedAt string `json:"created_at"` // RFC 3339, UTC; "" when the store has none
	Text      string `json:"text"`       // without the last line

	whole string // as it was, where a budget cut it
}

// unread are the types that a briefing leaves to stig trace list: milestones, news,
// and what a rollup gathers.
var unread = []string{trace.Log, trace.Notification, trace.Completion}

// leftHere gives the comments of an issue, and what was left on it since the last
// summary, which comes first.
func leftHere(record *beads.Record) (comments []Comment, left []Left) {
	all := trace.Of(record)
	trace.Sort(all)
	var last *trace.Left
	for i, l := range all {
		if l.Type == trace.Summary {
			last = &all[i]
		}
	}
	if last != nil {
		left = append(left, leftOf(*last))
	}
	fresh, _ := trace.Unsummarised(all)
	for _, l := range fresh {
		if l.IsTrace() && !slices.Contains(unread, l.Type) {
			left = append(left, leftOf(l))
		}
	}
	for _, l := range all {
		if !l.IsTrace() && l.Whole() != "" {
			comments = append(comments, Comment{Author: l.Source, CreatedAt: stamped(l.At), Text: l.Whole()})
		}
	}
	return append([]Comment{}, comments...), append([]Left{}, left...)
}

// findingsOf are the findings on another issue.
func findingsOf(record *beads.Record) (left []Left) {
	all := trace.Of(record)
	trace.Sort(all)
	for _, l := range all {
		if l.Type == trace.Finding {
			left = append(left, leftOf(l))
		}
	}
	return left
}

func leftOf(l trace.Left) Left {
	text := l.Summary
	if l.Body != "" {
		text += "\n\n" + l.Body
	}
	var trailers []string
	for _, t := range l.Trailers {
		trailers = append(trailers, t.Key+": "+t.Value)
	}
	if len(trailers) > 0 {
		text += "\n\n" + strings.Join(trailers, "\n")
	}
	return Left{ID: l.Name, Issue: l.Issue, Type: l.Type, Source: l.Source, CreatedAt: stamped(l.At), Text: strings.TrimSpace(text)}
}

func stamped(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339)
}

func (l Left) size() int { return utf8.RuneCountInString(l.Source + l.Type + l.Text) }

// about says what kind of trace it is, whose, and of which day.
func (l Left) about() string {
	return l.Type + " " + l.ID + ", " + Comment{Author: l.Source, CreatedAt: l.CreatedAt}.About()
}

// traces shows what was left on the issue.
func (b *Briefing) traces(w *page) {
	if len(b.Traces) == 0 {
		return
	}
	w.heading("Left here, newest last")
	for _, l := range b.Traces {
		w.said(l.about(), l.Text)
	}
}

// found shows the findings on what the issue was built on, or waits for.
func (b *Briefing) found(w *page) {
	if len(b.Findings) == 0 {
		return
	}
	w.heading("Findings on what it builds on, newest last")
	for _, l := range b.Findings {
		w.linef("- %s: %s (%s, %s)", l.Issue, visible.OneLine(l.Text), l.ID, Comment{Author: l.Source, CreatedAt: l.CreatedAt}.About())
	}
}

// findings gathers what was found on the closed dependencies, and on the blockers that
// are not closed yet.
func (a assembly) findings(b *Briefing) ([]Left, error) {
	ids := []string{}
	for _, d := range b.ClosedDependencies {
		ids = append(ids, d.ID)
	}
	ids = append(ids, b.Farther...)
	for _, blocker := range b.OpenBlockers {
		ids = append(ids, blocker.ID)
	}
	list := []Left{}
	for _, id := range ids {
		at, ok := a.file.Index(id)
		if !ok {
			continue
		}
		record, err := a.file.At(at).Record()
		if err != nil {
			return nil, err
		}
		list = append(list, findingsOf(record)...)
	}
	slices.SortStableFunc(list, func(x, y Left) int { return strings.Compare(x.CreatedAt, y.CreatedAt) })
	return list, nil
}

// digestAfter is how many traces without a summary are many unless a project says
// another number; so are those of half a kilobyte for each.
const digestAfter = 8

// unsummarised counts the traces since the last summary, where they are many.
func unsummarised(record *beads.Record, many int) int {
	many = cmp.Or(many, digestAfter)
	raw, end := record.Raw(beads.Comments), []byte(`\nstig: `)
	if n := bytes.Count(raw, end); n < many && (n == 0 || len(raw) < many*512) {
		return 0 // most comments are none, and need not be read
	}
	all := trace.Of(record)
	trace.Sort(all)
	rest, _ := trace.Unsummarised(all)
	n, size := 0, 0
	for _, l := range rest {
		if l.IsTrace() {
			n++
			size += len(l.Whole())
		}
	}
	if n < many && size < many*512 {
		return 0
	}
	return n
}

// keepFeedback leaves out what a reader who knows how does not need: all but what was
// wrong with the work, and what they are told to do.
func (b *Briefing) keepFeedback() {
	all := len(b.Traces)
	b.Traces = slices.DeleteFunc(b.Traces, func(l Left) bool { return l.Type != trace.Feedback && l.Type != trace.Directive })
	if n := all - len(b.Traces); n > 0 {
		b.omit(count(n, "trace"), "--depth", signals.PlanningDepthStandard)
	}
}
