// Package swarming holds the services of stig swarm: several explorers of one issue, whose
// blackboard is computed from what they did. Package swarm computes it; this one keeps the
// operations of the running round in live state, writes a settled round to the store as
// traces, runs acceptance criteria, and runs explorers.
//
//	acted, err := swarming.Act(ctx, a, swarming.ActRequest{ID: "harbor-9fd.3", Operation: o})
package swarming

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"stig/app"
	"stig/beads"
	"stig/fault"
	"stig/live"
	"stig/swarm"
	"stig/trace"
)

// session is one look at the newest swarm of an issue.
type session struct {
	app     *app.App
	store   beads.Store
	place   live.Place
	issue   string
	record  *beads.Record
	now     time.Time
	before  int               // swarms on the issue
	settled []swarm.Operation // those in the store
	round   live.SwarmRound   // the running one
	state   *swarm.State      // after all of them
}

// load reads the newest swarm of an issue. Ids are exact: programs call this, and must
// not guess.
func load(a *app.App, id string) (*session, error) {
	s := &session{app: a}
	var err error
	if s.store, err = a.Discover(); err != nil {
		return nil, err
	}
	if s.place, err = a.Live(s.store.Place()); err != nil {
		return nil, err
	}
	if s.now, err = a.Clock(); err != nil {
		return nil, err
	}
	s.issue = id
	return s, s.read()
}

// read reads the store and the running round.
func (s *session) read() error {
	file, err := s.store.Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	issue, err := file.Find(s.issue)
	if err != nil {
		return err
	}
	if issue.ID != s.issue {
		return &beads.NotFoundError{ID: s.issue, Near: []string{issue.ID}}
	}
	if s.record, err = issue.Record(); err != nil {
		return err
	}
	past := swarm.ReadRecord(trace.Of(s.record))
	for _, flaw := range past.Flaws {
		s.app.Warn("%s: an operation of a swarm cannot be read: %v", s.issue, flaw)
	}
	if s.before = len(past.Swarms); s.before > 0 {
		s.settled = past.Swarms[s.before-1].Operations
	}
	if s.round, err = s.place.SwarmRound(s.issue); err != nil {
		s.app.WarnOfShared(err)
	}
	s.state = s.replay(s.round)
	return nil
}

// replay gives the state with the operations of a round that is not settled.
func (s *session) replay(r live.SwarmRound) *swarm.State {
	return swarm.Replay(append(append([]swarm.Operation{}, s.settled...), operations(r)...))
}

// operations reads those of a running round.
func operations(r live.SwarmRound) (list []swarm.Operation) {
	for _, raw := range r.Operations {
		var o swarm.Operation
		if json.Unmarshal(raw, &o) == nil { // stig wrote it
			list = append(list, o)
		}
	}
	return list
}

// running refuses (fault.Conflict) an issue on which no swarm runs.
func (s *session) running() error {
	hint := "type stig swarm start " + s.issue
	switch {
	case s.state.Swarm == "":
		return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: "no swarm runs", Hint: hint}
	case s.state.Ended != "":
		return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("swarm %s ended: %s", s.state.Swarm, s.state.Ended),
			Hint: "type stig swarm report " + s.issue + ", or stig swarm start " + s.issue + " for another"}
	}
	return nil
}

// own refuses (fault.Usage) what only whoever started the swarm may do.
func (s *session) own(ctx context.Context, what string) error {
	who, err := s.app.MustActor(ctx)
	if err != nil {
		return err
	}
	if who != s.state.StartedBy {
		return &fault.Error{Code: fault.Usage, ID: s.issue, Reason: fmt.Sprintf("%s: %s started the swarm, and %s did not", what, s.state.StartedBy, who),
			Hint: "give --actor " + s.state.StartedBy + " if that is you"}
	}
	return nil
}

// agent gives the agent that acts; fault.Usage for somebody else.
func (s *session) agent(ctx context.Context) (*swarm.Agent, error) {
	who, err := s.app.MustActor(ctx)
	if err != nil {
		return nil, err
	}
	agent := s.state.Agent(who)
	if agent == nil {
		return nil, &fault.Error{Code: fault.Usage, ID: s.issue, Reason: who + " is no agent of the swarm; they are " + names(s.state),
			Hint: "give --actor with the name of one"}
	}
	return agent, nil
}

func names(s *swarm.State) (list string) {
	for i, a := range s.Agents {
		if i > 0 {
			list += ", "
		}
		list += a.Name
	}
	return list
}

// Status is what a swarm knows, as far as whoever asks may see it.
type Status struct {
	ID string `json:"id"`
	*swarm.State
}

// Show gives the state of the newest swarm on an issue. Before the first round is settled
// an agent sees only what it did itself.
func Show(ctx context.Context, a *app.App, id string) (*Status, error) {
	s, err := load(a, id)
	if err != nil {
		return nil, err
	}
	if s.state.Swarm == "" {
		return nil, s.running()
	}
	who, err := a.ActorName(ctx)
	if err != nil {
		return nil, err
	}
	return &Status{s.issue, s.seenBy(who)}, nil
}

// seenBy is the state as an actor may see it: whoever started the swarm sees all.
func (s *session) seenBy(who string) *swarm.State {
	if who == s.state.StartedBy && s.state.Agent(who) == nil {
		return s.state
	}
	return s.state.SeenBy(who)
}

// Chosen is where an agent may look next.
type Chosen struct {
	ID    string `json:"id"`
	Swarm string `json:"swarm"`
	Round int    `json:"round"`
	Agent string `json:"agent"`
	swarm.Choice
}

// Choose draws for the actor, who is an agent.
func Choose(ctx context.Context, a *app.App, id string) (*Chosen, error) {
	s, err := load(a, id)
	if err != nil {
		return nil, err
	}
	if err := s.running(); err != nil {
		return nil, err
	}
	agent, err := s.agent(ctx)
	if err != nil {
		return nil, err
	}
	return &Chosen{s.issue, s.state.Swarm, s.state.Round, agent.Name, s.state.SeenBy(agent.Name).Choose(agent, s.now)}, nil
}
