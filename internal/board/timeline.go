package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/orient"
)

// moment is something that happened to an issue.
type moment struct {
	At   time.Time
	Day  bool // only the day is known
	Who  string
	What string // follows the name
	Tone string // a class of the list: you, fine, failed, or ""
	Body string // Markdown
	Facts
}

// Facts are the fields of a trace, by name.
type Facts []fact

type fact struct{ Name, Value string }

// searchLog is the name prefix of searches in the journal.
const searchLog = "log "

// timeline is what happened to an issue, newest first.
type timeline struct {
	List  []moment
	Total int
}

// mostMoments limits what a page lists.
const mostMoments = 80

// timeline collects what happened to an issue: claims, checkpoints and other edits from the
// journal of the clone, runs, traces and comments, questions and answers.
func (v *view) timeline(id, created, closed string, asked []orient.Asked) (timeline, error) {
	left, err := traces.List(v.ctx, v.Run, traces.ListRequest{Issue: id})
	if err != nil {
		return timeline{}, err
	}
	runs, err := v.runsOf(id)
	if err != nil {
		return timeline{}, err
	}
	edits, err := looked(v, searchLog+id, 2*shortly, false, func(v *view) ([]service.Logged, error) {
		return service.Log(v.Run, service.LogRequest{IDs: []string{id}})
	})
	if err != nil {
		edits.Value = nil // a damaged journal hides no page; stig doctor reports it
	}
	list := slices.Concat(momentsOfEdits(edits.Value), v.momentsOfRuns(runs), momentsOfTraces(left), momentsOfQuestions(asked, edits.Value))
	list = append(list, momentsOfDates(list, created, closed)...)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b moment) int { return b.At.Compare(a.At) })
	return timeline{list[:min(len(list), mostMoments)], len(list)}, nil
}

// runsOf returns the runs on an issue within workSeen.
func (v *view) runsOf(id string) ([]clone.Run, error) {
	place, err := v.LivePlace()
	if err != nil {
		return nil, err
	}
	runs, _, err := place.Runs(v.now.Add(-workSeen)) // stig doctor reports damaged lines
	return slices.DeleteFunc(runs, func(r clone.Run) bool { return r.Issue != id }), err
}

func (v *view) momentsOfRuns(runs []clone.Run) (list []moment) {
	for _, r := range runs {
		one := moment{At: r.Started, Who: r.Actor, What: "began a run"}
		if !r.Ended.IsZero() {
			one.At, one.What = r.Ended, "ran for "+cmp.Or(v.Span(r.Ended.Sub(r.Started)), "a moment")+": "+outcomeWords(r)
		}
		switch o := clone.Outcome(r.Outcome); {
		case o == clone.OutcomeClosed:
			one.Tone = "fine"
		case o.IsFailure() || o == clone.OutcomeRejected:
			one.Tone = "failed"
		}
		list = append(list, one)
	}
	return list
}

// outcomeWords says how a run ended.
func outcomeWords(r clone.Run) string {
	words := map[clone.Outcome]string{
		clone.OutcomeClosed: "its checks passed", clone.OutcomeWaiting: "it asked", clone.OutcomeAdvanced: "it left a checkpoint",
		clone.OutcomeUnproven: "no check shows its work", clone.OutcomeSilent: "it left nothing", clone.OutcomeTimedOut: "it reached its time limit",
	}[clone.Outcome(r.Outcome)]
	if words == "" {
		words = cmp.Or(r.Outcome, "no result")
	}
	if r.Why != "" && clone.Outcome(r.Outcome) != clone.OutcomeClosed {
		words += ": " + visible.OneLine(r.Why)
	}
	return words
}

// momentsOfEdits puts edits of the journal into words. Comments, questions and answers are
// taken from the issue.
func momentsOfEdits(edits []service.Logged) (list []moment) {
	for _, e := range edits {
		if e.Result != clone.Written {
			continue
		}
		one := moment{At: e.At, Who: e.Actor}
		one.describe(e)
		if one.What != "" {
			list = append(list, one)
		}
	}
	return list
}

// silentKeys change with others.
var silentKeys = []beads.Key{beads.Assignee, beads.UpdatedAt, beads.ClosedAt, beads.CloseReason, "started_at", "content_hash", "closed_by_session"}

// describe puts an edit into words; What stays empty for one that is shown otherwise.
func (m *moment) describe(e service.Logged) {
	var signals, changed []string
	for _, c := range e.Changes {
		was, now := strings.Trim(c.Was, `"`), strings.Trim(c.Now, `"`)
		switch {
		case c.Kind == "issue" && c.Was == "":
			m.What = "created it"
			return
		case c.Kind == "key" && c.Name == string(beads.Status):
			m.moved(was, now)
		case c.Kind == "signal" && c.Now != "":
			value, _, _ := strings.Cut(now, "\t") // the date follows
			signals = append(signals, c.Name+" "+value)
		case c.Kind == "section":
			m.Body = newText(c.Was, c.Now)
		case (c.Kind == "key" || c.Kind == "label" || c.Kind == "edge") && !slices.Contains(silentKeys, beads.Key(c.Name)):
			changed = append(changed, c.Name)
		}
	}
	switch command := e.Command[strings.LastIndexByte(e.Command, ' ')+1:]; {
	case m.What != "":
		m.Body = ""
	case command == "escalate" || command == "resolve" || command == "comment" || command == "add":
	case command == "checkpoint":
		if m.What = "wrote a checkpoint"; len(signals) > 0 {
			m.What += ": " + strings.Join(signals, ", ")
		}
	case len(changed) > 0:
		m.What = "changed " + visible.Some(changed, 3)
	}
}

// moved says what a change of the status means.
func (m *moment) moved(was, now string) {
	switch {
	case now == beads.StatusClosed:
		m.What, m.Tone = "closed it", "fine"
	case was == beads.StatusClosed:
		m.What, m.Tone = "reopened it", "failed"
	case now == beads.StatusInProgress:
		m.What = "claimed it"
	case was == beads.StatusInProgress:
		m.What = "released it"
	}
}

// newText returns what an edit added to a section, without its heading.
func newText(was, now string) string {
	text := strings.TrimSpace(strings.TrimPrefix(now, was))
	if strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return visible.ClippedBytes(strings.TrimSpace(text), 2000)
}

func momentsOfTraces(list []trace.Entry) (all []moment) {
	for _, l := range list {
		one := moment{At: l.At, Who: l.Source, What: "left a trace: " + l.Type}
		if l.Type == trace.Comment {
			one.What = "commented"
		}
		content, body := l.Content()
		one.Body = body
		for name, value := range content {
			one.Facts = append(one.Facts, fact{name, fmt.Sprint(value)})
		}
		slices.SortFunc(one.Facts, func(a, b fact) int { return strings.Compare(a.Name, b.Name) })
		all = append(all, one)
	}
	return all
}

// momentsOfQuestions lists questions and answers, whose notes have a date; the journal may know
// the time.
func momentsOfQuestions(asked []orient.Asked, edits []service.Logged) (list []moment) {
	add := func(date, who, what, tone, body, command string) {
		one := moment{Who: who, What: what, Tone: tone, Body: body, Day: true}
		if one.At, _ = time.Parse(time.DateOnly, date); one.At.IsZero() {
			return
		}
		for _, e := range edits {
			if e.Actor == who && strings.HasSuffix(e.Command, command) && e.At.UTC().Format(time.DateOnly) == date {
				one.At, one.Day = e.At, false
			}
		}
		list = append(list, one)
	}
	for _, q := range asked {
		if q.Question != "" {
			body := "" // of an open question, a card has the text
			if q.Answer != nil {
				body = cmp.Or(shortOf(q), q.Question)
			}
			add(q.Since, q.By, "asked", "you", body, "escalate")
		}
		if a := q.Answer; a != nil && !a.Withdrawn {
			add(a.Date, a.By, "answered", "you", a.Text, "resolve")
		} else if a != nil {
			add(a.Date, a.By, "withdrew the question", "", a.Text, "escalate")
		}
	}
	return list
}

// momentsOfDates adds what only the issue's own dates say.
func momentsOfDates(list []moment, created, closed string) (more []moment) {
	for _, d := range []struct{ at, what, verb, tone string }{{created, "created it", "It was created", ""}, {closed, "closed it", "It was closed", "fine"}} {
		at, err := time.Parse(time.RFC3339Nano, d.at)
		known := slices.ContainsFunc(list, func(m moment) bool { return m.What == d.what && m.At.Sub(at).Abs() < time.Minute })
		if err == nil && !known {
			more = append(more, moment{At: at, What: d.verb, Tone: d.tone})
		}
	}
	return more
}
