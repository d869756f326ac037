package lint

import "slices"

// Rule is one thing that a store is held against. The table of rules is the
// only place that says how bad a breach is and why it matters: diagnostics,
// explanations and the formats that list rules all read it.
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"` // what is wrong, in one line
	Why      string   `json:"why"`     // why it matters
	Example  string   `json:"example"` // what breaks the rule
	Fix      string   `json:"fix"`     // what to do about it
}

// All lists the rules by id.
func All() []Rule {
	all := slices.Concat(storeRules, sectionRules, signalRules, linkRules, trailRules)
	slices.SortFunc(all, byID)
	return all
}

// Named finds a rule by its id.
func Named(id string) (Rule, bool) {
	for _, rules := range [][]Rule{storeRules, sectionRules, signalRules, linkRules, trailRules} {
		if i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
			return rules[i], true
		}
	}
	return Rule{}, false
}

func byID(a, b Rule) int {
	if a.ID < b.ID {
		return -1
	}
	if a.ID > b.ID {
		return 1
	}
	return 0
}

// Rules that this package finds itself; the others are those of beads and signals.
const (
	RuleMalformed   = "section-malformed"
	RuleEscalation  = "escalation-disagrees"
	RuleEstimate    = "estimate-missing"
	RuleDescription = "table-in-description"

	RuleType      = "dependency-type"
	RuleDangling  = "dependency-dangling"
	RuleEpicBlock = "epic-as-blocker"
	RuleOrphan    = "epic-child-unlinked"
	RuleParents   = "parents-several"

	RuleNotStarted = "progress-closed"
	RuleReflexive  = "surprise-reflexive"
	RuleReason     = "close-reason"
	RuleCriteria   = "criteria-not-runnable"
	RuleSecret     = "credential"
)
