package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/swarm"
	"stig/internal/trace"
	"stig/internal/workspace"
)

// session is one look at the newest swarm of an issue.
type session struct {
	app     *workspace.Run
	store   beads.Store
	place   clone.Place
	issue   string
	record  *beads.Record
	now     time.Time
	before  int               // swarms on the issue
	settled []swarm.Operation // those in the store
	round   clone.SwarmRound  // the running one
	found   string            // the swarm that live state had a round of
	state   *swarm.State      // after all of them
}

// load reads the newest swarm of an issue. Ids are exact: programs call this, and must
// not guess.
func load(a *workspace.Run, id string) (*session, error) {
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

// read reads the running round and the store, in this order: a settlement writes the store
// first, so that a round that it has settled since is known from that (forward). The other
// way round what the agents did would be in neither.
func (s *session) read() error {
	round, trouble := s.place.SwarmRound(s.issue)
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
		return beads.NotFound(s.issue, issue.ID)
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
	if s.round = round; trouble != nil {
		s.app.WarnOfShared(trouble)
	}
	s.found, s.state = s.round.Swarm, swarm.Replay(s.settled)
	if s.state.Swarm != "" && s.state.Ended == "" {
		s.forward(&s.round)
		s.state = s.replay(s.round)
	}
	return nil
}

// forward makes a running round that was left behind, by another swarm or by a settlement
// that was killed, that of the state: what the store does not hold of it counts now.
func (s *session) forward(r *clone.SwarmRound) {
	if r.Swarm == s.state.Swarm && r.Round >= s.state.Round {
		return
	}
	next := clone.SwarmRound{Store: r.Store, Issue: r.Issue, Swarm: s.state.Swarm, Round: s.state.Round}
	if r.Swarm == s.state.Swarm {
		next.Refused = r.Refused
		known := map[string]bool{}
		for _, o := range s.settled {
			if line, err := json.Marshal(o); err == nil && o.Round == r.Round {
				known[string(line)] = true
			}
		}
		for _, o := range operations(*r) {
			line, err := json.Marshal(o)
			if o.Round = s.state.Round; err == nil && !known[string(line)] {
				line, _ = json.Marshal(o)
				next.Operations = append(next.Operations, line)
			}
		}
	}
	*r = next
}

// change edits the running round; fault.Conflict where another one runs by now.
func (s *session) change(edit func(*clone.SwarmRound) error) error {
	return s.place.ChangeSwarmRound(s.issue, func(r *clone.SwarmRound) error {
		if r.Swarm != "" && r.Swarm != s.state.Swarm && r.Swarm != s.found {
			return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: "another swarm runs", Hint: "type stig swarm status " + s.issue}
		}
		s.forward(r)
		if r.Round != s.state.Round {
			return s.wasSettled(s.state.Round, r.Round)
		}
		return edit(r)
	})
}

func (s *session) wasSettled(round, now int) error {
	return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("round %d is settled; round %d runs", round, now),
		Hint: "type stig swarm status " + s.issue}
}

// lock has this process alone settle or end the swarm, as it is by then.
func (s *session) lock(ctx context.Context) (unlock func() error, err error) {
	if unlock, err = s.place.LockSwarm(ctx, s.issue); err != nil {
		return nil, err
	}
	round := s.state.Round
	if err = s.read(); err == nil {
		err = s.running()
	}
	if err == nil && s.state.Round != round {
		err = s.wasSettled(round, s.state.Round)
	}
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	return unlock, nil
}

// replay gives the state with the operations of a round that is not settled.
func (s *session) replay(r clone.SwarmRound) *swarm.State {
	return swarm.Replay(append(append([]swarm.Operation{}, s.settled...), operations(r)...))
}

// operations reads those of a running round.
func operations(r clone.SwarmRound) (list []swarm.Operation) {
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
			Hint: "type stig swarm report " + s.issue}
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

// loadAgent is load for an agent of a swarm that runs; fault.Usage for somebody else.
func loadAgent(ctx context.Context, a *workspace.Run, id string) (*session, *swarm.Agent, error) {
	s, err := load(a, id)
	if err == nil {
		err = s.running()
	}
	if err != nil {
		return nil, nil, err
	}
	who, err := a.MustActor(ctx)
	if err != nil {
		return nil, nil, err
	}
	agent := s.state.Agent(who)
	if agent == nil {
		return nil, nil, &fault.Error{Code: fault.Usage, ID: s.issue, Reason: who + " is no agent of the swarm; they are " + names(s.state),
			Hint: "give --actor with the name of one"}
	}
	return s, agent, nil
}

func names(s *swarm.State) string {
	var list []string
	for _, a := range s.Agents {
		list = append(list, a.Name)
	}
	return strings.Join(list, ", ")
}

// SwarmStatus is what a swarm knows, as far as whoever asks may see it.
type SwarmStatus struct {
	ID string `json:"id"`
	*swarm.State
}

// ShowSwarm gives the state of the newest swarm on an issue. Before the first round is settled
// an agent sees only what it did itself.
func ShowSwarm(ctx context.Context, a *workspace.Run, id string) (*SwarmStatus, error) {
	s, seen, err := loadSeen(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return &SwarmStatus{s.issue, seen}, nil
}

// loadSeen is load, with the state as the actor may see it: whoever started the swarm sees all.
func loadSeen(ctx context.Context, a *workspace.Run, id string) (*session, *swarm.State, error) {
	s, err := load(a, id)
	if err == nil && s.state.Swarm == "" {
		err = s.running()
	}
	if err != nil {
		return nil, nil, err
	}
	who, err := a.ActorName(ctx)
	if err != nil || who == s.state.StartedBy && s.state.Agent(who) == nil {
		return s, s.state, err
	}
	return s, s.state.SeenBy(who), nil
}

// SwarmChosen is where an agent may look next.
type SwarmChosen struct {
	ID    string `json:"id"`
	Swarm string `json:"swarm"`
	Round int    `json:"round"`
	Agent string `json:"agent"`
	swarm.Choice
}

// ChooseSwarm draws for the actor, who is an agent.
func ChooseSwarm(ctx context.Context, a *workspace.Run, id string) (*SwarmChosen, error) {
	s, agent, err := loadAgent(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return &SwarmChosen{s.issue, s.state.Swarm, s.state.Round, agent.Name, s.state.SeenBy(agent.Name).Choose(agent, s.now)}, nil
}
