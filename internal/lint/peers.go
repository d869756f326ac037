package lint

import (
	"fmt"
	"slices"
	"time"

	"stig/dag"
	"stig/internal/beads"
)

// refused finds values that stig reads past and other programs refuse, and with them the
// line or the whole file: those of another type than their key has, and those out of bounds.
func refused(s *subject) {
	for _, m := range s.record.Misfits() {
		switch {
		case m.Key == beads.Priority: // see priority
		case m.Time && m.Means.IsZero():
			s.add(RuleTime, 0, 0, m.Message, "write a time such as 2006-01-02T15:04:05Z into the line")
		case m.Time:
			s.add(RuleTime, 0, 0, m.Message, fmt.Sprintf("write %q into the line, as which it is read", m.Means.Format(time.RFC3339)))
		default:
			s.add(RuleRefused, 0, 0, m.Message, "write into the line what bd takes, or take the key out")
		}
	}
	if s.issue.Ephemeral && string(s.record.Raw("no_history")) == "true" {
		s.add(RuleRefused, 0, 0, `"ephemeral" and "no_history" exclude each other`, "take one of the two keys out of the line")
	}
}

// closing finds times of closing and deleting that the status contradicts.
func closing(s *subject) {
	has := func(k beads.Key) bool { raw := s.record.Raw(k); return len(raw) > 2 && raw[0] == '"' }
	extra := func(k beads.Key, status string) {
		s.add(RuleClosing, 0, 0, fmt.Sprintf("%s on an issue with the status %s", k, opening(s.issue.Status)),
			fmt.Sprintf("take %s out of the line, or set the status to %s", k, status))
	}
	switch closed := has(beads.ClosedAt); {
	case closed && !s.over():
		extra(beads.ClosedAt, beads.StatusClosed)
	case !closed && s.closed():
		s.add(RuleClosing, 0, 0, "status closed without closed_at", `write "closed_at" into the line, the time when it was`)
	}
	if has("deleted_at") && s.issue.Status != beads.StatusTombstone {
		extra("deleted_at", beads.StatusTombstone)
	}
}

// backdated finds issues that changed before they were made.
func backdated(s *subject) {
	made, ok := s.record.Time(beads.CreatedAt)
	if !ok || s.issue.UpdatedAt.IsZero() || !s.issue.UpdatedAt.Before(made) {
		return
	}
	if made.After(s.rules.Now) && !s.rules.Now.IsZero() {
		s.add(RuleBackdated, 0, 0, "updated_at is before created_at, which is ahead", "write into created_at when it was made: a clock was wrong")
		return
	}
	s.add(RuleBackdated, 0, 0, "updated_at is before created_at", "type stig vet --fix to set it to now")
	s.found[len(s.found)-1].fix = &fix{redate: true}
}

// repeatedRows finds rows to the issue itself, and rows that stand twice.
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
		case dep.On == s.issue.ID && !dag.Blocks(dep.Type) && !dag.Contains(dep.Type): // else it is a deadlock
			s.add(RuleRow, 0, 0, fmt.Sprintf("a dependency of type %q on itself", dep.Type), "type "+s.drop(dep))
		}
	}
	if len(twice) == 0 {
		return
	}
	message := fmt.Sprintf("the dependency on %s (%s) stands twice", twice[0].On, twice[0].Type)
	if len(twice) > 1 {
		message += fmt.Sprintf("; %d more", len(twice)-1)
	}
	s.add(RuleRow, 0, 0, message, "take one of the rows out of the line")
}

// manyRows is how many rows are compared with each other rather than looked up.
const manyRows = 16
