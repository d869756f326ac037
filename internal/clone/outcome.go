package clone

import "slices"

// Outcome is what came of a run.
type Outcome string

// The outcomes, as run records have them.
const (
	OutcomeClosed   Outcome = "closed"
	OutcomeWaiting  Outcome = "waiting"   // a person was asked
	OutcomeAdvanced Outcome = "advanced"  // it left a checkpoint, and is not done
	OutcomeRejected Outcome = "rejected"  // the gate said no, or its work conflicts
	OutcomeUnproven Outcome = "unproven"  // its checks pass, and did so before the work too; a person was asked
	OutcomeRegated  Outcome = "regated"   // nothing was started: its work was judged again, and rejected again
	OutcomeSilent   Outcome = "silent"    // it left nothing
	OutcomeFailed   Outcome = "failed"    // it ended with another exit code than 0
	OutcomeTimedOut Outcome = "timed-out" // it was ended at its time limit
	OutcomeLater    Outcome = "later"     // it asked to be started later, or every worker fails alike
	OutcomeLost     Outcome = "lost"      // the claim ended while it ran
	OutcomeStopped  Outcome = "stopped"   // a person, or a crash of the loop, ended it
)

// IsFailure reports whether the run counts as a failed attempt at its issue.
func (o Outcome) IsFailure() bool {
	return o == OutcomeSilent || o == OutcomeFailed || o == OutcomeTimedOut
}

// IsPass reports whether the run counts as a pass: it worked on the issue, and did not
// get it closed.
func (o Outcome) IsPass() bool { return o == OutcomeRejected || o == OutcomeAdvanced }

// probation is how many issues that others then closed a worker fails in a row.
const probation = 3

// OnProbation reports whether a worker failed three issues in a row, by the order of their
// ends, which others closed after that.
func OnProbation(runs []Run, worker string) bool {
	ended := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Outcome == "" || r.Issue == "" || r.Task == SwarmTask })
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

// IsRepeated reports whether the run says nothing of the work: it did not come to its end.
func (o Outcome) IsRepeated() bool {
	return o == "" || o == OutcomeLater || o == OutcomeStopped || o == OutcomeLost
}

// ExitLater is the exit code by which a command asks to be started later: EX_TEMPFAIL
// of sysexits.h.
const ExitLater = 75
