package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/beads"
	"stig/criteria"
	"stig/guard"
	"stig/host"
	"stig/verify"
)

// preToolUse denies what would close an issue past the gate or write the store,
// and leaves every other decision to the host. A closing that a fresh verdict
// stands behind is not past the gate.
func (a *core) preToolUse(ctx context.Context, h host.Host, e host.Event) []byte {
	attempts := guard.Closes(e.Command)
	if len(e.Writes) > 0 {
		attempts = append(attempts, guard.Attempt{Verb: "this tool", Files: e.Writes})
	}
	if len(e.Closes) > 0 {
		attempts = append(attempts, guard.Attempt{Verb: "this tool", IDs: e.Closes})
	}
	if len(attempts) == 0 {
		return nil
	}
	store, err := beads.Discover(a.where())
	if err != nil {
		return nil
	}
	var reasons []string
	for _, attempt := range attempts {
		if reason := a.objection(ctx, store, attempt); reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return h.Deny(visible(strings.Join(reasons, "\n")))
}

// objection says why an attempt must not be, and what to type instead; "" when
// it may.
func (a *core) objection(ctx context.Context, store beads.Store, attempt guard.Attempt) string {
	if len(attempt.Files) > 0 {
		dir, err := filepath.Abs(cmp.Or(a.dir, "."))
		path, err2 := filepath.Abs(store.Path)
		if err != nil || err2 != nil || !attempt.Overwrites(dir, path) {
			return ""
		}
		return fmt.Sprintf("%s: writes %s past stig, which checks what is written and loses nothing\n", attempt.Verb, filepath.Base(store.Path)) +
			"hint: type stig checkpoint ID, stig signals set ID, stig create or stig close ID; reading the file is fine"
	}
	if attempt.Open {
		return attempt.Verb + ": only running it can tell which issues it closes, and an issue closes when its acceptance criteria pass\n" +
			"hint: name the issues: type " + instead(store, attempt.Verb, []string{"ID"})
	}
	unproven := a.unproven(ctx, store, attempt)
	if len(unproven) == 0 {
		return ""
	}
	are := "is"
	if len(unproven) > 1 {
		are = "are"
	}
	return fmt.Sprintf("%s: nothing shows that %s %s done: an issue closes when the commands in its acceptance criteria pass\n", attempt.Verb, strings.Join(unproven, ", "), are) +
		"hint: type " + instead(store, attempt.Verb, unproven)
}

// instead is what closes issues with a verdict. Issues in a Dolt database are
// not stig's to close: what was verified is let through.
func instead(store beads.Store, verb string, ids []string) string {
	if store.Mode != beads.Dolt {
		return fmt.Sprintf("stig close %s --reason \"what exists now, and how you know that it works\"; it runs them", strings.Join(ids, " "))
	}
	return fmt.Sprintf("stig verify %s, for each alone; %s is let through when they have passed;\n"+
		"where nothing can be run, type %s", ids[0], verb, waiveByTracker(ids[0], "WHAT", "WHY"))
}

// unproven are the issues on which no fresh verdict has passed. Whatever keeps
// that from being known leaves all of them unproven.
func (a *core) unproven(ctx context.Context, store beads.Store, attempt guard.Attempt) []string {
	site, err := a.site(ctx, store)
	if err != nil {
		return attempt.IDs
	}
	fresh, err := site.fresh(ctx)
	if err != nil {
		return attempt.IDs
	}
	file, err := beads.Read(store)
	if err != nil {
		return attempt.IDs
	}
	defer file.Close()
	_, _, waived := verify.ParseWaived(attempt.Why)
	waived = waived && store.Mode == beads.Dolt
	return slices.DeleteFunc(slices.Clone(attempt.IDs), func(id string) bool {
		issue, err := file.Find(id)
		if err != nil {
			return false
		}
		record, err := issue.Record()
		if err != nil {
			return false
		}
		acceptance := criteria.Source(record.Text(beads.AcceptanceCriteria), record.Text(beads.Description))
		_, passed := fresh(issue.ID, acceptance)
		return passed || waived && !criteria.Asks(criteria.Plan(acceptance, site.look))
	})
}
