package loop

import (
	"context"
	"errors"
	"slices"
	"testing"

	"stig/internal/clone"
)

// What a command left decides alone, except for work that it claims is done.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		left left
		want clone.Outcome
		to   State
	}{
		{"work and exit 0", left{changed: true}, "", runWorked},
		{"a trace and exit 0", left{traces: true}, "", runWorked},
		{"closed by the command", left{closed: true}, "", runWorked},
		{"nothing and exit 0", left{}, clone.OutcomeSilent, runJudged},
		{"work elsewhere alone and exit 0", left{elsewhere: true}, clone.OutcomeRejected, runJudged},
		{"work here too and exit 0", left{elsewhere: true, changed: true}, "", runWorked},
		{"work elsewhere and exit 1", left{elsewhere: true, exit: 1}, clone.OutcomeFailed, runJudged},
		{"work and exit 1", left{changed: true, exit: 1}, clone.OutcomeFailed, runJudged},
		{"a checkpoint and exit 1", left{checkpoint: true, exit: 1}, clone.OutcomeAdvanced, runJudged},
		{"a question and exit 1", left{asked: true, exit: 1}, clone.OutcomeWaiting, runJudged},
		{"a question and its time over", left{asked: true, exit: 143, timedOut: true}, clone.OutcomeWaiting, runJudged},
		{"its time over", left{exit: 143, timedOut: true, changed: true}, clone.OutcomeTimedOut, runJudged},
		{"exit 0 at the end of its time", left{timedOut: true, changed: true}, clone.OutcomeTimedOut, runJudged},
		{"a checkpoint and its time over", left{exit: 137, timedOut: true, checkpoint: true}, clone.OutcomeAdvanced, runJudged},
		{"exit 75", left{exit: clone.ExitLater, changed: true}, clone.OutcomeLater, runJudged},
		{"exit 75 at the end of its time", left{exit: clone.ExitLater, timedOut: true}, clone.OutcomeTimedOut, runJudged},
		{"the claim lost", left{claimLost: true, exit: 143}, clone.OutcomeLost, runJudged},
		{"the issue somebody else's", left{gone: true, changed: true}, clone.OutcomeLost, runJudged},
		{"stopped", left{stopped: true, exit: 143, asked: true}, clone.OutcomeStopped, runJudged},
		{"landed and closed before", left{landed: true, closed: true, gone: true}, clone.OutcomeClosed, runJudged},
		{"landed and not closed before", left{landed: true, changed: true}, "", runWorked},
	} {
		r := &Run{state: runEnded}
		if row := r.next(c.left.saw()); row == nil || row.to != c.to || row.outcome != c.want {
			t.Errorf("%s: %+v; want %s, %s", c.name, row, c.to, c.want)
		}
	}
	for code := range 256 { // only exit code 0 is a success, and every other one has an outcome
		r := &Run{state: runEnded}
		if row := r.next(left{exit: code, changed: true}.saw()); (row.to == runWorked) != (code == 0) || row.outcome == "" && code != 0 {
			t.Errorf("exit %d: %+v", code, row)
		}
	}
}

// saws are consecutive observations.
type saws []observation

// Each path through the transitions has its outcome. Together the paths use every row.
func TestTransitions(t *testing.T) {
	var (
		none  saws
		again = saws{sawReady} // of a run whose loop was killed
		begin = saws{sawReady, sawEnd}
		work  = append(begin, sawWork)
		offer = append(work, sawKept)

		over = saws{sawOver, sawRecorded}
		open = saws{sawOpen, sawRecorded}
		ask  = saws{sawAsked, sawRecorded}
		late = saws{sawLost, sawRecorded} // others closed the issue before the question
	)
	taken := map[*transition]bool{}
	for _, c := range []struct {
		from               State
		begin, middle, end saws
		want               clone.Outcome
	}{
		{runOrphaned, again, saws{sawClosed}, over, clone.OutcomeClosed},
		{runOrphaned, again, saws{sawClaimLost}, over, clone.OutcomeLost},
		{runOrphaned, again, saws{sawStop}, open, clone.OutcomeStopped},
		{runOrphaned, again, saws{sawWork, sawKept, sawClosed}, over, clone.OutcomeClosed},

		{runClaimed, none, saws{sawTaken, sawWork, sawKept, sawClosed}, over, clone.OutcomeClosed},
		{runClaimed, none, saws{sawRegate, sawWork, sawKept, sawClosed}, over, clone.OutcomeClosed},
		{runClaimed, none, saws{sawRegate, sawWork, sawKept, sawRefusedAgain}, open, clone.OutcomeRegated},
		{runClaimed, none, saws{sawError}, open, clone.OutcomeLater},
		{runClaimed, begin, saws{sawGone}, over, clone.OutcomeLost},
		{runClaimed, begin, saws{sawQuestion}, open, clone.OutcomeWaiting},
		{runClaimed, begin, saws{sawLater}, open, clone.OutcomeLater},
		{runClaimed, begin, saws{sawBeat}, over, clone.OutcomeAdvanced},
		{runClaimed, begin, saws{sawProgress}, open, clone.OutcomeAdvanced},
		{runClaimed, begin, saws{sawProgress, sawPassesUsed}, ask, clone.OutcomeAdvanced},
		{runClaimed, begin, saws{sawTimeout, sawAttempt, sawRecorded}, none, clone.OutcomeTimedOut},
		{runClaimed, begin, saws{sawFailure, sawAlike, sawRecorded}, none, clone.OutcomeLater},
		{runClaimed, begin, saws{sawFailure, sawAttemptsUsed}, ask, clone.OutcomeFailed},
		{runClaimed, begin, saws{sawNothing, sawAttemptsUsed}, late, clone.OutcomeLost},

		{runClaimed, begin, saws{sawElsewhere}, open, clone.OutcomeRejected},

		{runClaimed, work, saws{sawReview}, open, clone.OutcomeAdvanced},
		{runClaimed, work, saws{sawClosed}, over, clone.OutcomeClosed},
		{runClaimed, work, saws{sawLost}, over, clone.OutcomeLost},
		{runClaimed, work, saws{sawRefused}, open, clone.OutcomeRejected},

		{runClaimed, offer, saws{sawClosed}, over, clone.OutcomeClosed},
		{runClaimed, offer, saws{sawLost}, over, clone.OutcomeLost},
		{runClaimed, offer, saws{sawBlocked}, open, clone.OutcomeWaiting},
		{runClaimed, offer, saws{sawInReview}, open, clone.OutcomeInReview},
		{runClaimed, offer, saws{sawUnclosable}, open, clone.OutcomeAdvanced},
		{runClaimed, offer, saws{sawRefused, sawPassesUsed}, ask, clone.OutcomeRejected},
		{runClaimed, offer, saws{sawRefusedProgress}, open, clone.OutcomeAdvanced},
		{runClaimed, offer, saws{sawCriteriaChanged}, ask, clone.OutcomeWaiting},
		{runClaimed, offer, saws{sawNothingRun}, ask, clone.OutcomeWaiting},
		{runClaimed, offer, saws{sawCredential}, ask, clone.OutcomeWaiting},
		{runClaimed, offer, saws{sawUnproven}, ask, clone.OutcomeUnproven},
		{runClaimed, offer, saws{sawNothingRun}, late, clone.OutcomeLost},
		{runClaimed, offer, saws{sawMoved, sawMoved, sawClosed}, over, clone.OutcomeClosed},
		{runClaimed, offer, saws{sawMoved, sawMoved, sawMoved}, open, clone.OutcomeLater},
		{runClaimed, offer, saws{sawError, sawMoved, sawError, sawClosed}, over, clone.OutcomeClosed},
		{runClaimed, offer, saws{sawError, sawError, sawError}, open, clone.OutcomeLater},
		{runClaimed, offer, saws{sawErrorAtStop}, open, clone.OutcomeStopped},
		{runClaimed, offer, saws{sawErrorAtLoss}, over, clone.OutcomeLost},
	} {
		r := &Run{state: c.from}
		for _, saw := range slices.Concat(c.begin, c.middle, c.end) {
			row := r.next(saw)
			if row == nil {
				t.Fatalf("%v: nothing follows %s when it saw %s", c.middle, r.state, saw)
			}
			taken[row] = true
			r.take(row)
		}
		if r.state != runConcluded || r.outcome != c.want {
			t.Errorf("%v: %s, %s; want %s", c.middle, r.state, r.outcome, c.want)
		}
	}
	for i := range transitions {
		if row := &transitions[i]; !taken[row] {
			t.Errorf("no way takes the row from %s when it saw %s, to %s", row.from, row.on, row.to)
		}
	}
}

// An error in a working run ends it as delayed. For a run that cannot be read, or whose outcome
// is known, there is no transition, and the loop retries it.
func TestTrouble(t *testing.T) {
	full := errors.New("disk full")
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errStopped)
	lost, stop := context.WithCancelCause(t.Context())
	stop(errLost)
	for _, from := range []State{runClaimed, runOrphaned, runPrepared, runEnded, runWorked, runOffered} {
		for ctx, want := range map[context.Context]clone.Outcome{t.Context(): clone.OutcomeLater, stopped: clone.OutcomeStopped, lost: clone.OutcomeLost} {
			l, r := &loop{}, &Run{state: from}
			for range 3 { // tries
				if err := l.follow(ctx, r, sawReady, full); err != nil {
					t.Fatal(from, err)
				}
				if r.state != from {
					break
				}
			}
			if r.state != runJudged || r.outcome != want || r.Why != "disk full" {
				t.Errorf("%s: %s, %s: %s; want %s", from, r.state, r.outcome, r.Why, want)
			}
		}
	}
	for _, c := range []struct {
		from State
		err  error
	}{{runEnded, unknown{full}}, {runWorked, unknown{full}}, {runJudged, full}, {runAsking, full}, {runSettled, full}} {
		r := &Run{state: c.from}
		if err := (&loop{}).follow(t.Context(), r, sawRecorded, c.err); !errors.Is(err, full) || r.state != c.from || r.Why != "" {
			t.Errorf("%s: %v, and %s", c.from, err, r.state)
		}
	}
	if err := (&loop{}).follow(t.Context(), &Run{state: runEnded}, sawRecorded, nil); err == nil {
		t.Error("what no row has is no error")
	}
}
