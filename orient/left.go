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

// LeftTrace is a trace that somebody left on an issue.
type LeftTrace struct {
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

// leftHere gives the comments of an issue, what was left on it since the last summary,
// which comes first, and what the newest swarm on it came to. The findings of a swarm that
// ended are left to its conclusion, unless all is asked for.
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

// Concluded is what a swarm came to.
type Concluded struct {
	Swarm      string `json:"swarm"`
	Ended      string `json:"ended"` // how
	Agents     int    `json:"agents"`
	Active     int    `json:"active"`
	Rounds     int    `json:"rounds"`
	Supporters int    `json:"supporters"` // of the leading idea
	Idea       string `json:"idea"`
	Text       string `json:"text"` // "" where no finding was left
	By         string `json:"by"`   // whose words these are
}

// concludedOf gives what the newest swarm that ended came to, nil for none, and the names
// of all that ended.
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

// words say how the swarm ended.
func (c Concluded) words() string {
	words := fmt.Sprintf("Swarm %s of %s ended as %s after %s", c.Swarm, visible.Counted(c.Agents, "agent"), c.Ended, visible.Counted(c.Rounds, "round"))
	if c.Idea != "" {
		words += fmt.Sprintf("; %d of %d active agree on %s", c.Supporters, c.Active, visible.OneLine(c.Idea))
	}
	return words
}

// conclusion shows what a swarm came to.
func (b *Briefing) conclusion(w *page) {
	if c := b.Concluded; c != nil {
		w.blank()
		w.linef("%s (`stig swarm report %s`)", c.words(), b.Issue.ID)
		if c.Text != "" {
			w.quote(c.Text)
		}
	}
}

// withoutRounds is what was left without the findings of swarms that ended. A solution that
// passed names its commit, and stays.
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

// findingsOf are the findings on another issue.
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

// about says what kind of trace it is, whose, and of which day.
func (l LeftTrace) about() string {
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
	b.Traces = slices.DeleteFunc(b.Traces, func(l LeftTrace) bool { return l.Type != trace.Feedback && l.Type != trace.Directive })
	if n := all - len(b.Traces); n > 0 {
		b.omit(visible.Counted(n, "trace"), "--depth", signals.PlanningDepthStandard)
	}
}
