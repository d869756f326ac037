package lint

import (
	"slices"

	"stig/dag"
	"stig/internal/beads"
)

// Lint validates what the issues say: how they are linked,
// and what they leave for those who come after. With indices it looks at those
// issues only, without at the whole file. That an issue has no criteria is a warning here,
// and for information in Check.
func Lint(f *beads.Snapshot, only []int, rules Rules) ([]Diagnostic, error) {
	found, err := inspect(f, only, rules, content, nil)
	if only == nil {
		found = append(found, across(f)...)
	}
	for i, d := range found {
		if d.Rule == RuleNoCriteria {
			found[i].Severity = Warning // asked of the issues themselves, as bd lint is
		}
	}
	return inOrder(found), err
}

// content are the judges of Lint.
var content = []judge{
	unread, nearMiss, unknownType, dangling, epicAsBlocker, unlinkedChild, severalParents,
	label, notStarted, closeReason, unshown, greenBefore, acceptance, credentials, unfounded, waived, comments,
}

// Check is Vet, Cycles and Lint in one pass over the file; with Rules.Past it
// also says what happened since that should not have happened unseen.
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

// Unfinished is what a merge that git has not finished left of the store, and what
// to type.
type Unfinished struct{ Reason, Hint string }

// unfinished finds what no line of the store shows.
func unfinished(f *beads.Snapshot, rules Rules) []Diagnostic {
	if rules.Unfinished == nil {
		return nil
	}
	return []Diagnostic{breach(f, RuleUnfinished, "", 1, "the store "+rules.Unfinished.Reason, rules.Unfinished.Hint)}
}

// saidBy reports whether a deadlock of the same issue says already that it waits
// for its own epic.
func (d Diagnostic) saidBy(deadlock Diagnostic) bool {
	return deadlock.Rule == RuleDeadlock && deadlock.ID == d.ID
}
