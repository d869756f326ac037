package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// StartSwarmRequest is the input of StartSwarm. Zero values stand for the configuration.
type StartSwarmRequest struct {
	ID         string
	Agents     []string // their names
	Count      int      // number of agents if none is named
	MaxRounds  int
	Timeout    time.Duration
	Mode       swarm.Mode
	Directions []string // only for modes other than emergent
	Quorum     string
	Task       string // "" for the title of the issue
	Force      bool   // even if the depth of the issue is shallow or standard
	DryRun     bool
}

// SwarmChanged is a swarm after it was started, settled or ended.
type SwarmChanged struct {
	SwarmStatus
	Asked   bool           `json:"asked"` // a person was asked
	Landing string         `json:"-"`     // what became of the answer after the end, in a sentence
	Changes []beads.Change `json:"-"`
}

// StartSwarm starts a swarm on an issue and claims the issue for the actor, so that ready and
// work leave it alone. The error is fault.Usage if it is known what to do on the issue, and
// fault.Conflict if a swarm is running on it or another actor has it.
func StartSwarm(ctx context.Context, a *workspace.Run, r StartSwarmRequest) (*SwarmChanged, error) {
	s, err := load(a, r.ID)
	if err != nil {
		return nil, err
	}
	who, err := a.MustActor(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := s.place.LockSwarm(ctx, s.issue)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }()
	if err := s.read(); err != nil { // another process may have started one meanwhile
		return nil, err
	}
	if s.state.Swarm != "" && s.state.Ended == "" {
		return nil, &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("swarm %s is running, started by %s", s.state.Swarm, s.state.StartedBy),
			Hint: fmt.Sprintf("type stig swarm status %[1]s, or stig swarm end %[1]s", s.issue)}
	}
	if err := s.worth(r.Force); err != nil {
		return nil, err
	}
	o, err := s.begun(r, who)
	if err != nil {
		return nil, err
	}
	if err := s.finish(ctx); err != nil { // the previous swarm, if it was killed
		return nil, err
	}
	if _, err := service.Claim(ctx, a, service.ClaimRequest{ID: s.issue, DryRun: true}); err != nil {
		return nil, err
	}
	done, err := s.write(ctx, 0, fmt.Sprintf("swarm %s of %s begins", o.Swarm, visible.Counted(len(o.Agents), "agent")), []swarm.Operation{o}, r.DryRun)
	if err != nil || r.DryRun {
		return done, err
	}
	_, err = service.Claim(ctx, a, service.ClaimRequest{ID: s.issue}) // after the start: a claim without a swarm would have no visible purpose
	return done, errors.Join(err, s.place.ForgetSwarmRound(s.issue))
}

// worth returns an error if it is known what to do on the issue.
func (s *session) worth(force bool) error {
	if isClosed(s.record) {
		return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: "is closed", Hint: "type stig reopen " + s.issue + " --reason WHY first"}
	}
	depth := signals.Read(notes.Parse(s.record.Text(beads.Notes)), s.app.Schema).Value(signals.PlanningDepth)
	if force || depth == signals.PlanningDepthDeep || depth == signals.PlanningDepthProbe {
		return nil
	}
	return &fault.Error{Code: fault.Usage, ID: s.issue, Reason: fmt.Sprintf("has depth %s: what to do is known, so one worker should claim it; swarms are for deep and probe", depth),
		Hint: "type stig claim " + s.issue + ", or give --force"}
}

// begun returns the operation that starts a swarm.
func (s *session) begun(r StartSwarmRequest, who string) (swarm.Operation, error) {
	config, err := configured(s.app, r)
	if err != nil {
		return swarm.Operation{}, err
	}
	agents, count := r.Agents, cmp.Or(r.Count, len(r.Agents), usualAgents)
	switch {
	case count < swarm.LeastAgents || count > swarm.MostAgents:
		return swarm.Operation{}, workspace.Usage(fmt.Sprintf("agents: must be %d to %d; found %d", swarm.LeastAgents, swarm.MostAgents, count), "give --agents 5, or --agent NAME several times")
	case len(agents) == 0:
		agents = swarm.Names(count)
	case len(agents) != count:
		return swarm.Operation{}, workspace.Usage(fmt.Sprintf("--agents: is %d, but --agent names %d", count, len(agents)), "leave --agents out")
	}
	mode := cmp.Or(r.Mode, swarm.Emergent)
	switch {
	case !slices.Contains(swarm.Modes, mode):
		return swarm.Operation{}, workspace.Usage(fmt.Sprintf("--mode: must be emergent, hybrid or classic; found %q", mode), "")
	case mode == swarm.Emergent && len(r.Directions) > 0:
		return swarm.Operation{}, workspace.Usage("--direction: not allowed for an emergent swarm, whose agents find the directions", "give --mode hybrid to set directions")
	case mode == swarm.Hybrid && len(r.Directions) == 0:
		return swarm.Operation{}, workspace.Usage("--mode: hybrid requires directions; found none", "give --direction TEXT several times")
	}
	at := s.now.Truncate(time.Second)
	if last := s.state.Started; at.Before(last) {
		at = last // the clock was set back; the newest swarm must have the latest start
	}
	o := swarm.Operation{
		Swarm: swarm.NewID(s.issue, who, at, s.before+1), Agent: who, ID: fmt.Sprintf("%s-%d", who, s.before+1), Kind: swarm.Start, At: at,
		Task: visible.OneLine(cmp.Or(r.Task, s.record.Text(beads.Title))), Agents: agents, Mode: mode, Directions: r.Directions, Config: &config,
	}
	if err := o.ValidateStart(); err != nil {
		return o, workspace.Usage(err.Error(), "")
	}
	for _, name := range o.Directions { // agents must be able to name it
		if err := (swarm.Operation{Kind: swarm.Deposit, Direction: name}).Normal().Validate(); err != nil {
			return o, workspace.Usage(err.Error(), "")
		}
	}
	return o, nil
}

// usualAgents is the default number of agents.
const usualAgents = 5

// configured returns the parameters of a swarm from the flags and the configuration. Flags take
// precedence.
func configured(a *workspace.Run, r StartSwarmRequest) (swarm.Config, error) {
	c := swarm.Defaults()
	if given := a.Config.Swarm; given != nil {
		span, err := checkpoint.ParseSpan(given.Timeout)
		if err != nil {
			return c, err
		}
		c = given.Config
		c.Timeout = int(span / time.Second)
	}
	if r.Quorum != "" {
		var err error
		if c.Quorum, err = swarm.ParseFraction(r.Quorum); err != nil {
			return c, workspace.Usage("quorum: "+err.Error(), "")
		}
	}
	c.MaxRounds = cmp.Or(r.MaxRounds, c.MaxRounds)
	if r.Timeout > 0 {
		c.Timeout = int(r.Timeout / time.Second)
	}
	return c, nil
}
