package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// explorer is one agent in one round.
type explorer struct {
	*runner
	agent  string
	round  int
	tree   *git.Worktree // nil in place
	prompt string

	refused []string // what was rejected of its operations in the round
	failed  string   // how its last run failed, such as ": exit 127"; "" if it did not
}

// explorer prepares the work tree and the prompt of an agent.
func (x *runner) explorer(ctx context.Context, agent string) (*explorer, error) {
	e := &explorer{runner: x, agent: agent, round: x.state.Round}
	var err error
	if x.trees != nil {
		if e.tree, err = git.PrepareWorktree(ctx, *x.trees, treeName(x.issue, agent)); err != nil {
			return nil, err
		}
	}
	e.prompt, err = x.promptOf(ctx, agent)
	return e, err
}

// explore runs the command, and again with a reminder if it did nothing. An agent that did
// something within ResponseTimeout has until RoundTimeout.
func (e *explorer) explore(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, e.RoundTimeout)
	defer cancel()
	if err := e.untilReminder(limited); err != nil {
		return err
	}
	if _, mine := e.current(); mine && !e.answered() && limited.Err() == nil {
		if err := e.attempt(limited, 2, e.prompt+reminder+refusedText(e.refused)); err != nil {
			return err
		}
	}
	if _, mine := e.current(); mine && !e.answered() {
		why := e.failed
		if why == "" && len(e.refused) > 0 {
			why = ": refused: " + e.refused[0]
		}
		e.Tell(fmt.Sprintf("%s has no answer in round %d%s; stig actor log %s shows its output", e.agent, e.round, why, visible.Quoted(e.agent)))
	}
	return e.note(func(r *clone.SwarmRound) {
		if !slices.Contains(r.Done, e.agent) {
			r.Done = append(r.Done, e.agent)
		}
	})
}

// untilReminder runs the command and ends it if it has done nothing within ResponseTimeout.
func (e *explorer) untilReminder(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer time.AfterFunc(e.ResponseTimeout, func() {
		if !e.answered() {
			end(context.DeadlineExceeded)
		}
	}).Stop()
	return e.attempt(ctx, 1, e.prompt)
}

const reminder = "\n## Reminder\n\nYou have not answered in this round yet. After a second round in a row without an answer you are out.\n"

// errOver means that the round of an explorer is no longer running.
var errOver = errors.New("the round is over")

// note edits the running round if it is still the explorer's; otherwise it does nothing.
func (e *explorer) note(edit func(*clone.SwarmRound)) error {
	err := e.place.ChangeSwarmRound(e.issue, func(r *clone.SwarmRound) error {
		if r.Swarm != e.state.Swarm || r.Round != e.round {
			return errOver
		}
		edit(r)
		return nil
	})
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// current returns the running round, and whether it still is the explorer's: the round may have
// been settled, or its swarm ended, while the agent explored.
func (e *explorer) current() (r clone.SwarmRound, mine bool) {
	r, err := e.place.SwarmRound(e.issue)
	return r, err == nil && r.Swarm == e.state.Swarm && r.Round == e.round
}

// answered reports whether the agent did any operation in the round. Changed files are stored
// as its state.
func (e *explorer) answered() bool {
	r, mine := e.current()
	return mine && slices.ContainsFunc(operations(r), func(o swarm.Operation) bool { return o.Agent == e.agent })
}

// attempt runs the command until ctx ends, and records the run.
func (e *explorer) attempt(ctx context.Context, attempt int, prompt string) error {
	now := e.clock()
	self, _ := process.Self()
	r := &clone.Run{ID: clone.NewRunID(), Actor: e.agent, Task: clone.SwarmTask, Issue: e.issue, Attempt: attempt, Loop: self.ID, Step: stepClaimed, Started: now, Worktree: e.root}
	if e.tree != nil {
		r.Worktree, r.Branch, r.Base = e.tree.Dir, e.tree.Branch, e.tree.Base
	}
	if err := e.place.RecordRun(*r, now); err != nil {
		return err
	}
	_, err := execution{
		app: e.app, store: storeDir(e.store), now: e.clock, place: e.place, run: r, argv: e.Command, prompt: prompt, grace: e.Grace,
	}.start(ctx, "STIG_ROUND="+fmt.Sprint(e.round))
	switch {
	case err != nil && r.Log == "": // no log can be written
		return err
	case err != nil:
		r.Why = visible.OneLine(err.Error())
	}
	ctx = context.WithoutCancel(ctx)
	worked := e.commit(ctx, r) // first, since the report may name its branch
	e.take(ctx, endOf(r.Log, mostTail), r)
	if worked && !e.answered() && (attempt > 1 || !r.TimedOut) { // an agent that was ended while working is started again
		_ = e.accept(ctx, swarm.Operation{Kind: swarm.Host, Exploring: fmt.Sprintf("changed files, commit %.12s", r.Commit)})
	}
	return e.record(r)
}

// commit commits what the agent changed and reports whether its branch has work of this round.
// What cannot be committed is reported as rejected.
func (e *explorer) commit(ctx context.Context, r *clone.Run) (worked bool) {
	if e.tree == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, e.RoundTimeout)
	defer cancel()
	commit, err := e.tree.Commit(ctx, fmt.Sprintf("%s: work of %s in round %d\n\nRun: %s\n", e.issue, e.agent, e.round, r.ID), e.agent)
	if err != nil {
		e.app.Warn("%s: the work of %s was not committed: %v", e.issue, e.agent, err)
	}
	if no := (*git.RejectedError)(nil); errors.As(err, &no) {
		e.refused = append(e.refused, visible.HideSecrets(visible.OneLine("changed files: "+no.Reason)))
	}
	r.Commit = commit
	if leftOut(r, e.tree.LeftOut); len(r.LeftOut) > 0 {
		names := visible.OneLine(strings.Join(r.LeftOut, ", "))
		e.app.Warn("%s: left out of the commit of %s: %s", e.issue, e.agent, names)
		e.refused = append(e.refused, "left out of the commit: "+names)
	}
	return err == nil && commit != e.tree.Head
}

// record ends the record of a run.
func (e *explorer) record(r *clone.Run) error {
	r.Ended, e.failed = e.clock(), ""
	switch {
	case r.TimedOut:
		r.Outcome, e.failed = string(clone.OutcomeTimedOut), ": timed out"
	case e.answered():
		r.Outcome = string(clone.OutcomeAdvanced)
	case r.Exit != 0 || r.Why != "":
		r.Outcome, e.failed = string(clone.OutcomeFailed), ": "+cmp.Or(r.Why, fmt.Sprintf("exit %d", r.Exit))
	default:
		r.Outcome = string(clone.OutcomeSilent)
	}
	return e.place.RecordRun(*r, r.Ended)
}

// take applies what an output says, one operation after another. Rejected ones are listed in
// the next prompt; the others count.
func (e *explorer) take(ctx context.Context, text string, r *clone.Run) {
	for _, said := range swarm.ReadAnswer(text, e.prompt) {
		err := said.Err
		if err == nil {
			if said.Operation.Kind == swarm.Find && said.Operation.Direction == "" { // the seed's findings have none
				said.Operation.Direction = said.Operation.Idea
			}
			err = e.accept(ctx, said.Operation)
		}
		if err != nil {
			e.refused = append(e.refused, visible.HideSecrets(visible.OneLine(fmt.Sprintf("%.200s: %s", said.Raw, workspace.Classify(err).Message))))
		}
	}
	if len(e.refused) > 0 {
		r.Said = e.refused[0]
	}
	_ = e.note(func(r *clone.SwarmRound) { // best effort
		delete(r.Refused, e.agent)
		if len(e.refused) > 0 {
			if r.Refused == nil {
				r.Refused = map[string][]string{}
			}
			r.Refused[e.agent] = e.refused[:min(len(e.refused), mostRefused)]
		}
	})
}

// mostRefused is the maximum number of rejections shown to an agent.
const mostRefused = 10

// accept applies one operation of the agent.
func (e *explorer) accept(ctx context.Context, o swarm.Operation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := *e.session
	s.now, s.state = e.clock(), s.replay(clone.SwarmRound{})
	o, err := s.checked(ctx, e.agent, o)
	if err != nil {
		return err
	}
	_, err = s.act(o, false)
	return err
}

// mostTail is how many bytes at the end of an output are searched for an answer.
const mostTail = 512 << 10

// promptOf returns the standard input of an agent: the same text for all, with the agent's own
// state and what it may see.
func (x *runner) promptOf(ctx context.Context, agent string) (string, error) {
	a := x.app.Fresh(ctx, "swarm")
	a.Actor = agent
	o, err := service.Orient(ctx, a, service.OrientRequest{ID: x.issue, Loop: true})
	if err != nil {
		return "", err
	}
	o.Briefing.Next = nil // How to answer says it
	seen := x.state.SeenBy(agent)
	var b strings.Builder
	fmt.Fprintf(&b, "# Swarm %s, round %d of %d\n\nTask: %s\n\nYou are %s, one of %s. The name implies no division of work.\n",
		x.state.Swarm, x.state.Round, x.state.Config.MaxRounds, x.state.Task, swarm.DisplayName(agent), visible.Counted(len(x.state.Agents), "agent"))
	if x.state.Blind() {
		b.WriteString("This round is blind: you see what the others found when the next one begins.\n")
	}
	b.WriteString(duties + seen.Agent(agent).Text())
	b.WriteString("\n## The blackboard\n\n" + visible.Fenced(strings.TrimSpace(seen.Text())))
	b.WriteString(refusedText(x.round.Refused[agent]))
	fmt.Fprintf(&b, answering, x.issue, x.state.Round, x.state.Config.PerSubtask)
	b.WriteString("\n" + o.Briefing.Markdown())
	return b.String(), nil
}

const duties = `
## Duties

- EXPLORER: look for directions and ideas.
- DEEP_ANALYST: deepen the leading direction.
- DEBATER: attack the leading direction with evidence.
- SYNTHESIZER: conclude, in a finding.

`

// answering explains how to answer: issue, round, agents of a subtask.
const answering = `
## How to answer

End your output with one JSON object. All parts are optional:

{"type":"round_complete","round":%[2]d,"report":{"direction":"…","findings":[{"coreIdea":"…","perspective":"…","details":"…","agreesWith":["…"]}],"operations":[{"operation":"deposit_pheromone","params":{"direction":"…","amount":0.1}}]}}

Or type commands while you work:

- stig swarm finding %[1]s --idea SLUG --direction TEXT --perspective TEXT --details TEXT [--agrees-with SLUG]
- stig swarm deposit %[1]s --direction TEXT marks a direction as worth following (deposit_pheromone).
- stig swarm stop %[1]s --target TEXT --reason contradictory_evidence|better_alternative|resource_conflict --evidence TEXT
  says why a direction is not (send_stop_signal: targetDirection, reason, evidence).
- stig swarm probe %[1]s --subtask TEXT claims a part; at most %[3]d agents each (claim_subtask: description).
- stig swarm state %[1]s -m TEXT keeps a text for your next round (update_agent_state: note).
- stig swarm choose %[1]s suggests where to look; you decide.

Files that you change are a solution: they are committed on your branch, and the acceptance criteria run on them.
An idea needs details in your own words: copied ones support nothing. Do not claim, checkpoint or close the issue.
`

// refusedText lists what did not count of an agent's last answer; "" if everything did.
func refusedText(refused []string) string {
	if len(refused) == 0 {
		return ""
	}
	return "\n## Refused in your last answer\n\n- " + strings.Join(refused, "\n- ") + "\n"
}
