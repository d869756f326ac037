package lint

import (
	"fmt"
	"strings"

	"stig/internal/beads"
	"stig/internal/trace"
)

// comments checks that the comments of an issue have an author and a text, and that traces
// match their types.
func comments(s *subject) {
	if !s.record.Has(beads.Comments) {
		return
	}
	s.record.EachComment(func(at int, n string, c beads.Comment) {
		if n != "" {
			s.numbers = append(s.numbers, number{n, s.issue, at + 1})
		}
		if c.Author == "" || strings.TrimSpace(c.Text) == "" {
			s.add(RuleComment, 0, 0, fmt.Sprintf("comment %d:1: no author or no text", at+1), "complete it by hand, or remove it: a comment needs an author and a text")
		} else if trace.May(c) {
			s.trace(trace.Read(s.issue.ID, at, c))
		}
	})
}

// trace validates a comment that ends like a trace.
func (s *subject) trace(l trace.Entry) {
	said := func(rule string, line int, message, hint string) {
		s.add(rule, 0, 0, fmt.Sprintf("comment %d:%d: %s", l.Index+1, line, message), hint)
	}
	_, known := trace.KindOf(l.Type)
	switch {
	case l.Flaw != nil:
		said(RuleTrace, 1, l.Flaw.Error(), "it counts as a comment; add it again with stig trace add "+s.issue.ID+" TYPE")
	case l.IsTrace() && !known:
		said(RuleTrace, 1, fmt.Sprintf("unknown trace type %q", l.Type), "stig trace add --help lists the types")
	case l.IsTrace():
		for _, p := range l.Problems() {
			said(RuleTraceContent, l.Line(p.Key), p.Message, "add it again with stig trace add "+s.issue.ID+" "+l.Type+"; comments are not edited")
		}
	}
}

// number is the number of a comment, and its place.
type number struct {
	number string
	issue  *beads.Issue
	at     int // 1-based
}

// renumbered reports numbers that several comments have, on the same or different issues: bd
// has one table of all comments.
func renumbered(f *beads.Snapshot, all []number) (found []Diagnostic) {
	first := map[string]number{}
	for _, n := range all {
		before, twice := first[n.number]
		if !twice {
			first[n.number] = n
			continue
		}
		found = append(found, breach(f, RuleCommentNumber, n.issue.ID, n.issue.Line,
			fmt.Sprintf("comment %d has the number %s, as does comment %d of %s", n.at, n.number, before.at, before.issue.ID),
			"write another number into its id: some versions of bd refuse to import such a store"))
	}
	return found
}
