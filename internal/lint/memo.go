package lint

import (
	"slices"

	"stig/internal/beads"
)

// judged is the cached result of an issue: its diagnostics, and what was looked up besides its
// line. A process that validates a store repeatedly keeps it in the memo of the snapshot.
type judged struct {
	found   []Diagnostic
	numbers []number
	asked   []answer
}

// inCheck is the key in a memo for the results of Check.
type inCheck struct{}

// answer records what a judge looked up beyond the issue's own line, and the result.
type answer struct {
	id  string // of the issue that was looked up
	was uint64 // its beads.Issue.Version; 0 if there is none
}

// find returns the issue with an id.
func (s *subject) find(id string) (*beads.Issue, bool) {
	is, version := find(s.file, id)
	s.note(answer{id, version})
	return is, is != nil
}

func find(f *beads.Snapshot, id string) (*beads.Issue, uint64) {
	at, there := f.Index(id)
	if !there {
		return nil, 0
	}
	return f.At(at), f.At(at).Version()
}

// kept reports whether the store is read with a memo.
func (s *subject) kept() bool { return s.issue.Version() != 0 }

// note records an answer if the store is read with a memo.
func (s *subject) note(a answer) {
	if s.kept() && !slices.Contains(s.asked, a) {
		s.asked = append(s.asked, a)
	}
}

// remember caches the result, unless it depends on another store, or on a time that is ahead.
func (s *subject) remember(as any) {
	if as == nil || !s.kept() || s.outside {
		return
	}
	for _, d := range s.found {
		if d.Rule == RuleAhead {
			return
		}
	}
	numbers := slices.Clone(s.numbers)
	for i := range numbers {
		numbers[i].issue = nil // it would retain the whole snapshot
	}
	s.issue.Remember(as, judged{slices.Clip(s.found), numbers, slices.Clip(s.asked)})
}

// recalled returns the cached result of an issue if every lookup has the same answer; otherwise
// nil.
func recalled(f *beads.Snapshot, issue *beads.Issue, as any) *subject {
	if as == nil {
		return nil
	}
	was, ok := issue.Remembered(as).(judged)
	if !ok {
		return nil
	}
	for _, a := range was.asked {
		if _, version := find(f, a.id); version != a.was {
			return nil
		}
	}
	s := &subject{}
	for _, d := range was.found {
		d.Line = issue.Line
		s.found = append(s.found, d)
	}
	for _, n := range was.numbers {
		n.issue = issue
		s.numbers = append(s.numbers, n)
	}
	return s
}
