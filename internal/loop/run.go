package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"stig/checkpoint"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// Run is one run of a worker, with or without an issue. Its record has what another loop needs
// to complete it if this one is killed. That loop begins at runOrphaned and repeats only steps
// that are idempotent.
type Run struct {
	clone.Run
	state    State
	outcome  clone.Outcome       // as far as known
	tree     *git.Worktree       // nil in place
	upon     signals.Review      // the request that its work is stacked upon; zero for none
	prompt   string              // standard input of the command
	found    []string            // what others or this actor left of the issue before, one per line
	lack     string              // what the criteria read and the work tree does not have; "" for nothing
	left     left                // what the command left
	exit     int                 // of what rejected its work; 0 if nothing ran
	feedback string              // reason for the rejection, in Markdown
	question checkpoint.Question // for a person
	trouble  error               // error that kept the last step from completing
	hint     string              // what a person can do about it
	waits    int                 // number of waits before retrying a step
	uses     map[*transition]int
	remove   func(context.Context) error // removes the tree of a run without an issue; nil for none
}

// State is the state of a run between two steps.
type State string

// States of a run. steps has the action of each.
const (
	runClaimed   State = "claimed"   // the issue is this worker's
	runOrphaned  State = "orphaned"  // its loop was killed and this one resumes it
	runPrepared  State = "prepared"  // work tree and prompt are ready
	runEnded     State = "ended"     // the command ended
	runWorked    State = "worked"    // the command claims that the issue is done
	runOffered   State = "offered"   // its work is committed and should land
	runJudged    State = "judged"    // its outcome is known
	runAsking    State = "asking"    // a person has to decide
	runSettled   State = "settled"   // the issue is released or closed
	runConcluded State = "concluded" // its record is complete

	runWorking State = "claimed to offered" // in a transition: any of those
)

// isWorking reports whether the outcome of a run in this state is still unknown.
func (s State) isWorking() bool {
	return s == runClaimed || s == runOrphaned || s == runPrepared || s == runEnded || s == runWorked || s == runOffered
}

// observation is the result of a step. It is ignored if the step returned an error.
type observation string

const (
	sawReady           observation = "ready"
	sawTaken           observation = "a person takes the work as it is"
	sawRegate          observation = "its work was refused, and the branch that results go to moved since"
	sawEnd             observation = "the command ended"
	sawStop            observation = "stopped by a person or a crash"
	sawClaimLost       observation = "the claim ended while the command ran"
	sawGone            observation = "the issue is deleted, closed or claimed by others"
	sawQuestion        observation = "a question waits"
	sawLater           observation = "exit 75"
	sawProgress        observation = "a checkpoint, and not exit 0"
	sawTimeout         observation = "timed out"
	sawFailure         observation = "another exit than 0"
	sawNothing         observation = "exit 0 and nothing left"
	sawElsewhere       observation = "exit 0, nothing in the work tree, and work elsewhere"
	sawWork            observation = "exit 0 and something left"
	sawBeat            observation = "exit 0 without an issue"
	sawKept            observation = "committed"
	sawReview          observation = "committed, and not to be landed"
	sawInReview        observation = "a request for review is open"
	sawClosed          observation = "closed, by the command or after landing"
	sawLost            observation = "the issue is not this worker's any more"
	sawRefused         observation = "a hook, the merge or the gate refuses the work"
	sawRefusedAgain    observation = "refused again, and nothing was started"
	sawRefusedProgress observation = "refused, and there is a checkpoint"
	sawMoved           observation = "the branch moved meanwhile"
	sawCriteriaChanged observation = "the criteria are not those that were claimed"
	sawCredential      observation = "what is to land holds what looks like a credential"
	sawUnproven        observation = "no check shows the work: all passed before it too"
	sawNothingRun      observation = "no check can be run"
	sawBlocked         observation = "others, or an answer, keep the issue open"
	sawUnclosable      observation = "the issue cannot be closed as it is"
	sawAlike           observation = "every worker fails alike"
	sawAttemptsUsed    observation = "the last attempt failed"
	sawPassesUsed      observation = "the last pass did not close the issue"
	sawAttempt         observation = "an attempt failed"
	sawOpen            observation = "the issue stays open"
	sawOver            observation = "closed, lost, or about no issue"
	sawAsked           observation = "a person was asked"
	sawRecorded        observation = "recorded"

	// Observations for a step of a working run that failed with an error.
	sawError       observation = "an error"
	sawErrorAtStop observation = "an error once a person stopped it"
	sawErrorAtLoss observation = "an error once the claim was lost"
	sawUnknown     observation = "it cannot be known what follows" // no transition: the run stays in its state until the loop resumes it
)

// unknown is an error that leads to sawUnknown: it is not the fault of the work.
type unknown struct{ error }

func (e unknown) Unwrap() error { return e.error }

// transition is what follows from an observation in a state.
type transition struct {
	from    State
	on      observation
	to      State
	outcome clone.Outcome // "" leaves it unchanged
	do      action        // called before to is reached; nil for nothing
	most    int           // maximum uses in a run, then the next matching row applies; 0 for any number
}

type action func(*loop, context.Context, *Run) error

// transitions lists all transitions; the first match applies. An error without a row, or of a
// run whose outcome is known, ends the turn of the loop, which resumes the run later.
var transitions = []transition{
	{from: runClaimed, on: sawReady, to: runPrepared},
	{from: runClaimed, on: sawTaken, to: runEnded},
	{from: runClaimed, on: sawRegate, to: runEnded},
	{from: runOrphaned, on: sawReady, to: runEnded},
	{from: runPrepared, on: sawEnd, to: runEnded},

	{from: runEnded, on: sawStop, to: runJudged, outcome: clone.OutcomeStopped, do: (*loop).keepTree},
	{from: runEnded, on: sawClaimLost, to: runJudged, outcome: clone.OutcomeLost},
	{from: runEnded, on: sawGone, to: runJudged, outcome: clone.OutcomeLost, do: (*loop).keepTree},
	{from: runEnded, on: sawQuestion, to: runJudged, outcome: clone.OutcomeWaiting, do: (*loop).keepTree},
	{from: runEnded, on: sawLater, to: runJudged, outcome: clone.OutcomeLater, do: (*loop).keepTree},
	{from: runEnded, on: sawProgress, to: runJudged, outcome: clone.OutcomeAdvanced, do: (*loop).keepTree},
	{from: runEnded, on: sawTimeout, to: runJudged, outcome: clone.OutcomeTimedOut},
	{from: runEnded, on: sawFailure, to: runJudged, outcome: clone.OutcomeFailed},
	{from: runEnded, on: sawNothing, to: runJudged, outcome: clone.OutcomeSilent},
	{from: runEnded, on: sawElsewhere, to: runJudged, outcome: clone.OutcomeRejected, do: (*loop).reject},
	{from: runEnded, on: sawBeat, to: runJudged, outcome: clone.OutcomeAdvanced},
	{from: runEnded, on: sawClosed, to: runJudged, outcome: clone.OutcomeClosed, do: (*loop).putAway}, // landed before its loop was killed
	{from: runEnded, on: sawWork, to: runWorked},

	{from: runWorked, on: sawReview, to: runJudged, outcome: clone.OutcomeAdvanced},
	{from: runWorked, on: sawClosed, to: runJudged, outcome: clone.OutcomeClosed},
	{from: runWorked, on: sawKept, to: runOffered},

	{from: runOffered, on: sawClosed, to: runJudged, outcome: clone.OutcomeClosed, do: (*loop).putAway}, // others may land meanwhile
	{from: runOffered, on: sawInReview, to: runJudged, outcome: clone.OutcomeInReview},
	{from: runOffered, on: sawBlocked, to: runJudged, outcome: clone.OutcomeWaiting},
	{from: runOffered, on: sawUnclosable, to: runJudged, outcome: clone.OutcomeAdvanced},
	{from: runOffered, on: sawCriteriaChanged, to: runAsking, outcome: clone.OutcomeWaiting},
	{from: runOffered, on: sawNothingRun, to: runAsking, outcome: clone.OutcomeWaiting},
	{from: runOffered, on: sawCredential, to: runAsking, outcome: clone.OutcomeWaiting, do: (*loop).reopen},
	{from: runOffered, on: sawUnproven, to: runAsking, outcome: clone.OutcomeUnproven, do: (*loop).reopen},
	{from: runOffered, on: sawMoved, to: runOffered, most: 2},
	{from: runOffered, on: sawMoved, to: runJudged, outcome: clone.OutcomeLater, do: (*loop).explain},
	{from: runOffered, on: sawError, to: runOffered, do: (*loop).waitAgain, most: 2}, // a locked store or a full disk may recover soon

	{from: runWorking, on: sawLost, to: runJudged, outcome: clone.OutcomeLost},
	{from: runWorking, on: sawRefused, to: runJudged, outcome: clone.OutcomeRejected, do: (*loop).reject},
	{from: runWorking, on: sawRefusedAgain, to: runJudged, outcome: clone.OutcomeRegated, do: (*loop).reject},
	{from: runWorking, on: sawRefusedProgress, to: runJudged, outcome: clone.OutcomeAdvanced, do: (*loop).reject},
	{from: runWorking, on: sawError, to: runJudged, outcome: clone.OutcomeLater, do: (*loop).explain}, // nobody's fault
	{from: runWorking, on: sawErrorAtStop, to: runJudged, outcome: clone.OutcomeStopped, do: (*loop).explain},
	{from: runWorking, on: sawErrorAtLoss, to: runJudged, outcome: clone.OutcomeLost, do: (*loop).explain},

	{from: runJudged, on: sawOver, to: runSettled},
	{from: runJudged, on: sawAlike, to: runSettled, outcome: clone.OutcomeLater, do: (*loop).giveBack},
	{from: runJudged, on: sawAttempt, to: runSettled, do: (*loop).giveBackFailed},
	{from: runJudged, on: sawOpen, to: runSettled, do: (*loop).giveBack},
	{from: runJudged, on: sawAttemptsUsed, to: runAsking, do: (*loop).leaveError},
	{from: runJudged, on: sawPassesUsed, to: runAsking},
	{from: runAsking, on: sawAsked, to: runSettled, do: (*loop).giveBack},
	{from: runAsking, on: sawLost, to: runSettled, outcome: clone.OutcomeLost},
	{from: runSettled, on: sawRecorded, to: runConcluded},
}

// steps has the function for each state, which returns an observation. It must be safe to
// repeat.
var steps = map[State]func(*loop, context.Context, *Run) (observation, error){
	runClaimed:  (*loop).furnish,
	runOrphaned: (*loop).furnishAgain,
	runPrepared: (*loop).supervise,
	runEnded:    (*loop).look,
	runWorked:   (*loop).offer,
	runOffered:  (*loop).land,
	runJudged:   (*loop).weigh,
	runAsking:   (*loop).ask,
	runSettled:  (*loop).conclude,
}

// next returns the transition for an observation; nil if there is none.
func (r *Run) next(saw observation) *transition {
	for i := range transitions {
		t := &transitions[i]
		if t.on == saw && (t.from == r.state || t.from == runWorking && r.state.isWorking()) && (t.most == 0 || r.uses[t] < t.most) {
			return t
		}
	}
	return nil
}

// advance takes a run from its state to its end, or to a state in which it stops before, and
// keeps its claim meanwhile.
func (l *loop) advance(ctx context.Context, r *Run, before ...State) error {
	held, stop := l.tend(ctx, r)
	defer stop()
	for r.state != runConcluded && !slices.Contains(before, r.state) {
		ctx := held
		if !r.state.isWorking() { // an interrupt ends checks, but not the cleanup
			ctx = context.WithoutCancel(held)
		}
		saw, err := steps[r.state](l, ctx, r)
		if err := l.follow(ctx, r, saw, err); err != nil {
			return err
		}
	}
	return nil
}

// follow applies the transition for an observation, or for the error of the step. An error of
// the transition's action is handled in the same way.
func (l *loop) follow(ctx context.Context, r *Run, saw observation, trouble error) error {
	if trouble != nil {
		saw = broken(ctx, trouble)
	}
	t := r.next(saw)
	switch {
	case t == nil && trouble != nil:
		return trouble
	case t == nil:
		return fmt.Errorf("run %s: no transition from state %q for %q", r.ID, r.state, saw)
	}
	r.trouble = trouble
	if t.do != nil {
		if err := t.do(l, ctx, r); err != nil {
			return l.follow(ctx, r, "", err)
		}
	}
	r.take(t)
	return nil
}

// take applies a transition.
func (r *Run) take(t *transition) {
	if r.uses == nil {
		r.uses = map[*transition]int{}
	}
	r.uses[t]++
	r.state, r.outcome = t.to, cmp.Or(t.outcome, r.outcome)
}

// broken returns the observation for an error of a step.
func broken(ctx context.Context, err error) observation {
	_, isUnknown := errors.AsType[unknown](err)
	switch {
	case isUnknown:
		return sawUnknown
	case errors.Is(err, git.ErrMoved):
		return sawMoved
	case ctx.Err() == nil:
		return sawError
	case errors.Is(context.Cause(ctx), errLost):
		return sawErrorAtLoss
	}
	return sawErrorAtStop
}

// explain records the error that kept a run from completing.
func (l *loop) explain(_ context.Context, r *Run) error {
	r.hint = workspace.Classify(r.trouble).Hint
	r.Why = visible.OneLine(visible.HideSecrets(workspace.Visible(r.trouble.Error())))
	return nil
}

// waitAgain waits before a step is retried, twice as long each time.
func (l *loop) waitAgain(ctx context.Context, r *Run) error {
	l.pause(ctx, l.Times.Look<<r.waits)
	r.waits++
	return nil
}
