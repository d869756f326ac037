package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	if !e.answered() && !e.over() && limited.Err() == nil {
		if err := e.attempt(limited, 2, e.prompt+e.reminder()); err != nil {
			return err
		}
	}
	if !e.answered() && !e.over() {
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

func (e *explorer) reminder() string {
	return "\n## Reminder\n\nYou have not answered in this round yet. After a second round in a row without an answer you are out.\n" + refusedText(e.refused)
}

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

// over reports whether the round was settled, or its swarm ended, while the agent explored.
func (e *explorer) over() bool {
	r, err := e.place.SwarmRound(e.issue)
	return err == nil && (r.Swarm != e.state.Swarm || r.Round != e.round)
}

// answered reports whether the agent did any operation in the round. Changed files are stored
// as its state.
func (e *explorer) answered() bool {
	r, err := e.place.SwarmRound(e.issue)
	return err == nil && r.Swarm == e.state.Swarm && r.Round == e.round &&
		slices.ContainsFunc(operations(r), func(o swarm.Operation) bool { return o.Agent == e.agent })
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

// completed is the report that a command may end its output with instead of calling stig swarm.
type completed struct {
	Direction  string            `json:"direction"`
	Findings   []json.RawMessage `json:"findings"`
	Operations []json.RawMessage `json:"operations"`
}

// take applies the operations of an output one by one. Rejected ones are listed in the next
// prompt; the others count.
func (e *explorer) take(ctx context.Context, text string, r *clone.Run) {
	report, err := lastReport(text, e.prompt)
	if err != nil {
		e.refused = append(e.refused, "round_complete: "+err.Error())
	}
	add := func(raw json.RawMessage, kind swarm.Kind) {
		o, err := parseOperation(raw, kind, report.Direction)
		if err == nil {
			err = e.accept(ctx, o)
		}
		if err != nil {
			e.refused = append(e.refused, visible.HideSecrets(visible.OneLine(fmt.Sprintf("%.200s: %s", raw, workspace.Classify(err).Message))))
		}
	}
	for _, raw := range report.Findings {
		add(raw, swarm.Find)
	}
	for _, raw := range report.Operations {
		add(raw, "")
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

// parseOperation parses an operation of a report; kind is "" if the operation has its own. A
// finding without a direction gets that of the report.
func parseOperation(raw json.RawMessage, kind swarm.Kind, direction string) (o swarm.Operation, err error) {
	var given map[string]json.RawMessage
	if err = json.Unmarshal(raw, &given); err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		return o, err
	}
	delete(given, "operation")
	if kind != "" {
		o.Kind = kind
	}
	keys := swarm.Keys(o.Kind)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if keys != nil && !slices.Contains(keys, key) {
			return o, fmt.Errorf("%s: unknown key of %s; must be %s", key, o.Kind, strings.Join(keys, ", "))
		}
	}
	if o.Kind == swarm.Find && o.Direction == "" {
		o.Direction = direction
	}
	return o, nil
}

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

// lastReport returns the last report of a round in an output; an empty one if there is none. A
// report that is also in the prompt is the prompt's example and is ignored, since programs
// print their input.
func lastReport(text, prompt string) (completed, error) {
	var whole struct {
		Round completed `json:"round_complete"`
	}
	at := strings.LastIndex(text, `"round_complete"`)
	if at < 0 {
		return whole.Round, nil
	}
	from := strings.LastIndexByte(text[:at], '{')
	if from < 0 || strings.TrimSpace(text[from+1:at]) != "" {
		return whole.Round, errors.New(`must begin with {"round_complete": …}`)
	}
	reading := json.NewDecoder(strings.NewReader(text[from:]))
	err := reading.Decode(&whole)
	if err == nil && strings.Contains(prompt, text[from:from+int(reading.InputOffset())]) {
		return completed{}, nil
	}
	return whole.Round, err
}

// mostTail is how many bytes at the end of an output are searched for a report.
const mostTail = 512 << 10

// promptOf returns the standard input of an agent: the same text for all, with the agent's own
// state and what it may see.
func (x *runner) promptOf(ctx context.Context, agent string) (string, error) {
	seen := x.state.SeenBy(agent)
	one := seen.Agent(agent)
	own, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return "", err
	}
	board, err := json.MarshalIndent(map[string]any{
		"directions": seen.Directions, "stop_signals": seen.Signals, "claims": seen.Claims, "findings": seen.Findings, "convergence": seen.Convergence,
		"verdicts": seen.Verdicts,
	}, "", "  ")
	if err != nil {
		return "", err
	}
	briefing, err := service.Orient(ctx, x.app.Fresh(ctx, "swarm"), service.OrientRequest{ID: x.issue, Loop: true})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Swarm %s, round %d\n\nTask: %s\n\nYou are %s, one of %s. The name implies no division of work.\n",
		x.state.Swarm, x.state.Round, x.state.Task, swarm.DisplayName(agent), visible.Counted(len(x.state.Agents), "agent"))
	if x.state.Blind() {
		b.WriteString("This round is blind: you see what others find after it.\n")
	}
	fmt.Fprintf(&b, "\n## Duties\n\n- EXPLORER: seek directions and ideas.\n- DEEP_ANALYST: deepen the leading direction.\n- DEBATER: attack the leading direction with evidence.\n- SYNTHESIZER: conclude, in a finding.\n\nYours: %s.\n", one.Role)
	id := x.issue
	fmt.Fprintf(&b, `
## What you may do

- stig swarm choose %[1]s suggests where to look; you decide.
- stig swarm finding %[1]s --idea SLUG --direction TEXT --perspective TEXT --details TEXT [--agrees-with SLUG]
- stig swarm deposit %[1]s --direction TEXT marks a direction as worth following.
- stig swarm stop %[1]s --target TEXT --reason contradictory_evidence|better_alternative|resource_conflict --evidence TEXT
- stig swarm probe %[1]s --subtask TEXT claims a part; at most %[2]d agents each.
- stig swarm state %[1]s -m TEXT saves a text for your next round.
- Changed files are a solution: they are committed on your branch, and the acceptance criteria run on it.
- Or end your output with one JSON object:
  {"round_complete":{"direction":"…","findings":[{"core_idea":"…","perspective":"…","details":"…","agrees_with":[]}],"operations":[{"operation":"deposit","direction":"…"}]}}

Write details in your own words: copied ones support nothing. Without any of these you have not answered in this round.
`, id, x.state.Config.PerSubtask)
	for _, w := range x.state.Warnings {
		fmt.Fprintf(&b, "\nWarning (%s): %s.\n", w.Kind, strings.Join(w.Suggestions, ", "))
	}
	b.WriteString(refusedText(x.round.Refused[agent]))
	fmt.Fprintf(&b, "\n## Your state\n\n```json\n%s\n```\n\n## Blackboard\n\n%s\n%s", own, visible.Fenced(string(board)), "\n"+briefing.Markdown())
	return b.String(), nil
}

// refusedText lists what did not count of an agent's last answer; "" if everything did.
func refusedText(refused []string) string {
	if len(refused) == 0 {
		return ""
	}
	return "\n## Refused in your last answer\n\n- " + strings.Join(refused, "\n- ") + "\n"
}
