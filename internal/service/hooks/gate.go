package hooks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stig/checkpoint"
	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/service"
	"stig/internal/workspace"
)

// pastGate returns which of the issues that an attempt closes may not be closed, and what to
// type instead; "" if all may.
func pastGate(ctx context.Context, a *workspace.Run, store beads.Place, attempt assistant.Attempt) string {
	var reasons, unproven []string
	bare := "" // the first one without criteria
	issues := gated(ctx, a, store, attempt.Words)
	if open := len(issues) == 0 || slices.ContainsFunc(attempt.Words, isOpen); open {
		return attempt.Verb + ": cannot tell which issues it closes without running it; an issue closes when its acceptance criteria pass\n" +
			"hint: name the issues: type " + instead(store, attempt.Verb, []string{"ID"})
	}
	for _, g := range issues {
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

// instead returns the command that closes issues with a verdict. stig cannot close issues in a
// Dolt database: once they are verified, verb is allowed.
func instead(store beads.Place, verb string, ids []string) string {
	if store.Mode != beads.Export {
		return fmt.Sprintf("stig close %s --reason \"what exists now, and how you know that it works\"; it runs them", strings.Join(ids, " "))
	}
	return fmt.Sprintf("stig verify %s, for each issue; %s is allowed once they have passed", ids[0], verb)
}

// despiteHint returns what to type about an issue with an unanswered question. In a Dolt
// database stig can neither answer nor close it.
func despiteHint(store beads.Place, held *checkpoint.Unanswered) string {
	if store.Mode != beads.Export {
		return held.Refusal.Hint
	}
	return fmt.Sprintf("type stig escalate --wait %s; to close it anyway once it is verified, say why in the reason: \"WHAT; closed %s: WHY\"", held.Refusal.ID, held.Despite)
}

// gatedIssue is an issue with what keeps it from being closed.
type gatedIssue struct {
	id     string
	asked  *checkpoint.Unanswered // nil if it has no unanswered question
	proven bool                   // it has a fresh passing verdict or a waiver
	bare   bool                   // it has no criteria
}

// isOpen reports whether a word of a command is known only when the command runs: a variable, a
// glob or a brace.
func isOpen(word string) bool {
	return strings.ContainsAny(word, "$*?[{") && !strings.Contains(word, " ") // reasons contain spaces
}

// gated checks each issue that the words of a close command name. If the checks cannot be read,
// every word that may be an issue is returned as unproven.
func gated(ctx context.Context, a *workspace.Run, store beads.Place, words []string) (list []gatedIssue) {
	var named []gatedIssue
	for _, word := range words {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, " ") && !isOpen(word) {
			named = append(named, gatedIssue{id: word})
		}
	}
	code, err := a.Code(ctx, store)
	if err != nil {
		return named
	}
	fresh, err := code.Fresh(ctx)
	if err != nil {
		return named
	}
	file, err := a.At(store).Snapshot()
	if err != nil {
		return named
	}
	defer file.Close()
	says := func(is func(reason string) bool) bool { // only bd writes such a store, and the reason may justify the close
		return store.Mode == beads.Export && slices.ContainsFunc(words, func(word string) bool {
			_, value, _ := strings.Cut(word, "=") // for --reason=…
			return is(word) || is(value)
		})
	}
	notPlanned := says(func(reason string) bool { return strings.HasPrefix(reason, gate.NotPlanned) })
	waived := says(func(reason string) bool { _, ok := gate.ParseWaived(reason); return ok })
	for _, word := range named {
		issue, record, err := file.FindRecord(word.id)
		if err != nil {
			continue
		}
		found := gate.Of(record)
		_, passed := fresh(issue.ID, found)
		g := gatedIssue{id: issue.ID, bare: len(found) == 0, proven: passed || notPlanned || waived && !gate.Asks(found.Plan())}
		if held := checkpoint.HeldByQuestion(record, checkpoint.Rules{Schema: a.Schema}); held != nil && !says(held.IsNamed) {
			g.asked = held
		}
		list = append(list, g)
	}
	if list == nil {
		return named
	}
	return list
}
