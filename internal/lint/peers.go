package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

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
			s.add(RuleRefused, 0, 0, m.Message, "write such a value into the line, or take the key out")
		}
	}
	for _, b := range bounds() {
		if why := b.breach(s.record); why != "" {
			s.add(RuleRefused, 0, 0, why, b.hint)
		}
	}
}

// bound is what a program takes of values of the right type.
type bound struct {
	breach func(*beads.Record) string // says what is out of bounds, "" for nothing
	hint   string
}

// bounds are those of bd and of beads_rust; lengths are in bytes, as they count.
var bounds = sync.OnceValue(func() []bound {
	return []bound{
		{noBlank(beads.ID), "give the issue another id in every line that names it"},
		{atMost(beads.Title, 500), "shorten the title, and put the rest into the description"},
		{atMost(beads.Description, 100<<10), "shorten the description: beads_rust takes 100 KiB"},
		{atMost(beads.ExternalRef, 200), "shorten the reference: beads_rust takes 200 bytes"},
		{noBlank(beads.ExternalRef), "write the reference without blanks, for beads_rust"},
		{negative(beads.EstimatedMinutes), "write the minutes as a number from 0, or take the key out"},
		{oneOf("agent_state", "idle", "spawning", "running", "working", "stuck", "done", "stopped", "dead"), "write one of the states of bd, or take the key out"},
		{exclusive("ephemeral", "no_history"), "take one of the two keys out"},
	}
})

func atMost(k beads.Key, most int) func(*beads.Record) string {
	return func(r *beads.Record) string {
		if len(r.Raw(k)) <= most {
			return "" // decoded it is shorter
		}
		if n := len(r.Text(k)); n > most {
			return fmt.Sprintf("%q has %d bytes; at most %d", k, n, most)
		}
		return ""
	}
}

func noBlank(k beads.Key) func(*beads.Record) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return func(r *beads.Record) string {
		if !bytes.ContainsFunc(r.Raw(k), func(c rune) bool { return c == '\\' || blank(c) }) {
			return ""
		}
		if text := r.Text(k); strings.ContainsFunc(text, blank) {
			return fmt.Sprintf("%q holds a blank: %s", k, opening(text))
		}
		return ""
	}
}

func negative(k beads.Key) func(*beads.Record) string {
	return func(r *beads.Record) string {
		if raw := r.Raw(k); len(raw) > 0 && raw[0] == '-' {
			return fmt.Sprintf("%q is negative: %.20s", k, raw)
		}
		return ""
	}
}

func oneOf(k beads.Key, allowed ...string) func(*beads.Record) string {
	return func(r *beads.Record) string {
		if text := r.Text(k); text != "" && !slices.Contains(allowed, text) {
			return fmt.Sprintf("%q %s is none that bd has", k, opening(text))
		}
		return ""
	}
}

func exclusive(one, other beads.Key) func(*beads.Record) string {
	return func(r *beads.Record) string {
		if string(r.Raw(one)) == "true" && string(r.Raw(other)) == "true" {
			return fmt.Sprintf("%q and %q exclude each other", one, other)
		}
		return ""
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
	updated, also := s.record.Time(beads.UpdatedAt)
	if !ok || !also || !updated.Before(made) {
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
	for i, dep := range deps {
		switch {
		case first(i) < i:
			s.add(RuleRow, 0, 0, fmt.Sprintf("the dependency on %s (%s) stands twice", dep.On, dep.Type), "take one of the rows out of the line")
		case dep.On == s.issue.ID && !dag.Blocks(dep.Type) && !dag.Contains(dep.Type): // else it is a deadlock
			s.add(RuleRow, 0, 0, fmt.Sprintf("a dependency of type %q on itself", dep.Type), "type "+s.drop(dep))
		}
	}
}

// manyRows is how many rows are compared with each other rather than looked up.
const manyRows = 16
