package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// SwarmAct is one operation of the actor, who must be an agent.
type SwarmAct struct {
	ID        string
	Operation swarm.Operation
	DryRun    bool
}

// SwarmActed is the result of an operation.
type SwarmActed struct {
	ID            string          `json:"id"`
	Operation     swarm.Operation `json:"operation"`
	Unchanged     bool            `json:"unchanged"` // no effect: it was already so
	Concentration *swarm.Figure   `json:"concentration,omitempty"`
	DryRun        bool            `json:"dry_run"`
}

// ActInSwarm adds an operation to the running round. On an error nothing is written. The error
// is fault.Usage if the actor is not an agent or the operation is invalid; fault.Conflict if a
// subtask has all its agents (max_agents_reached), or no swarm is running.
func ActInSwarm(ctx context.Context, a *workspace.Run, r SwarmAct) (*SwarmActed, error) {
	s, agent, err := loadAgent(ctx, a, r.ID)
	if err != nil {
		return nil, err
	}
	round, err := strconv.Atoi(a.Getenv("STIG_ROUND"))
	if err == nil && a.Getenv("STIG_RUN") != "" && round != s.state.Round { // started for a round that is settled
		return nil, s.wasSettled(round, s.state.Round)
	}
	o, err := s.checked(ctx, agent.Name, r.Operation)
	if err != nil {
		return nil, err
	}
	return s.act(o, r.DryRun)
}

// checked validates an operation and returns it as it is stored, without its number.
func (s *session) checked(ctx context.Context, agent string, o swarm.Operation) (swarm.Operation, error) {
	o = o.Normal()
	o.Swarm, o.Agent, o.At, o.Commit = s.state.Swarm, agent, s.now.Truncate(time.Second), ""
	if err := o.Validate(); err != nil {
		return o, workspace.Usage(err.Error(), "")
	}
	if o.Branch == "" {
		return o, nil
	}
	commit, err := s.commitOf(ctx, o.Branch)
	o.Commit = commit
	return o, err
}

// commitOf returns the commit of a branch or a revision; fault.Usage if git has none.
func (s *session) commitOf(ctx context.Context, branch string) (string, error) {
	result, err := s.app.GitIn(s.app.Dir).Run(ctx, "rev-parse", "-q", "--verify", "--end-of-options", branch+"^{commit}")
	if err != nil {
		return "", err
	}
	if result.Exit != 0 {
		return "", workspace.Usage(fmt.Sprintf("branch: no commit %q in git", branch), "type git branch to list the branches")
	}
	return strings.TrimSpace(string(result.Stdout)), nil
}

// act numbers an operation and stores it if it counts.
func (s *session) act(o swarm.Operation, dryRun bool) (*SwarmActed, error) {
	done := &SwarmActed{ID: s.issue, DryRun: dryRun}
	change := func(r *clone.SwarmRound) error {
		state := s.replay(*r)
		o.Round, o.ID = state.Round, fmt.Sprintf("%s-%d", o.Agent, state.Agent(o.Agent).Operation+1)
		done.Operation = o
		if _, err := comments(o.Agent, o.Round, string(o.Kind), []swarm.Operation{o}); err != nil {
			return err // stored, it would block the settlement of the round
		}
		if probers := state.Probers(o.Subtask); o.Kind == swarm.Probe {
			done.Unchanged = slices.Contains(probers, o.Agent)
			if !done.Unchanged && len(probers) >= state.Config.PerSubtask {
				return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("max_agents_reached: %d agents probe %q", len(probers), o.Subtask),
					Hint: "type stig swarm probe " + s.issue + " --subtask TEXT with another subtask"}
			}
		}
		if !done.Unchanged {
			line, err := json.Marshal(o)
			if err != nil {
				return err
			}
			r.Operations = append(r.Operations, line)
		}
		s.state = s.replay(*r)
		for _, d := range s.state.Directions {
			if d.Name == o.Direction && o.Kind == swarm.Deposit {
				done.Concentration = &d.Concentration
			}
		}
		return nil
	}
	if dryRun {
		r := s.round
		r.Operations = slices.Clone(r.Operations)
		return done, change(&r)
	}
	return done, s.change(change)
}

// judge runs the acceptance criteria of the issue on each solution of a round that was not
// judged before, in a directory that contains only its commit. If nothing in the criteria can
// be run, there are no verdicts.
func (s *session) judge(ctx context.Context, own []swarm.Operation, more []swarm.Verdict) (list []swarm.Verdict, err error) {
	var solutions []swarm.Verdict
	for _, o := range own {
		if o.Kind == swarm.Find && o.Commit != "" {
			solutions = append(solutions, swarm.Verdict{Agent: o.Agent, Idea: o.Idea, Branch: o.Branch, Commit: o.Commit})
		}
	}
	for _, v := range append(solutions, more...) {
		known := func(other swarm.Verdict) bool { return other.Commit == v.Commit }
		if slices.ContainsFunc(s.state.Verdicts, known) || slices.ContainsFunc(list, known) {
			continue
		}
		judged, asks, err := s.try(ctx, v)
		if err != nil || !asks {
			return nil, err
		}
		list = append(list, judged)
	}
	return list, nil
}

// try runs the criteria on one solution; asks is false if nothing in them can be run.
func (s *session) try(ctx context.Context, v swarm.Verdict) (_ swarm.Verdict, asks bool, err error) {
	trees, err := s.app.Trees(s.store.Place())
	if err != nil || trees == nil {
		return v, false, err
	}
	if _, err := s.commitOf(ctx, v.Commit); fault.Is(err, fault.Usage) { // its branch was removed and git collected it
		v.Why = workspace.Classify(err).Message
		return v, true, nil
	}
	dir, remove, err := git.DetachedTree(ctx, *trees, s.issue, v.Commit)
	if err != nil {
		return v, false, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	a := s.app.Fresh(ctx, "swarm")
	a.Dir, a.Store = dir, filepath.Join(s.place.Worktree, filepath.FromSlash(s.place.Store))
	a.Progress, a.Terminal = io.Discard, false
	t, err := service.GateRunOf(ctx, a, s.issue)
	if err != nil || !t.Asks() {
		return v, false, err
	}
	tried := errors.Join(service.Try(ctx, a, t, service.GateRunOptions{}), t.WaitEdits())
	if ctx.Err() != nil {
		return v, true, context.Cause(ctx)
	}
	if t.Verdict == nil { // it did not run, which says nothing about the solution
		return v, true, tried
	}
	if _, v.Why = failing(t.Verdict); v.Why == "" && !t.Verdict.Passed() {
		v.Why = "not all checks ran"
	}
	v.Passed, v.Why = t.Verdict.Passed(), visible.ClippedBytes(visible.HideSecrets(visible.OneLine(v.Why)), mostWhy)
	return v, true, nil
}

// mostWhy is the maximum length in bytes of why a solution did not pass.
const mostWhy = 240
