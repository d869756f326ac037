package lint

import (
	"fmt"
	"slices"
	"time"

	"stig/dag"
	"stig/internal/beads"
)

// refused reports values that stig tolerates but for which other programs refuse the line or
// the whole file: values of another type than their key has, and values out of bounds.
func refused(s *subject) {
	for _, m := range s.record.Misfits() {
		switch {
		case m.Key == beads.Priority: // see priority
		case m.Time && m.Means.IsZero():
			s.add(RuleTime, 0, 0, m.Message, "write a time such as 2006-01-02T15:04:05Z into the line")
		case m.Time:
			s.add(RuleTime, 0, 0, m.Message, fmt.Sprintf("write %q into the line: stig reads it as that", m.Means.Format(time.RFC3339)))
		default:
			s.add(RuleRefused, 0, 0, m.Message, "write a value that bd accepts into the line, or remove the key")
		}
	}
	if s.issue.Ephemeral && string(s.record.Raw("no_history")) == "true" {
		s.add(RuleRefused, 0, 0, `"ephemeral" and "no_history" cannot be used together`, "remove one of the two keys from the line")
	}
}

// closing reports times of closing and deleting that contradict the status.
func closing(s *subject) {
	has := func(k beads.Key) bool { raw := s.record.Raw(k); return len(raw) > 2 && raw[0] == '"' }
	extra := func(k beads.Key, status string) {
		s.add(RuleClosing, 0, 0, fmt.Sprintf("%s on an issue with the status %s", k, opening(s.issue.Status)),
			fmt.Sprintf("remove %s from the line, or set the status to %s", k, status))
	}
	switch closed := has(beads.ClosedAt); {
	case closed && !s.over():
		extra(beads.ClosedAt, beads.StatusClosed)
	case !closed && s.closed():
		s.add(RuleClosing, 0, 0, "status closed without closed_at", `write "closed_at" into the line, with the time of closing`)
	}
	if has("deleted_at") && s.issue.Status != beads.StatusTombstone {
		extra("deleted_at", beads.StatusTombstone)
	}
}

// backdated reports issues that were updated before they were created.
func backdated(s *subject) {
	made, ok := s.record.Time(beads.CreatedAt)
	if !ok || s.issue.UpdatedAt.IsZero() || !s.issue.UpdatedAt.Before(made) {
		return
	}
	if made.After(s.rules.Now) && !s.rules.Now.IsZero() {
		s.add(RuleBackdated, 0, 0, "updated_at is before created_at, which is ahead", "write the time of creation into created_at: a clock was wrong")
		return
	}
	s.add(RuleBackdated, 0, 0, "updated_at is before created_at", "type stig vet --fix to set it to now")
	s.found[len(s.found)-1].fix = &fix{redate: true}
}

// repeatedRows reports rows to the issue itself, and duplicate rows.
func repeatedRows(s *subject) {
	deps := s.issue.Deps
	first := func(at int) int { return slices.Index(deps, deps[at]) }
	if len(deps) > manyRows {
		seen := make(map[beads.Dep]int, len(deps))
		for i, d := range slices.Backward(deps) {
			seen[d] = i
		}
		first = func(at int) int { return seen[deps[at]] }
	}
	var twice []beads.Dep
	for i, dep := range deps {
		switch {
		case first(i) < i:
			twice = append(twice, dep)
		case dep.On == s.issue.ID && !dag.Blocks(dep.Type) && !dag.Contains(dep.Type): // otherwise Cycles reports a deadlock
			s.add(RuleRow, 0, 0, fmt.Sprintf("a dependency of type %q on itself", dep.Type), "type "+s.drop(dep))
		}
	}
	if len(twice) == 0 {
		return
	}
	message := fmt.Sprintf("duplicate dependency on %s (%s)", twice[0].On, twice[0].Type)
	if len(twice) > 1 {
		message += fmt.Sprintf("; %d more", len(twice)-1)
	}
	s.add(RuleRow, 0, 0, message, "remove one of the rows from the line")
}

// manyRows is the number of rows up to which each is compared with the others; more are looked
// up in a map.
const manyRows = 16
