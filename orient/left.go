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
	"stig/notes"
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

// leftHere returns the comments of an issue and the traces since the last summary, which comes
// first. Findings of swarms are left out unless full is set: their conclusion covers them.
// folded is how many.
func leftHere(all []trace.Entry, full bool) (comments []Comment, left []LeftTrace, folded int) {
	if !full {
		all, folded = withoutRounds(all)
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
	return append([]Comment{}, comments...), append([]LeftTrace{}, left...), folded
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

	said string // the section of the notes; if it is missing, the same from the record
}

// concludedOf returns the result of the newest swarm on an issue if it ended, or the swarm if it
// runs.
func concludedOf(all []trace.Entry, doc *notes.Doc) (c *Concluded, running *swarm.State) {
	if !slices.ContainsFunc(all, func(l trace.Entry) bool { return l.Type == trace.SwarmRound }) {
		return nil, nil
	}
	for _, past := range swarm.ReadRecord(all).Swarms {
		s := swarm.Replay(past.Operations)
		if running = s; s.Swarm == "" || s.Ended == "" {
			continue
		}
		r := swarm.NewReport(s, s.EndedAt)
		c = &Concluded{Swarm: s.Swarm, Ended: string(s.Ended), Agents: r.Agents, Active: r.Active, Rounds: r.Rounds, Text: r.Conclusion, By: r.By, said: r.Answer()}
		if ideas := s.Convergence.Ideas; len(ideas) > 0 {
			c.Idea, c.Supporters = ideas[0].Idea, len(ideas[0].Supporters)
		}
	}
	if written, ok := signals.LastConclusion(doc); c != nil && ok && strings.Contains(written.Text, c.Swarm) {
		c.said = written.Text
	}
	if running != nil && (running.Swarm == "" || running.Ended != "") {
		running = nil
	}
	return c, running
}

// agreed reports whether a swarm explored the issue and came to a consensus.
func (b *Briefing) agreed() bool {
	return b.Concluded != nil && b.Concluded.Ended == string(swarm.Converged)
}

// conclusion shows the result of a swarm, and where its rounds are.
func (b *Briefing) conclusion(w *page) {
	c := b.Concluded
	if c == nil {
		return
	}
	w.heading("Conclusion of a swarm")
	w.quote(c.said)
	folded := fmt.Sprintf("%s (`stig swarm report %s`)", visible.Counted(c.Rounds, "round"), b.Issue.ID)
	if b.folded > 0 {
		folded += fmt.Sprintf(", %s (`stig trace list %s --type finding`)", visible.Counted(b.folded, "finding"), b.Issue.ID)
	}
	w.line("Behind it: " + folded)
}

// withoutRounds removes the findings of swarms and counts them.
func withoutRounds(all []trace.Entry) (rest []trace.Entry, folded int) {
	rest = slices.DeleteFunc(slices.Clone(all), func(l trace.Entry) bool {
		return l.Type == trace.Finding && l.IsOfSwarm()
	})
	return rest, len(all) - len(rest)
}

// findingsOf returns the conclusion of a swarm on another issue and, at depth deep, the findings
// there.
func findingsOf(record *beads.Record, deep bool) (left []LeftTrace) {
	if !deep && !record.MayHold(beads.Comments, "swarm") {
		return nil
	}
	all := trace.Of(record)
	trace.Sort(all)
	if c, _ := concludedOf(all, notes.Parse(record.Text(beads.Notes))); c != nil {
		left = append(left, LeftTrace{ID: c.Swarm, Issue: record.Text(beads.ID), Type: "swarm", Source: c.By, Text: strings.ReplaceAll(c.said, "\n> ", "\n")})
	}
	rest, _ := withoutRounds(all)
	for _, l := range rest {
		if deep && l.Type == trace.Finding {
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

// findings collects the conclusions of swarms on closed dependencies and on open blockers and,
// at depth deep, the findings there.
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
		list = append(list, findingsOf(record, b.Depth == signals.PlanningDepthDeep)...)
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
