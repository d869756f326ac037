package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/swarm"
	"stig/internal/workspace"
)

// SwarmAct is one operation of the actor, who is an agent.
type SwarmAct struct {
	ID        string
	Operation swarm.Operation
	DryRun    bool
}

// SwarmActed says what an operation did.
type SwarmActed struct {
	ID            string          `json:"id"`
	Operation     swarm.Operation `json:"operation"`
	Unchanged     bool            `json:"unchanged"` // it was so already
	Concentration *swarm.Figure   `json:"concentration,omitempty"`
	DryRun        bool            `json:"dry_run"`
}

// ActInSwarm has an operation count in the running round. Refusals leave no byte: fault.Usage for
// who is no agent and for what is wrong with the operation, fault.Conflict for a subtask
// that has all its agents (max_agents_reached), for one solution too many of an agent
// (max_solutions_reached), and where no swarm runs.
func ActInSwarm(ctx context.Context, a *workspace.Run, r SwarmAct) (*SwarmActed, error) {
	s, agent, err := loadAgent(ctx, a, r.ID)
	if err != nil {
		return nil, err
	}
	if err := s.ofThisRound(); err != nil {
		return nil, err
	}
	o, err := s.checked(ctx, agent.Name, r.Operation)
	if err != nil {
		return nil, err
	}
	return s.act(o, r.DryRun)
}

// ofThisRound refuses what was started for a round that is settled.
func (s *session) ofThisRound() error {
	text := s.app.Getenv("STIG_ROUND")
	if round, err := strconv.Atoi(text); err == nil && s.app.Getenv("STIG_RUN") != "" && round != s.state.Round {
		return s.wasSettled(round, s.state.Round)
	}
	return nil
}

// checked is an operation as it is kept, without its number.
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

// commitOf gives the commit of a branch, or of a commit; fault.Usage where git has none.
func (s *session) commitOf(ctx context.Context, branch string) (string, error) {
	result, err := s.app.GitIn(s.app.Dir).Run(ctx, "rev-parse", "-q", "--verify", "--end-of-options", branch+"^{commit}")
	if err != nil {
		return "", err
	}
	if result.Exit != 0 {
		return "", workspace.Usage(fmt.Sprintf("branch: git knows no commit %q", branch), "type git branch to see which there are")
	}
	return strings.TrimSpace(string(result.Stdout)), nil
}

// mostSolutions is how many commits an agent may name in a round: each goes through the
// gate.
const mostSolutions = 8

// act numbers an operation and keeps it, where it counts.
func (s *session) act(o swarm.Operation, dryRun bool) (*SwarmActed, error) {
	done := &SwarmActed{ID: s.issue, DryRun: dryRun}
	change := func(r *clone.SwarmRound) error {
		state := s.replay(*r)
		agent := state.Agent(o.Agent)
		o.Round, o.ID = state.Round, fmt.Sprintf("%s-%d", o.Agent, agent.Operation+1)
		done.Operation = o
		if _, err := comments(o.Agent, o.Round, string(o.Kind), []swarm.Operation{o}); err != nil {
			return err // kept, it would keep the round from being settled
		}
		if o.Kind == swarm.Probe {
			if state.Full(o.Subtask, o.Agent) {
				return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("max_agents_reached: %d agents probe %q", state.Config.PerSubtask, o.Subtask),
					Hint: "type stig swarm probe " + s.issue + " --subtask TEXT with another"}
			}
			done.Unchanged = state.Probes(o.Subtask, o.Agent)
		}
		if o.Commit != "" && state.Solutions(o.Agent, o.Commit) >= mostSolutions {
			return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("max_solutions_reached: %s named %d solutions in round %d", o.Agent, mostSolutions, state.Round),
				Hint: "report it without --branch, or wait for the next round"}
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
		r.Operations = append([]json.RawMessage{}, r.Operations...)
		return done, change(&r)
	}
	return done, s.change(change)
}
