package clone

// Outcome is what came of a run.
type Outcome string

// The outcomes, as run records have them.
const (
	OutcomeClosed   Outcome = "closed"
	OutcomeWaiting  Outcome = "waiting"   // a person was asked
	OutcomeAdvanced Outcome = "advanced"  // it left a checkpoint, and is not done
	OutcomeRejected Outcome = "rejected"  // the gate said no, or its work conflicts
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

// IsRepeated reports whether the run says nothing of the work: it did not come to its end.
func (o Outcome) IsRepeated() bool {
	return o == "" || o == OutcomeLater || o == OutcomeStopped || o == OutcomeLost
}

// ExitLater is the exit code by which a command asks to be started later: EX_TEMPFAIL
// of sysexits.h.
const ExitLater = 75

// Left is what a run left.
type Left struct {
	Exit       int
	TimedOut   bool // it was ended at its time limit
	Lost       bool // the claim ended while it ran
	Stopped    bool // a person ended it
	Asked      bool // a question on the issue waits for an answer
	Closed     bool // the store has the issue closed
	Checkpoint bool // the notes of the issue changed
	Traces     bool // it left comments, or edited issues
	Changed    bool // its tree holds work
}

// Outcome says what came of the run by what it left; land is set where its work is to
// be merged, checked and closed, which then decides.
func (l Left) Outcome() (o Outcome, land bool) {
	switch {
	case l.Stopped:
		return OutcomeStopped, false
	case l.Lost:
		return OutcomeLost, false
	case l.Asked:
		return OutcomeWaiting, false
	case l.Exit == ExitLater && !l.TimedOut:
		return OutcomeLater, false
	case (l.TimedOut || l.Exit != 0) && l.Checkpoint:
		return OutcomeAdvanced, false
	case l.TimedOut:
		return OutcomeTimedOut, false
	case l.Exit != 0:
		return OutcomeFailed, false
	case !l.Closed && !l.Checkpoint && !l.Traces && !l.Changed:
		return OutcomeSilent, false
	}
	return OutcomeRejected, true
}

// Unlanded is the outcome of a run whose work was not landed.
func (l Left) Unlanded() Outcome {
	if l.Checkpoint {
		return OutcomeAdvanced
	}
	return OutcomeRejected
}
