package clone

import "slices"

// Outcome is the result of a run.
type Outcome string

// The outcomes, as in run records.
const (
	OutcomeClosed   Outcome = "closed"
	OutcomeInReview Outcome = "in-review" // it is proved, and reviewers read it
	OutcomeWaiting  Outcome = "waiting"   // a person was asked
	OutcomeAdvanced Outcome = "advanced"  // it left a checkpoint and is not done
	OutcomeRejected Outcome = "rejected"  // the gate failed, or its work conflicts
	OutcomeUnproven Outcome = "unproven"  // its checks pass, but did so before the work too; a person was asked
	OutcomeRegated  Outcome = "regated"   // nothing was started: its work was judged again and rejected again
	OutcomeSilent   Outcome = "silent"    // it left nothing
	OutcomeFailed   Outcome = "failed"    // its exit code was not 0
	OutcomeTimedOut Outcome = "timed-out" // it was stopped at its time limit
	OutcomeLater    Outcome = "later"     // it asked to be started later, or all workers fail in the same way
	OutcomeLost     Outcome = "lost"      // its claim ended meanwhile
	OutcomeStopped  Outcome = "stopped"   // it was stopped by a person, or by a crash of the loop
)

// IsFailure reports whether a run counts as a failed attempt at its issue.
func (o Outcome) IsFailure() bool {
	return o == OutcomeSilent || o == OutcomeFailed || o == OutcomeTimedOut
}

// IsPass reports whether a run counts as a pass: it worked on the issue without getting it
// closed.
func (o Outcome) IsPass() bool { return o == OutcomeRejected || o == OutcomeAdvanced }

// probation is how many issues in a row a worker fails, and others then close, before it is on
// probation.
const probation = 3

// OnProbation reports whether a worker failed three issues in a row, by the end of the runs,
// that others closed afterwards.
func OnProbation(runs []Run, worker string) bool {
	ended := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Outcome == "" || r.Issue == "" || r.IsBesideOthers() })
	slices.SortStableFunc(ended, func(a, b Run) int { return a.Ended.Compare(b.Ended) })
	failed, closed := map[string]bool{}, map[string]bool{}
	for _, r := range ended {
		o := Outcome(r.Outcome)
		switch {
		case r.Actor == worker && o == OutcomeClosed:
			clear(failed)
			clear(closed)
		case r.Actor == worker && (o.IsFailure() || o == OutcomeRejected):
			failed[r.Issue] = true
		case r.Actor != worker && o == OutcomeClosed && failed[r.Issue]:
			closed[r.Issue] = true
		}
	}
	return len(closed) >= probation
}

// IsRepeated reports whether a run says nothing about the work, since it did not complete.
func (o Outcome) IsRepeated() bool {
	return o == "" || o == OutcomeLater || o == OutcomeStopped || o == OutcomeLost
}

// ExitLater is the exit code of a command that asks to be started later: EX_TEMPFAIL of
// sysexits.h.
const ExitLater = 75
