package lint

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Rule is one thing that a store is validated against. The table of rules is the only place
// that says how serious a breach is and why it matters: diagnostics, explanations and the
// formats that list rules all read it.
type Rule struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"` // what is wrong, in one line
	Why      string   `json:"why"`     // why it matters
	Example  string   `json:"example"` // what breaks the rule
	Fix      string   `json:"fix"`     // what to do about it
}

// part is the rules that one command checks; stig check checks all.
type part struct {
	command string
	rules   []Rule
}

// parts contains all rules, those with the most weight first: check reports breaches in this
// order.
var parts = []part{
	{"check", mergeRules}, {"vet", storeRules}, {"lint", secretRules}, {"against", againstRules},
	{"vet", peerRules}, {"cycles", cycleRules}, {"lint", linkRules}, {"vet", sectionRules}, {"vet", signalRules},
	{"lint", trailRules}, {"lint", commentRules},
}

// weights maps the rules to their positions in parts: the lower, the more a breach weighs.
var weights = sync.OnceValue(func() map[string]int {
	at := map[string]int{}
	for _, p := range parts {
		for _, r := range p.rules {
			at[r.ID] = len(at)
		}
	}
	return at
})

// All returns the rules, sorted by id.
func All() []Rule { return rulesOf(func(part) bool { return true }) }

// Of returns the rules that some commands check, sorted by id: vet, cycles and lint; "check"
// for the rules that no other command checks, "against" for those that need an earlier version
// of the store.
func Of(commands ...string) []Rule {
	return rulesOf(func(p part) bool { return slices.Contains(commands, p.command) })
}

func rulesOf(wanted func(part) bool) (all []Rule) {
	for _, p := range parts {
		if wanted(p) {
			all = append(all, p.rules...)
		}
	}
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Names returns the ids of all rules.
func Names() (names []string) {
	for _, rule := range All() {
		names = append(names, rule.ID)
	}
	return names
}

// Near returns the rules whose ids share a word with a text.
func Near(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	return slices.DeleteFunc(Names(), func(name string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && strings.Contains(name, w) })
	})
}

// Named returns the rule with an id.
func Named(id string) (Rule, bool) {
	for _, p := range parts {
		if i := slices.IndexFunc(p.rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
			return p.rules[i], true
		}
	}
	return Rule{}, false
}

// Rules that this package checks itself; beads and signals check the others.
const (
	RuleMalformed   = "section-malformed"
	RuleEscalation  = "escalation-disagrees"
	RuleEstimate    = "estimate-missing"
	RuleMerged      = "estimate-merged"
	RuleDescription = "table-in-description"
	RuleTangled     = "text-tangled"
	RuleIncomplete  = "issue-incomplete"
	RuleStatus      = "status-unknown"
	RulePriority    = "priority-value"
	RuleEncoding    = "invalid-utf8"
	RuleAhead       = "updated-ahead"
	RuleLastTime    = "updated-last"
	RuleRefused     = "value-refused"
	RuleTime        = "time-unread"
	RuleClosing     = "closed-at"
	RuleBackdated   = "updated-before-created"
	RuleRow         = "dependency-repeated"

	RuleUnfinished = "merge-unfinished"

	RuleDeadlock = "deadlock"
	RuleCycle    = "cycle"

	RuleUnread      = "dependency-unread"
	RuleType        = "dependency-type"
	RuleUnknownType = "dependency-type-unknown"
	RuleDangling    = "dependency-dangling"
	RuleExternal    = "dependency-external"
	RuleStale       = "external-stale"
	RuleEpicBlock   = "epic-as-blocker"
	RuleOrphan      = "epic-child-unlinked"
	RuleParents     = "parents-several"
	RuleLeftOpen    = "epic-closed-early"

	RuleNotStarted  = "progress-closed"
	RuleReason      = "close-reason"
	RuleNoCriteria  = "criteria-missing"
	RuleGreen       = "closed-green-before"
	RuleClaimed     = "closed-without-results"
	RuleLabel       = "label-status"
	RuleTwins       = "title-repeated"
	RuleCriteria    = "criteria-not-runnable"
	RuleUnparsed    = "criteria-not-shell"
	RuleCannotFail  = "criteria-cannot-fail"
	RuleSecret      = "credential"
	RuleUnfounded   = "confidence-unfounded"
	RuleWaived      = "closed-waived"
	RuleUnexplained = "waiver-unexplained"

	RuleComment       = "comment-incomplete"
	RuleCommentNumber = "comment-number"
	RuleTrace         = "trace-form"
	RuleTraceContent  = "trace-content"

	RuleByHand     = "closed-by-hand"
	RuleForged     = "results-forged"
	RuleUntried    = "waiver-by-hand"
	RuleImpossible = "commit-impossible"
	RuleNoCommit   = "commit-not-found"
	RuleGate       = "gate-failed"
	// RuleCheckWeakened, like RuleGate, needs Check with Past and Prove.
	RuleCheckWeakened = "check-weakened"
	RuleGateSet       = "gate-changed"
	RuleVanished      = "issue-vanished"
	RuleDeleted       = "issue-deleted"
	RuleSection       = "section-vanished"
	RuleUnsaid        = "comment-vanished"
	RuleWeakened      = "criteria-changed"
	RuleEdge          = "dependency-vanished"
	RuleBackwards     = "signal-backwards"
	RuleTrail         = "trail-edited"
)
