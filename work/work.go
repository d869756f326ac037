// Package work decides what a worker loop does next: which task, whether its bounds
// allow it, what came of a run, how long to back off.
//
// Its functions are pure: they take what a run left, the run records and a time.
// Package app/working starts programs and writes what follows.
//
//	order, next := work.Choose(candidates, now)
//	outcome := work.Left{Exit: ended.Exit, Asked: asked}.Outcome()
package work

// Outcome is what came of a run.
type Outcome string

// The outcomes, as run records have them.
const (
	Closed   Outcome = "closed"
	Waiting  Outcome = "waiting"   // a person was asked
	Advanced Outcome = "advanced"  // it left a checkpoint, and is not done
	Rejected Outcome = "rejected"  // the gate said no, or its work conflicts
	Silent   Outcome = "silent"    // it left nothing
	Failed   Outcome = "failed"    // it ended with another exit code than 0
	TimedOut Outcome = "timed-out" // it was ended at its time limit
	Later    Outcome = "later"     // it asked to be started later, or every worker fails alike
	Lost     Outcome = "lost"      // the claim ended while it ran
	Stopped  Outcome = "stopped"   // a person, or a crash of the loop, ended it
)

// IsFailure reports whether the run counts as a failed attempt at its issue.
func (o Outcome) IsFailure() bool { return o == Silent || o == Failed || o == TimedOut }

// IsPass reports whether the run counts as a pass: it worked on the issue, and did not
// get it closed.
func (o Outcome) IsPass() bool { return o == Rejected || o == Advanced }

// IsRepeated reports whether the run says nothing of the work: it did not come to its end.
func (o Outcome) IsRepeated() bool { return o == "" || o == Later || o == Stopped || o == Lost }

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
		return Stopped, false
	case l.Lost:
		return Lost, false
	case l.Asked:
		return Waiting, false
	case l.Exit == ExitLater && !l.TimedOut:
		return Later, false
	case (l.TimedOut || l.Exit != 0) && l.Checkpoint:
		return Advanced, false
	case l.TimedOut:
		return TimedOut, false
	case l.Exit != 0:
		return Failed, false
	case !l.Closed && !l.Checkpoint && !l.Traces && !l.Changed:
		return Silent, false
	}
	return Rejected, true
}

// Unlanded is the outcome of a run whose work was not landed.
func (l Left) Unlanded() Outcome {
	if l.Checkpoint {
		return Advanced
	}
	return Rejected
}
