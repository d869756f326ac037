package checkpoint_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/signals"
)

func waiver(t *testing.T) gate.Evidence {
	t.Helper()
	w, err := gate.Waive("the sea is too rough to measure", "mara")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Without evidence nothing is closed.
func TestCloseNeedsAGround(t *testing.T) {
	var none *gate.Verdict
	for name, evidence := range map[string]gate.Evidence{
		"nil": nil, "no verdict": none, "empty verdict": &gate.Verdict{}, "empty waiver": gate.Waiver{},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeOf(`{"id":"demo-1","title":"t","status":"open","acceptance_criteria":"` + "`true x`" + `"}`)
			before := s.Text()
			_, err := checkpoint.Close(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1",
				checkpoint.Closing{Reason: "the pier stands on new piles", Evidence: evidence}, rules())
			if !fault.Is(err, fault.Found) || s.Text() != before {
				t.Errorf("%v\n%s", err, s.Text())
			}
		})
	}
}

// An obstacle to closing is an obstacle to waiving too, and is reported before any check runs.
func TestCloseRefused(t *testing.T) {
	const malformed = `<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| progress | exploring | — |\n<!-- /stigmergic-signals -->\n<!-- x -->`
	for _, c := range []struct{ name, lines, want string }{
		{"blocker", `{"id":"demo-1","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-2","type":"blocks"},{"depends_on_id":"demo-3","type":"blocks"}]}
{"id":"demo-2","title":"t","status":"in_progress"}
{"id":"demo-3","title":"t","status":"closed"}`, "demo-1: is blocked by demo-2"},
		{"children", `{"id":"demo-1","title":"t","status":"open","issue_type":"epic"}
{"id":"demo-1.1","title":"t","status":"closed","dependencies":[{"depends_on_id":"demo-1","type":"parent-child"}]}
{"id":"demo-1.2","title":"t","status":"tombstone","dependencies":[{"depends_on_id":"demo-1","type":"parent-child"}]}
{"id":"demo-1.3","title":"t","status":"deferred","dependencies":[{"depends_on_id":"demo-1","type":"parent-child"}]}
{"id":"demo-1.4","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-1","type":"parent-child"}]}`,
			"demo-1: has unclosed children: demo-1.3 (deferred), demo-1.4 (open)"},
		{"question", `{"id":"demo-1","title":"t","status":"open","notes":"<!-- escalation-context -->\n## Pending (2026-11-01)\nWhich wall?\nThe old one leans.\n<!-- /escalation-context -->"}`,
			"demo-1: a question waits for an answer: cd2877c4 (Which wall?)"},
		{"pending", `{"id":"demo-1","title":"t","status":"open","notes":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| escalation | pending | — |\n<!-- /stigmergic-signals -->"}`,
			"demo-1: its escalation is pending, but no question is recorded"},
		{"deleted", `{"id":"demo-1","title":"t","status":"tombstone"}`, "demo-1 was deleted"},
		{"unknown", `{"id":"demo-2","title":"t","status":"open"}`, "demo-1: no such issue"},
		{"twice in the store", `{"id":"demo-1","title":"t","status":"open"}` + "\n" + `{"id":"demo-1","title":"u","status":"open"}`, `id "demo-1" is already used on line 1`},
		{"template", `{"id":"demo-1","title":"t","status":"open","is_template":true}`, "cannot be closed"},
		{"pinned", `{"id":"demo-1","title":"t","status":"pinned"}`, "cannot be closed"},
		{"malformed notes", `{"id":"demo-1","title":"t","status":"open","notes":"` + malformed + `"}`, "demo-1: notes:6:1"},
		{"broken line", `{"id":"demo-1","title":"t","status":"open"}` + "\n{", "issues.jsonl:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storeOf(c.lines)
			before := s.Text()
			o := beads.Options{Now: rules().Now}
			candidate, looked := checkpoint.Closable(t.Context(), s, o, "demo-1", checkpoint.Closing{Reason: "the pier stands on new piles"}, rules())
			if looked == nil {
				looked = checkpoint.Refused(candidate.Obstacles, "")
			}
			_, err := checkpoint.Close(t.Context(), s, o, "demo-1",
				checkpoint.Closing{Reason: "the pier stands on new piles", Evidence: waiver(t)}, rules())
			if err == nil || !strings.Contains(err.Error(), c.want) || s.Text() != before {
				t.Errorf("got  %v\nwant %s\n%s", err, c.want, s.Text())
			}
			if looked == nil || !strings.Contains(looked.Error(), c.want) {
				t.Errorf("before the checks: %v", looked)
			}
		})
	}
}

// A blocker added to an epic later does not undo finished work: the close reason mentions it.
func TestCloseAhead(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"its epic waits", `{"id":"demo-1","title":"t","status":"in_progress","dependencies":[{"depends_on_id":"demo-2","type":"parent-child"}]}
{"id":"demo-2","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-3","type":"blocks"}]}
{"id":"demo-3","title":"t","status":"open"}`, "; done ahead of its epic: it is blocked by demo-3, which its epic demo-2 waits for."},
		{"its epic waits for it", `{"id":"demo-1","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-2","type":"parent-child"}]}
{"id":"demo-2","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-1","type":"blocks"}]}`, "By mara."},
		{"its epic waits for another store", `{"id":"demo-1","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-2","type":"parent-child"}]}
{"id":"demo-2","title":"t","status":"open","dependencies":[{"depends_on_id":"external:api:auth","type":"blocks"}]}`, "; done ahead of its epic: it is in demo-2, which waits for external:api:auth, in another store: nothing shows that it is done."},
		{"nothing waits", `{"id":"demo-1","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-2","type":"parent-child"}]}
{"id":"demo-2","title":"t","status":"open"}`, "By mara."},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storeOf(c.lines)
			closed, err := checkpoint.Close(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1",
				checkpoint.Closing{Reason: "the pier stands on new piles", Evidence: waiver(t)}, rules())
			if err != nil || !strings.HasSuffix(closed.Reason, c.want) {
				t.Errorf("%v, %+v\nwant %s", err, closed, c.want)
			}
		})
	}
}

// A reason that says nothing is refused, with or without stig's prefix.
func TestCloseReasons(t *testing.T) {
	for reason, says := range map[string]bool{
		"": false, " \n": false, "Done": false, "Closed.": false, "Verified: done": false, "all is well": true,
		"the pier stands on new piles": true, "see demo-2": true, "fixed in 1a2b3c4": true, "`bin/pier`": true,
		"Verified: the pier stands on new piles.": true, "桟橋は新しい杭の上": true,
	} {
		s := storeOf(`{"id":"demo-1","title":"t","status":"open"}`, `{"id":"demo-2","title":"t","status":"open"}`)
		closed, err := checkpoint.Close(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1",
			checkpoint.Closing{Reason: reason, Evidence: waiver(t)}, rules())
		if (err == nil) != says {
			t.Errorf("%q: %v", reason, err)
		}
		if missing := err != nil && strings.Contains(err.Error(), "a reason is missing"); missing != (strings.TrimSpace(reason) == "") {
			t.Errorf("%q: %v", reason, err)
		}
		if err == nil && (strings.Count(closed.Reason, "erified:") != 1 || strings.Contains(closed.Reason, "..")) {
			t.Errorf("%q: %s", reason, closed.Reason)
		}
	}
}

// Of many concurrent closes one succeeds, and the others find the issue closed.
func TestCloseOnce(t *testing.T) {
	s := storeOf(`{"id":"demo-1","title":"t","status":"open"}`)
	const many = 12
	results := make([]*checkpoint.Closed, many)
	var group sync.WaitGroup
	for n := range many {
		group.Go(func() {
			closed, err := checkpoint.Close(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1",
				checkpoint.Closing{Reason: fmt.Sprint("pile number ", n, " stands"), Evidence: waiver(t)}, rules())
			if err != nil {
				t.Error(err)
			}
			results[n] = closed
		})
	}
	group.Wait()
	winners := 0
	for _, closed := range results {
		if closed != nil && !closed.Already {
			winners++
			if !strings.Contains(s.Text(), closed.Reason) {
				t.Errorf("%s is not in %s", closed.Reason, s.Text())
			}
		}
	}
	if winners != 1 {
		t.Errorf("%d closed it, want 1", winners)
	}
}

// A close reports what can start now, how many issues are still blocked, and the progress of
// the epic.
func TestCloseTells(t *testing.T) {
	s := storeOf(
		`{"id":"demo-1","title":"the piles","status":"in_progress","dependencies":[{"depends_on_id":"demo-e","type":"parent-child"}]}`,
		`{"id":"demo-2","title":"the deck","status":"open","dependencies":[{"depends_on_id":"demo-1","type":"blocks"},{"depends_on_id":"demo-e","type":"parent-child"}]}`,
		`{"id":"demo-3","title":"the lamp","status":"open","dependencies":[{"depends_on_id":"demo-2","type":"blocks"}]}`,
		`{"id":"demo-4","title":"later","status":"deferred","dependencies":[{"depends_on_id":"demo-1","type":"blocks"}]}`,
		`{"id":"demo-5","title":"a ring","status":"open","dependencies":[{"depends_on_id":"demo-1","type":"blocks"},{"depends_on_id":"demo-6","type":"blocks"}]}`,
		`{"id":"demo-6","title":"a ring","status":"open","dependencies":[{"depends_on_id":"demo-5","type":"blocks"}]}`,
		`{"id":"demo-e","title":"the pier","status":"open","issue_type":"epic"}`)
	o := beads.Options{Now: rules().Now}
	closing := checkpoint.Closing{Reason: "the pier stands on new piles", Evidence: waiver(t), Actor: "mara"}
	closed, err := checkpoint.Close(t.Context(), s, o, "demo-1", closing, rules())
	if err != nil {
		t.Fatal(err)
	}
	if want := []beads.Ref{{ID: "demo-2", Title: "the deck", Status: "open"}}; !reflect.DeepEqual(closed.Unblocked, want) {
		t.Errorf("unblocked %v, want %v", closed.Unblocked, want)
	}
	if closed.StillBlocked != 2 { // the deferred issue, and the one in the cycle
		t.Errorf("%d are still blocked, want 2", closed.StillBlocked)
	}
	if e := closed.Epic; e == nil || e.ID != "demo-e" || e.Closed != 1 || e.Total != 2 || e.Complete() {
		t.Errorf("epic %+v", e)
	}
	if len(closed.Alerts) != 1 || closed.Alerts[0].Rule != "deadlock" || !strings.HasPrefix(closed.Alerts[0].Message, "demo-5: they form a dependency cycle: ") {
		t.Errorf("alerts %v", closed.Alerts)
	}
	closed, err = checkpoint.Close(t.Context(), s, o, "demo-2", closing, rules())
	if err != nil || !closed.Epic.Complete() || !closed.Epic.NoCriteria {
		t.Errorf("%v, epic %+v", err, closed.Epic)
	}
}

// Closing an issue that another actor claimed gives a warning.
func TestCloseWarns(t *testing.T) {
	for actor, want := range map[string][]string{
		"mara": {}, "": {}, "ines": {"it was claimed by mara but closed by ines"},
	} {
		s := storeOf(`{"id":"demo-1","title":"t","status":"in_progress","assignee":"mara"}`)
		closed, err := checkpoint.Close(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1",
			checkpoint.Closing{Reason: "the pier stands on new piles", Evidence: waiver(t), Actor: actor}, rules())
		if err != nil || !slices.Equal(closed.Warnings, want) {
			t.Errorf("%q: warnings %q, %v", actor, closed.Warnings, err)
		}
	}
}

// A close despite questions must name all of them.
func TestCloseDespite(t *testing.T) {
	s := storeOf(`{"id":"demo-1","title":"t","status":"open","notes":"<!-- escalation-context -->\n## Pending (2026-11-01) by ines\nWhich wall?\n\n## Pending (2026-11-02) by ines\nWhich lamp?\n<!-- /escalation-context -->"}`)
	closed, err := checkpoint.Close(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1",
		checkpoint.Closing{Reason: "the pier stands on new piles", Evidence: waiver(t), Actor: "mara", Despite: "both are known"}, rules())
	if err != nil {
		t.Fatal(err)
	}
	want := "; closed by mara despite the unanswered questions " + signals.Part{Text: "Which wall?"}.Hash() + ", " + signals.Part{Text: "Which lamp?"}.Hash() + ": both are known."
	if !strings.HasSuffix(closed.Reason, want) {
		t.Errorf("%q does not end in %q", closed.Reason, want)
	}
}

// Only a reason equal to that of the close counts as kept, not one with the same beginning.
func TestCloseAgain(t *testing.T) {
	for reason, unkept := range map[string]bool{
		"the pier stands on new piles": false, "Verified: the pier stands on new piles.": false,
		"the pier stands": true, "the deck is laid on the pier": true,
	} {
		c := checkpoint.Candidate{Already: true, Reason: "Verified: the pier stands on new piles. All acceptance criteria pass: 1/1."}
		if got := c.Closed(reason).Unkept; (got != "") != unkept {
			t.Errorf("%s: not kept %q", reason, got)
		}
	}
}

// TestRefused: one error has all reasons, the most severe code and one command. It matches the
// error of a single obstacle only if all obstacles match it.
func TestRefused(t *testing.T) {
	unread := checkpoint.Obstacle{Error: &fault.Error{Code: fault.Found, ID: "demo-1", Reason: "is not trusted", Err: io.EOF}, Before: "read them", Run: "stig trust"}
	silent := checkpoint.Obstacle{Error: &fault.Error{Code: fault.Usage, ID: "demo-1", Reason: "a reason is missing", Hint: "say what is there"}, Flag: "--reason WHAT"}
	asked := checkpoint.Obstacle{Error: &fault.Error{Code: fault.Waits, ID: "demo-1", Reason: "a question waits"}, Instead: "stig resolve demo-1"}
	for _, c := range []struct {
		list       []checkpoint.Obstacle
		said, hint string
		code       fault.Code
		is         bool
	}{
		{[]checkpoint.Obstacle{unread}, "demo-1: is not trusted", "read them; then type stig trust && stig close demo-1", fault.Found, true},
		{[]checkpoint.Obstacle{unread, silent}, "demo-1: is not trusted\ndemo-1: a reason is missing",
			"read them; then type stig trust && stig close demo-1 --reason WHAT\nsay what is there", fault.Found, false},
		{[]checkpoint.Obstacle{silent, asked}, "demo-1: a reason is missing\ndemo-1: a question waits", "type stig resolve demo-1\nsay what is there", fault.Waits, false},
	} {
		err := checkpoint.Refused(c.list, "stig close demo-1")
		e, ok := fault.As(err, c.code)
		if !ok || err.Error() != c.said || e.Hint != c.hint || errors.Is(err, io.EOF) != c.is {
			t.Errorf("got  %v, %+v\nwant %s, %s", err, e, c.said, c.hint)
		}
	}
	if err := checkpoint.Refused(nil, "stig close demo-1"); err != nil {
		t.Error(err)
	}
}
