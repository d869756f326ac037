package orient

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"stig/beads"
	"stig/notes"
	"stig/signals"
)

// Rules of attention beside those of alerts.
const (
	attentionDeadlock   = "deadlock"
	attentionStore      = "store"
	attentionViolation  = "violation"
	attentionEscalation = "escalation-pending"
	attentionRegressed  = "regressed"
)

// urgency is the order of attention.
func urgency() []string {
	return []string{
		attentionDeadlock, attentionStore, attentionViolation, attentionEscalation, attentionRegressed,
		signals.AlertStale, signals.AlertReplanning, signals.AlertConvergence, signals.AlertStuck,
	}
}

// attention lists what needs it, the most urgent rule first, then by id.
func (s *surveyor) attention() ([]Attention, error) {
	list := s.deadlocks()
	if n := len(s.file.Problems()); n > 0 {
		list = append(list, Attention{Rule: attentionStore, Argv: []string{"stig", "vet"},
			Message: fmt.Sprintf("%s cannot be read or contradict each other, beginning with line %d: %s",
				count(n, "line"), s.file.Problems()[0].Line, s.file.Problems()[0].Message)})
	}
	list = append(list, s.violations()...)
	about := func(rule, id, message, command string) {
		list = append(list, Attention{Rule: rule, ID: id, Message: message, Argv: []string{"stig", command, id}})
	}
	var failed error
	s.each(func(i int, issue *beads.Issue) {
		if s.traces[i].pending {
			about(attentionEscalation, issue.ID, "", "orient") // the question is read once it is known to be shown
		}
		if s.traces[i].regressed {
			about(attentionRegressed, issue.ID, "what it was shown to do ceased to hold; its status is "+issue.Status, "orient")
		}
		alerts, err := s.alarm.of(i)
		if err != nil {
			failed = err
		}
		for _, a := range alerts {
			command := "orient"
			if a.Rule == signals.AlertConvergence {
				command = "review"
			}
			about(a.Rule, issue.ID, a.Message, command)
		}
	})
	return s.ranked(list), failed
}

// ranked sorts by rule, then by the priority of the issue, then by id; what is
// about the store comes last of its rule.
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

func (s *surveyor) deadlocks() []Attention {
	list := []Attention{}
	name := func(i int) string { return s.file.At(i).ID }
	for _, ring := range s.graph.Deadlocks() {
		var words []string
		for _, step := range ring.Steps {
			words = append(words, step.Words(name))
		}
		list = append(list, Attention{
			Rule: attentionDeadlock, ID: name(ring.Steps[0].Issue), Message: strings.Join(words, "; "),
			Argv: []string{"stig", "dep", "rm", name(ring.Remove.From), "--on", name(ring.Remove.On)},
		})
	}
	return list
}

// violations lists the unclosed issues whose notes break the convention one by
// one, and the closed ones as a number.
func (s *surveyor) violations() []Attention {
	var list []Attention
	closed := 0
	s.each(func(i int, issue *beads.Issue) {
		t := s.traces[i]
		switch {
		case t.wrong == 0:
			return
		case s.graph.Closed(i):
			closed++
			return
		}
		message := t.violation
		if t.wrong > 1 {
			message += fmt.Sprintf(" (and %d more)", t.wrong-1)
		}
		list = append(list, Attention{Rule: attentionViolation, ID: issue.ID, Message: message, Argv: []string{"stig", "vet", issue.ID}})
	})
	if closed > 0 {
		list = append(list, Attention{Rule: attentionViolation, Argv: []string{"stig", "vet"},
			Message: count(closed, "closed issue") + " with notes that break the convention"})
	}
	return list
}

// question is the first line of what waits for a person.
func question(issue *beads.Issue) (string, error) {
	record, err := issue.Record()
	if err != nil {
		return "", err
	}
	parts := signals.Questions(signals.Escalations(notes.Parse(record.Text(beads.Notes))))
	for _, p := range parts {
		if line := firstLine(p.Text); line != "" {
			return line, nil
		}
	}
	return "", nil
}
