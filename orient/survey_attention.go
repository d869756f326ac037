package orient

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// Rules of attention besides those of alerts.
const (
	attentionDeadlock   = "deadlock"
	attentionStore      = "store"
	attentionUnread     = "unread"
	attentionViolation  = "violation"
	attentionTrail      = "trail-unsummarised"
	attentionLeft       = "claims-left"
	attentionEscalation = "escalation-pending"
	attentionRegressed  = "regressed"
	attentionClosed     = "closed-with-open-children"
)

// urgency lists the rules, the most urgent first: what holds people up, then the rest.
func urgency() []string {
	return []string{
		attentionDeadlock, attentionStore, attentionUnread, attentionEscalation, attentionLeft, signals.AlertStale,
		attentionRegressed, signals.AlertReplanning, signals.AlertConvergence, signals.AlertStuck, attentionClosed, attentionTrail, attentionViolation,
	}
}

// holds reports whether the entry holds people up or is only for information.
func (a Attention) holds() bool {
	switch a.Rule {
	case attentionDeadlock, attentionStore, attentionUnread, attentionEscalation, signals.AlertStale:
		return true
	}
	return false
}

// words returns the entry in one line. The text of a question is not read yet when the first
// step is recommended.
func (a Attention) words() string {
	words := ruleWords(a.Rule)
	if a.ID != "" && a.Rule != attentionDeadlock {
		words += ": " + a.ID + " " + title(a.Title)
	}
	if message := visible.OneLine(a.Message); message != "" {
		words += ": " + message
	}
	return words
}

// ruleWords returns the name of a rule in a survey.
func ruleWords(rule string) string {
	switch rule {
	case attentionDeadlock:
		return "dependency cycle"
	case attentionStore:
		return "store"
	case attentionUnread:
		return "cannot be read"
	case attentionEscalation:
		return "question"
	case signals.AlertStale:
		return "stale claim"
	case signals.AlertReplanning:
		return "epic to replan"
	case signals.AlertConvergence:
		return "convergence"
	case signals.AlertStuck:
		return "waiting epic"
	case attentionLeft:
		return "claims"
	case attentionClosed:
		return "closed epic"
	case attentionTrail:
		return "no summary"
	case attentionViolation:
		return "invalid notes"
	}
	return rule
}

// attention lists what needs attention, the most urgent rule first, then by id.
func (s *surveyor) attention() ([]Attention, error) {
	list := s.deadlocks()
	if n := len(s.file.Problems()); n > 0 {
		list = append(list, Attention{Rule: attentionStore, Argv: []string{"stig", "vet"}, first: !s.file.CanEdit(),
			Message: fmt.Sprintf("%s cannot be read or used, starting at line %d: %s",
				visible.Counted(n, "line"), s.file.Problems()[0].Line, s.file.Problems()[0].Message)})
	}
	if n, unnamed := s.left(); n > 0 {
		message := fmt.Sprintf("%d to return", n)
		if unnamed > 0 {
			message += fmt.Sprintf(", %d of them unassigned", unnamed)
		}
		list = append(list, Attention{Rule: attentionLeft, Argv: []string{"stig", "sweep", "--dry-run"}, Message: message})
	}
	for _, i := range s.graph.HeldBeside() {
		issue := s.file.At(i)
		words := s.graph.Beside(i).Unread().Words(i, func(i int) string { return s.file.At(i).ID })
		if len(words) == 0 || !s.graph.Lasting(i) {
			continue
		}
		list = append(list, Attention{Rule: attentionUnread, ID: issue.ID, Title: issue.Title, Argv: []string{"stig", "orient", issue.ID},
			Message: "it " + strings.Join(words, "; it ") + ", so it waits"})
	}
	list = append(list, s.closedEpics()...)
	var failed error
	s.each(func(i int, issue *beads.Issue) {
		about := func(rule, message, command string) {
			list = append(list, Attention{Rule: rule, ID: issue.ID, Title: issue.Title, Message: message, Argv: []string{"stig", command, issue.ID}})
		}
		t := s.notes[i]
		if t.wrong > 0 && !s.graph.Closed(i) {
			about(attentionViolation, andMore(t.violation, t.wrong-1), "vet")
		}
		if t.Asks && !s.graph.Closed(i) {
			about(attentionEscalation, "", "orient") // the question is read only if it is shown
		}
		if t.unsummarised > 0 {
			about(attentionTrail, visible.Counted(t.unsummarised, "trace")+" since the last summary", "digest")
		}
		if t.regressed {
			about(attentionRegressed, "what was verified no longer holds; its status is "+issue.Status, "orient")
		}
		alerts, err := s.alarm.of(i)
		if err != nil {
			failed = err
		}
		for _, a := range alerts {
			switch a.Rule {
			case signals.AlertConvergence:
				about(a.Rule, a.Message, "review")
			case signals.AlertStale:
				about(a.Rule, cmp.Or(visible.OneLine(issue.Assignee), nobody)+", "+strings.TrimPrefix(a.Message, "in progress, "), "orient")
			default:
				about(a.Rule, a.Message, "orient")
			}
		}
	})
	return s.ranked(list), failed
}

// left counts the claims that a sweep would return, and those without an assignee.
func (s *surveyor) left() (n, unnamed int) {
	if s.returned == nil {
		return 0, 0
	}
	s.each(func(_ int, issue *beads.Issue) {
		if issue.Status == beads.StatusInProgress && s.returned(issue) {
			n++
			if issue.Assignee == "" {
				unnamed++
			}
		}
	})
	return n, unnamed
}

// closedEpics lists the closed issues with unclosed children.
func (s *surveyor) closedEpics() (list []Attention) {
	for _, i := range s.graph.Epics() {
		issue := s.file.At(i)
		if issue.Status != beads.StatusClosed || !s.graph.Lasting(i) {
			continue
		}
		if closed, all := s.graph.Progress(i); closed < all {
			list = append(list, Attention{Rule: attentionClosed, ID: issue.ID, Title: issue.Title, Argv: []string{"stig", "orient", issue.ID},
				Message: fmt.Sprintf("closed, with %d of %d children unclosed", all-closed, all)})
		}
	}
	return list
}

// ranked sorts by rule, then by the issue's priority, then by id; entries about the store come
// last of their rule.
func (s *surveyor) ranked(list []Attention) []Attention {
	order := map[string]int{}
	for k, rule := range urgency() {
		order[rule] = k
	}
	priority := func(a Attention) int {
		if i, ok := s.file.Index(a.ID); ok {
			return s.file.At(i).Priority
		}
		return math.MaxInt
	}
	type place struct{ rule, priority, at int }
	places := make([]place, len(list))
	for k, a := range list {
		places[k] = place{order[a.Rule], priority(a), k}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(a.rule-b.rule, cmp.Compare(a.priority, b.priority), strings.Compare(list[a.at].ID, list[b.at].ID), a.at-b.at)
	})
	sorted := make([]Attention, len(list))
	for k, p := range places {
		sorted[k] = list[p.at]
	}
	return sorted
}

// countRules counts a ranked list by rule.
func countRules(list []Attention) []RuleCount {
	counts := []RuleCount{}
	for _, a := range list {
		if last := len(counts) - 1; last >= 0 && counts[last].Rule == a.Rule {
			counts[last].Count++
			continue
		}
		counts = append(counts, RuleCount{Rule: a.Rule, Count: 1})
	}
	return counts
}

// nobody is shown for an issue in progress without an assignee.
const nobody = "nobody named"

func andMore(text string, more int) string {
	if more == 0 {
		return text
	}
	return fmt.Sprintf("%s (and %d more)", text, more)
}

// deadlocks lists the dependency cycles. Cycles that share an issue are one entry; the command
// shows all rows to remove.
func (s *surveyor) deadlocks() []Attention {
	list := []Attention{}
	name := func(i int) string { return s.file.At(i).ID }
	rings := slices.DeleteFunc(s.graph.Deadlocks(), func(r dag.Ring) bool {
		return !slices.ContainsFunc(r.Steps, func(at dag.Step) bool { return s.graph.Lasting(at.Issue) })
	})
	for _, tangle := range dag.CycleGroups(rings) {
		ring := tangle[0]
		a := Attention{
			Rule: attentionDeadlock, ID: name(ring.Steps[0].Issue), Title: s.file.At(ring.Steps[0].Issue).Title,
			Message: strings.Join(dag.Circle(ring.Steps, name), "; "), Argv: []string{"stig", "cycles"},
		}
		switch more := len(tangle) - 1; {
		case more == 1:
			a.Message += "; 1 more dependency forms such a cycle with these"
		case more > 1:
			a.Message += fmt.Sprintf("; %d more dependencies form such a cycle with these", more)
		case !s.file.Place().ByBD():
			a.Argv = []string{"stig", "dep", "rm", name(ring.Remove.From), "--on", name(ring.Remove.On), "--type", ring.Remove.Type}
		}
		list = append(list, a)
	}
	return list
}

// question returns what waits for a person: for how long, who asked, and the first line.
func question(issue *beads.Issue, now time.Time) (string, error) {
	record, err := issue.Record()
	if err != nil {
		return "", err
	}
	parts := signals.Questions(signals.Escalations(notes.Parse(record.Text(beads.Notes))))
	if len(parts) == 0 {
		return "waits for a person, but no question is recorded", nil
	}
	words := "asked"
	if days, ok := age(parts[0].Date, now); ok {
		words += " " + ago(days)
	}
	if by := visible.OneLine(parts[0].By); by != "" {
		words += " by " + by
	}
	return andMore(words+": "+firstLine(parts[0].Text), len(parts)-1), nil
}

// Worker is an actor whose worker loop runs, or was stopped.
type Worker struct {
	Name  string `json:"name"`
	State string `json:"state"`           // see the constants
	Issue string `json:"issue,omitempty"` // the current issue
	Why   string `json:"why,omitempty"`   // reason for the state, one line
}

// The states of a worker. The states that people set (paused, draining, maintenance) are named
// in package clone.
const (
	WorkerWorking = "working" // at an issue
	WorkerWaiting = "waiting" // for work
	WorkerEnded   = "ended"   // its loop was killed at an issue
)

// words returns what a worker does, and the command to type if somebody must act.
func (w Worker) words() string {
	text := w.State
	switch {
	case w.State == WorkerWorking:
		text = "works on " + w.Issue
	case w.State == WorkerWaiting:
		text = "waits for work"
	case w.State == WorkerEnded:
		return "its loop ended at " + w.Issue
	case w.Issue != "":
		text += ", at " + w.Issue
	}
	if w.Why != "" {
		text += ": " + title(w.Why)
	}
	return text
}

// workersPart lists the running worker loops, and those that were paused.
func (s *Survey) workersPart(w *page) {
	if len(s.Workers) == 0 {
		return
	}
	w.heading("Workers")
	for _, worker := range s.Workers {
		w.linef("- %s %s", visible.OneLine(worker.Name), worker.words())
	}
}

// alerts finds the alerts of issues.
type alerts struct {
	signals.Around
	file  *beads.Snapshot
	graph *dag.Graph
	rules Rules
}

// newAlerts takes a function that reads summaries, because a survey has read all of them and a
// briefing reads only what it needs.
func newAlerts(f *beads.Snapshot, g *dag.Graph, rules Rules, read func(i int) (summary, error)) alerts {
	worker := dag.Worker{Now: rules.Now, Asked: func(i int) bool { // an unreadable issue fails when its own alerts are computed
		n, err := read(i)
		return err == nil && n.Asks
	}}
	return alerts{file: f, graph: g, rules: rules, Around: signals.Around{
		Graph: g,
		Tally: func(epic int) (unclosed, startable, inProgress int) {
			t := g.Tally(epic, worker)
			return t.Unclosed(), t.Startable(), t.InProgress
		},
		Read: func(i int) (signals.Summary, error) {
			n, err := read(i)
			return n.Summary, err
		},
	}}
}

// of lists the alerts of an unclosed issue, the most urgent first; a closed one has none.
func (a alerts) of(i int) ([]signals.Alert, error) {
	list := []signals.Alert{}
	if a.graph.Closed(i) {
		return list, nil
	}
	if issue := a.file.At(i); issue.Status == beads.StatusInProgress {
		if alert, is := signals.Stale(issue.UpdatedAt, a.rules.Now, a.rules.StaleDays); is {
			list = append(list, alert)
		}
	}
	alerts, err := a.OfChildren(i)
	list = append(list, alerts...)
	if err == nil && a.graph.Converges(i) {
		alerts, err = a.OfBlockers(i, a.graph.ClosedBlockers(i), "")
		list = append(list, alerts...)
	}
	return list, err
}

// alerts returns the alerts of the issue, then those of its epic. c are the issue's children,
// nil if they were not read.
func (a assembly) alerts(i int, c *Children) ([]signals.Alert, error) {
	alarm := newAlerts(a.file, a.graph, a.rules, func(i int) (summary, error) { return notedOf(a.file.At(i), a.rules.Schema) })
	list, err := alarm.of(i)
	if err != nil {
		return nil, err
	}
	for k := range list {
		if list[k], err = a.named(list[k], i, c); err != nil {
			return nil, err
		}
	}
	epic, ok := a.graph.Epic(i)
	if !ok || a.graph.Closed(i) {
		return list, nil
	}
	above, err := alarm.of(epic)
	if err != nil {
		return nil, err
	}
	for _, alert := range above {
		if alert, err = a.named(alert, epic, nil); err != nil {
			return nil, err
		}
		alert.Message = a.file.At(epic).ID + ": " + alert.Message
		list = append(list, alert)
	}
	return list, nil
}
