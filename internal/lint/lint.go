package lint

import (
	"slices"

	"stig/dag"
	"stig/internal/beads"
)

// Lint validates the content of issues: how they are linked, and what they leave for later
// workers. If only is not nil, it checks those issues and not the store as a whole. Missing
// criteria are a warning here, and for information in Check.
func Lint(f *beads.Snapshot, only []int, rules Rules) ([]Diagnostic, error) {
	found, err := inspect(f, only, rules, content, nil)
	if only == nil {
		found = append(found, across(f)...)
	}
	for i, d := range found {
		if d.Rule == RuleNoCriteria {
			found[i].Severity = Warning // Lint asks for them, as bd lint does
		}
	}
	return inOrder(found), err
}

// content are the judges of Lint.
var content = []judge{
	unread, nearMiss, unknownType, dangling, epicAsBlocker, unlinkedChild, severalParents,
	label, notStarted, closeReason, unshown, greenBefore, acceptance, credentials, unfounded, waived, comments,
}

// Check runs Vet, Cycles and Lint in one pass over the file; with Rules.Past it also reports
// changes since then that must not go unnoticed.
func Check(f *beads.Snapshot, g *dag.Graph, rules Rules) ([]Diagnostic, error) {
	found, err := inspect(f, nil, rules, slices.Concat(form, content), inCheck{})
	if err != nil {
		return nil, err
	}
	deadlocks := Cycles(f, g)
	found = slices.DeleteFunc(found, func(d Diagnostic) bool {
		return d.Rule == RuleEpicBlock && slices.ContainsFunc(deadlocks, d.saidBy)
	})
	if rules.Past != nil {
		since, err := against(f, *rules.Past, rules)
		if err != nil {
			return nil, err
		}
		found = append(found, since...)
	}
	return inOrder(slices.Concat(unfinished(f, rules), store(f), deadlocks, across(f), found)), nil
}

// Unfinished describes an unfinished git merge of the store, and what to type.
type Unfinished struct{ Reason, Hint string }

// unfinished reports a merge that no line of the store shows.
func unfinished(f *beads.Snapshot, rules Rules) []Diagnostic {
	if rules.Unfinished == nil {
		return nil
	}
	return []Diagnostic{breach(f, RuleUnfinished, "", 1, "the store "+rules.Unfinished.Reason, rules.Unfinished.Hint)}
}

// saidBy reports whether a deadlock of the same issue already says that it waits for its own
// epic.
func (d Diagnostic) saidBy(deadlock Diagnostic) bool {
	return deadlock.Rule == RuleDeadlock && deadlock.ID == d.ID
}
