package checkpoint_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/memory"
	"stig/signals"
)

func storeOf(lines ...string) *memory.Store { return memory.New(strings.Join(lines, "\n") + "\n") }

// nobody is a MayTake that allows no taking.
func nobody(string) bool { return false }

func claiming(who string, mayTake func(holder string) bool) checkpoint.Claiming {
	return checkpoint.Claiming{Who: who, MayTake: func(_, holder string) bool { return mayTake(holder) }}
}

// Of many concurrent claims one succeeds, and the file agrees.
func TestClaimOne(t *testing.T) {
	s := storeOf(`{"id":"demo-1","title":"t","status":"open"}`)
	const many = 12
	results := make([]error, many)
	var group sync.WaitGroup
	for n := range many {
		group.Go(func() {
			_, results[n] = checkpoint.Claim(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1", claiming(fmt.Sprint("w", n), nobody))
		})
	}
	group.Wait()
	winner := -1
	for n, err := range results {
		switch {
		case err == nil && winner >= 0:
			t.Fatalf("w%d and w%d both got it", winner, n)
		case err == nil:
			winner = n
		case !fault.Is(err, fault.Conflict):
			t.Fatal(err)
		}
	}
	if winner < 0 {
		t.Fatal("nobody got it")
	}
	for n, err := range results {
		if n != winner && !strings.HasSuffix(err.Error(), fmt.Sprint("is claimed by w", winner)) {
			t.Errorf("w%d was told %v, and w%d has it", n, err, winner)
		}
	}
	if want := fmt.Sprintf(`"assignee":"w%d"`, winner); !strings.Contains(s.Text(), want) {
		t.Errorf("the file says %s", s.Text())
	}
}

// One invalid target prevents the whole propagation.
func TestPropagateAllOrNone(t *testing.T) {
	s := storeOf(`{"id":"demo-1","title":"t","status":"open"}`, `{"id":"demo-2","title":"t","status":"open"}`,
		`{"id":"demo-3","title":"t","status":"open","notes":"<!-- x -->"}`)
	before := s.Text()
	_, err := checkpoint.Propagate(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1", []string{"demo-2", "demo-3"}, "news", rules())
	if err == nil || s.Text() != before {
		t.Errorf("%v, and the store is %s", err, s.Text())
	}
}

// The error of a link names the row that closes the cycle.
func TestLinkNamesTheRow(t *testing.T) {
	s := storeOf(`{"id":"demo-1","title":"t","status":"open"}`,
		`{"id":"demo-2","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-1","type":"blocks"}]}`)
	_, err := checkpoint.Create(t.Context(), s, beads.Options{Now: rules().Now}, checkpoint.Draft{
		Title: "new", Type: "task", Parent: "demo-1", Deps: []beads.Dep{{On: "demo-2", Type: "waits-for"}},
	}, rules())
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.ID != "demo-1.1" || !strings.Contains(refused.Reason, "demo-2 can start only after demo-1 is closed") {
		t.Errorf("got %v", err)
	}
}

// An issue that waits for a person cannot be claimed, whether the signal or the section says
// so; its holder keeps it.
func TestClaimUnanswered(t *testing.T) {
	const question = `<!-- escalation-context -->\n## Pending (2026-11-01)\nWhich?\n<!-- /escalation-context -->`
	const signal = `<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| escalation | pending | 2026-11-01 |\n<!-- /stigmergic-signals -->`
	for _, notes := range []string{question, signal} {
		s := storeOf(`{"id":"demo-1","title":"t","status":"open","notes":"`+notes+`"}`, `{"id":"demo-2","title":"t","status":"in_progress","assignee":"ann","notes":"`+notes+`"}`)
		before := s.Text()
		options := beads.Options{Now: rules().Now}
		if _, err := checkpoint.Claim(t.Context(), s, options, "demo-1", claiming("ann", nobody)); !fault.Is(err, fault.Waits) {
			t.Errorf("claimed with a question: %v", err)
		}
		if claimed, err := checkpoint.Claim(t.Context(), s, options, "demo-2", claiming("ann", nobody)); err != nil || claimed.Changed {
			t.Errorf("her own: %+v, %v", claimed, err)
		}
		if s.Text() != before {
			t.Error("the store was changed")
		}
	}
}

// TestTakeOver: an issue that another actor holds changes hands only if the actor may take it,
// by claim or by release.
func TestTakeOver(t *testing.T) {
	s := storeOf(`{"id":"demo-1","title":"t","status":"in_progress","assignee":"ann/claude-3f2a"}`)
	o := beads.Options{Now: rules().Now}
	left := func(holder string) bool { return holder == "ann/claude-3f2a" }
	if _, err := checkpoint.Claim(t.Context(), s, o, "demo-1", claiming("ann/claude-9d1c", nobody)); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "ann/claude-3f2a") {
		t.Errorf("claim of another's: %v", err)
	}
	if _, err := checkpoint.Release(t.Context(), s, o, "demo-1", "ann/claude-9d1c", nobody); !fault.Is(err, fault.Conflict) {
		t.Errorf("release of another's: %v", err)
	}
	claimed, err := checkpoint.Claim(t.Context(), s, o, "demo-1", claiming("ann/claude-9d1c", left))
	if err != nil || !claimed.Changed || claimed.Assignee != "ann/claude-9d1c" || claimed.Status != "in_progress" {
		t.Errorf("%+v, %v", claimed, err)
	}
}

// TestSubagent: a subagent checkpoints and closes only issues that it claimed itself.
func TestSubagent(t *testing.T) {
	s := storeOf(
		`{"id":"demo-1","title":"t","status":"in_progress","assignee":"ann/claude-3f2a"}`,
		`{"id":"demo-2","title":"t","status":"in_progress","assignee":"ann/claude-3f2a/1"}`,
		`{"id":"demo-3","title":"t","status":"open"}`)
	for _, c := range []struct {
		id, by string
		may    bool
	}{
		{"demo-1", "ann/claude-3f2a/1", false}, {"demo-1", "ann/claude-3f2a", true}, {"demo-1", "bo", true},
		{"demo-2", "ann/claude-3f2a/1", true}, {"demo-2", "ann/claude-3f2a/2", false}, {"demo-2", "ann/claude-3f2a", true},
		{"demo-3", "ann/claude-3f2a/1", false},
	} {
		update := checkpoint.Update{Estimate: signals.Estimate{Done: "half of it"}, By: c.by}
		_, err := checkpoint.Write(t.Context(), s, beads.Options{Now: rules().Now, DryRun: true}, c.id, update, rules())
		_, closing := checkpoint.Closable(t.Context(), s, beads.Options{Now: rules().Now}, c.id, checkpoint.Closing{Reason: "the gate opens and closes", Actor: c.by}, rules())
		if fault.Is(err, fault.Conflict) == c.may || fault.Is(closing, fault.Conflict) == c.may {
			t.Errorf("%s by %s: %v; %v", c.id, c.by, err, closing)
		}
	}
}
