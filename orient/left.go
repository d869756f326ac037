package orient

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/swarm"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/signals"
)

// LeftTrace is a trace on an issue.
type LeftTrace struct {
	ID        string `json:"id"` // the name of the trace
	Issue     string `json:"issue"`
	Type      string `json:"type"`
	Source    string `json:"source"`
	CreatedAt string `json:"created_at"` // RFC 3339, UTC; "" if not recorded
	Text      string `json:"text"`       // without the last line

	whole string // text before a budget cut it
}

// unread lists the types that only stig trace list shows: milestones, news, and what a rollup
// gathers.
var unread = []string{trace.Log, trace.Notification, trace.Completion}

// leftHere returns the comments of an issue, the traces since the last summary, which comes
// first, and the result of the newest swarm. Findings of ended swarms are left out because the
// conclusion covers them, unless full is set.
func leftHere(record *beads.Record, full bool) (comments []Comment, left []LeftTrace, concluded *Concluded) {
	all := trace.Of(record)
	trace.Sort(all)
	concluded, ended := concludedOf(all)
	if !full {
		all = withoutRounds(all, ended)
	}
	var last *trace.Entry
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
	return append([]Comment{}, comments...), append([]LeftTrace{}, left...), concluded
}

// Concluded is the result of a swarm.
type Concluded struct {
	Swarm      string `json:"swarm"`
	Ended      string `json:"ended"` // how it ended
	Agents     int    `json:"agents"`
	Active     int    `json:"active"`
	Rounds     int    `json:"rounds"`
	Supporters int    `json:"supporters"` // agents who support the leading idea
	Idea       string `json:"idea"`
	Text       string `json:"text"` // "" without a finding
	By         string `json:"by"`   // the author of Text
}

// concludedOf returns the result of the newest ended swarm, nil for none, and the names of all
// ended swarms.
func concludedOf(all []trace.Entry) (c *Concluded, ended []string) {
	if !slices.ContainsFunc(all, func(l trace.Entry) bool { return l.Type == trace.SwarmRound }) {
		return nil, nil
	}
	for _, past := range swarm.ReadRecord(all).Swarms {
		s := swarm.Replay(past.Operations)
		if s.Swarm == "" || s.Ended == "" {
			continue
		}
		r := swarm.NewReport(s, s.EndedAt)
		ended = append(ended, s.Swarm)
		c = &Concluded{Swarm: s.Swarm, Ended: string(s.Ended), Agents: r.Agents, Active: r.Active, Rounds: r.Rounds, Text: r.Conclusion, By: r.By}
		if ideas := s.Convergence.Ideas; len(ideas) > 0 {
			c.Idea, c.Supporters = ideas[0].Idea, len(ideas[0].Supporters)
		}
	}
	return c, ended
}

// words returns a sentence about the end of the swarm.
func (c Concluded) words() string {
	words := fmt.Sprintf("Swarm %s of %s ended as %s after %s", c.Swarm, visible.Counted(c.Agents, "agent"), c.Ended, visible.Counted(c.Rounds, "round"))
	if c.Idea != "" {
		words += fmt.Sprintf("; %d of %d active agree on %s", c.Supporters, c.Active, visible.OneLine(c.Idea))
	}
	return words
}

// conclusion shows the result of a swarm.
func (b *Briefing) conclusion(w *page) {
	if c := b.Concluded; c != nil {
		w.blank()
		w.linef("%s (`stig swarm report %s`)", c.words(), b.Issue.ID)
		if c.Text != "" {
			w.quote(c.Text)
		}
	}
}

// withoutRounds removes the findings of ended swarms. A solution that passed names its commit
// and stays.
func withoutRounds(all []trace.Entry, ended []string) []trace.Entry {
	if len(ended) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(l trace.Entry) bool {
		has := func(key string, is func(string) bool) bool {
			return slices.ContainsFunc(l.Trailers, func(t trace.Trailer) bool { return t.Key == key && is(t.Value) })
		}
		of := has("swarm", func(name string) bool { return slices.Contains(ended, name) })
		return l.Type == trace.Finding && of && !has("commit", func(string) bool { return true })
	})
}

// findingsOf returns the findings on another issue.
func findingsOf(record *beads.Record) (left []LeftTrace) {
	all := trace.Of(record)
	trace.Sort(all)
	concluded, ended := concludedOf(all)
	if concluded != nil {
		left = append(left, LeftTrace{ID: concluded.Swarm, Issue: record.Text(beads.ID), Type: "swarm", Source: concluded.By, Text: concluded.words() + ". " + concluded.Text})
	}
	for _, l := range withoutRounds(all, ended) {
		if l.Type == trace.Finding {
			left = append(left, leftOf(l))
		}
	}
	return left
}

func leftOf(l trace.Entry) LeftTrace {
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
	return LeftTrace{ID: l.Name, Issue: l.Issue, Type: l.Type, Source: l.Source, CreatedAt: stamped(l.At), Text: strings.TrimSpace(text)}
}

func stamped(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339)
}

func (l LeftTrace) size() int { return utf8.RuneCountInString(l.Source + l.Type + l.Text) }

// about returns the type, author and day of a trace.
func (l LeftTrace) about() string {
	return l.Type + " " + l.ID + ", " + Comment{Author: l.Source, CreatedAt: l.CreatedAt}.About()
}

// traces shows the traces on the issue.
func (b *Briefing) traces(w *page) {
	if len(b.Traces) == 0 {
		return
	}
	w.heading("Left here, newest last")
	for _, l := range b.Traces {
		w.said(l.about(), l.Text)
	}
}

// found shows findings on dependencies and blockers.
func (b *Briefing) found(w *page) {
	if len(b.Findings) == 0 {
		return
	}
	w.heading("Findings on what it builds on, newest last")
	for _, l := range b.Findings {
		w.linef("- %s: %s (%s, %s)", l.Issue, visible.OneLine(l.Text), l.ID, Comment{Author: l.Source, CreatedAt: l.CreatedAt}.About())
	}
}

// findings collects the findings on closed dependencies and on open blockers.
func (a assembly) findings(b *Briefing) ([]LeftTrace, error) {
	ids := []string{}
	for _, d := range b.ClosedDependencies {
		ids = append(ids, d.ID)
	}
	ids = append(ids, b.Farther...)
	for _, blocker := range b.OpenBlockers {
		ids = append(ids, blocker.ID)
	}
	list := []LeftTrace{}
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
	slices.SortStableFunc(list, func(x, y LeftTrace) int { return strings.Compare(x.CreatedAt, y.CreatedAt) })
	return list, nil
}

// digestAfter is the default number of traces without a summary that calls for one. The same
// number of half kilobytes calls for one too.
const digestAfter = 8

// unsummarised counts the traces since the last summary, or returns 0 if they are few.
func unsummarised(record *beads.Record, many int) int {
	many = cmp.Or(many, digestAfter)
	raw, end := record.Raw(beads.Comments), []byte(`\nstig: `)
	if n := bytes.Count(raw, end); n < many && (n == 0 || len(raw) < many*512) {
		return 0 // most comments are not traces and need not be parsed
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

// keepFeedback keeps only feedback and directives; an experienced worker needs no other trace.
func (b *Briefing) keepFeedback() {
	all := len(b.Traces)
	b.Traces = slices.DeleteFunc(b.Traces, func(l LeftTrace) bool { return l.Type != trace.Feedback && l.Type != trace.Directive })
	if n := all - len(b.Traces); n > 0 {
		b.omit(visible.Counted(n, "trace"), "--depth", signals.PlanningDepthStandard)
	}
}
