package hooks

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"stig/checkpoint"
	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/service"
	"stig/internal/workspace"
)

// pastGate says which of the issues that an attempt closes may not be closed, and
// what to type instead; "" where all may.
func pastGate(ctx context.Context, a *workspace.Run, store beads.Place, attempt assistant.Attempt) string {
	var reasons, unproven []string
	bare := "" // one that has no criteria
	for _, g := range gated(ctx, a, store, attempt) {
		switch {
		case g.asked != nil:
			reasons = append(reasons, attempt.Verb+": "+g.asked.Refusal.Error()+"\nhint: "+despiteHint(store, g.asked))
		case !g.proven:
			unproven = append(unproven, g.id)
			if g.bare {
				bare = cmp.Or(bare, g.id)
			}
		}
	}
	if len(unproven) > 0 {
		are := "is"
		if len(unproven) > 1 {
			are = "are"
		}
		reason := fmt.Sprintf("%s: nothing shows that %s %s done: an issue closes when the commands in its acceptance criteria pass\n", attempt.Verb, strings.Join(unproven, ", "), are) +
			"hint: type " + instead(store, attempt.Verb, unproven)
		if bare != "" && store.Mode == beads.Export {
			reason += ";\n" + bare + " has no acceptance criteria: write them, or type " + service.WaiveByTracker(bare, "WHAT", "WHY", "NAME")
		}
		reasons = append(reasons, reason)
	}
	return strings.Join(reasons, "\n")
}

// instead is what closes issues with a verdict. Issues in a Dolt database are
// not stig's to close: what was verified is let through.
func instead(store beads.Place, verb string, ids []string) string {
	if store.Mode != beads.Export {
		return fmt.Sprintf("stig close %s --reason \"what exists now, and how you know that it works\"; it runs them", strings.Join(ids, " "))
	}
	return fmt.Sprintf("stig verify %s, for each alone; %s is let through when they have passed", ids[0], verb)
}

// despiteHint is what to type about an issue that a question holds. stig can neither
// answer nor close where the issues live in a Dolt database.
func despiteHint(store beads.Place, held *checkpoint.Unanswered) string {
	if store.Mode != beads.Export {
		return held.Refusal.Hint
	}
	return fmt.Sprintf("type stig await %s; to close it all the same, once it is verified, say why in the reason: \"WHAT; closed %s: WHY\"", held.Refusal.ID, held.Despite)
}

// gatedIssue says what keeps an issue from being closed.
type gatedIssue struct {
	id     string
	asked  *checkpoint.Unanswered // nil when no question holds it
	proven bool                   // a fresh verdict passed, or a waiver stands for it
	bare   bool                   // it has no criteria
}

// gated looks at each issue that an attempt closes. Whatever keeps that from being
// known leaves all of them unproven.
func gated(ctx context.Context, a *workspace.Run, store beads.Place, attempt assistant.Attempt) []gatedIssue {
	list := make([]gatedIssue, len(attempt.IDs))
	for i, id := range attempt.IDs {
		list[i].id = id
	}
	code, err := a.Code(ctx, store)
	if err != nil {
		return list
	}
	fresh, err := code.Fresh(ctx)
	if err != nil {
		return list
	}
	file, err := a.At(store).Snapshot()
	if err != nil {
		return list
	}
	defer file.Close()
	_, waived := gate.ParseWaived(attempt.Why)
	waived = waived && store.Mode == beads.Export
	for i, id := range attempt.IDs {
		issue, record, err := file.FindRecord(id)
		if err != nil {
			continue
		}
		found := gate.Of(record)
		_, passed := fresh(issue.ID, found)
		list[i].bare = len(found) == 0
		list[i].proven = passed || waived && !gate.Asks(found.Plan())
		held := checkpoint.HeldByQuestion(record, checkpoint.Rules{Schema: a.Schema})
		if held != nil && !(store.Mode == beads.Export && saysDespite(attempt.Why, held)) {
			list[i].asked = held
		}
	}
	return list
}

// saysDespite reports whether the reason of a close names the questions that hold its
// issue, and why they are not waited for.
func saysDespite(reason string, held *checkpoint.Unanswered) bool {
	_, why, named := strings.Cut(reason, held.Despite+":")
	return named && !service.IsBlank(why)
}
