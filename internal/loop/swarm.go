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

// session is a snapshot of the newest swarm of an issue.
type session struct {
	app     *workspace.Run
	store   beads.Store
	place   clone.Place
	issue   string
	record  *beads.Record
	now     time.Time
	before  int               // number of swarms on the issue
	settled []swarm.Operation // those in the store
	round   clone.SwarmRound  // the running one
	found   string            // the swarm of the round in the live state
	state   *swarm.State      // after all of them
}

// load reads the newest swarm of an issue. The id must be complete: programs call this and must
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

// read reads the running round first and the store second. A settlement writes the store first,
// so if it happens in between, the store has the round (see forward). In the other order the
// operations might be in neither.
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
		s.app.Warn("%s: unreadable swarm operation: %v", s.issue, flaw)
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

// forward replaces a round left behind by another swarm or a killed settlement with the current
// one. Its operations that are not in the store count in the current round.
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

// change edits the running round; fault.Conflict if another round is running by now.
func (s *session) change(edit func(*clone.SwarmRound) error) error {
	return s.place.ChangeSwarmRound(s.issue, func(r *clone.SwarmRound) error {
		if r.Swarm != "" && r.Swarm != s.state.Swarm && r.Swarm != s.found {
			return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: "another swarm is running", Hint: "type stig swarm status " + s.issue}
		}
		s.forward(r)
		if r.Round != s.state.Round {
			return s.wasSettled(s.state.Round, r.Round)
		}
		return edit(r)
	})
}

func (s *session) wasSettled(round, now int) error {
	return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("round %d is settled; round %d is running", round, now),
		Hint: "type stig swarm status " + s.issue}
}

// lock takes the lock for settling or ending the swarm, and reads its current state.
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

// replay returns the state with the operations of an unsettled round.
func (s *session) replay(r clone.SwarmRound) *swarm.State {
	return swarm.Replay(append(append([]swarm.Operation{}, s.settled...), operations(r)...))
}

// operations returns the operations of a running round.
func operations(r clone.SwarmRound) (list []swarm.Operation) {
	for _, raw := range r.Operations {
		var o swarm.Operation
		if json.Unmarshal(raw, &o) == nil { // written by stig
			list = append(list, o)
		}
	}
	return list
}

// running returns an error (fault.Conflict) if no swarm is running on the issue.
func (s *session) running() error {
	hint := "type stig swarm start " + s.issue
	switch {
	case s.state.Swarm == "":
		return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: "no swarm is running", Hint: hint}
	case s.state.Ended != "":
		return &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("swarm %s ended: %s", s.state.Swarm, s.state.Ended),
			Hint: "type stig swarm report " + s.issue}
	}
	return nil
}

// own returns an error (fault.Usage) unless the actor started the swarm.
func (s *session) own(ctx context.Context, what string) error {
	who, err := s.app.MustActor(ctx)
	if err != nil {
		return err
	}
	if !strings.EqualFold(swarm.Canonical(who), swarm.Canonical(s.state.StartedBy)) {
		return &fault.Error{Code: fault.Usage, ID: s.issue, Reason: fmt.Sprintf("%s: started by %s, not by %s", what, s.state.StartedBy, who),
			Hint: "give --actor " + s.state.StartedBy + " if that is you"}
	}
	s.app.Actor = s.state.StartedBy // as the record has the name
	return nil
}

// loadAgent is load for an agent of a running swarm; fault.Usage for anybody else.
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
		return nil, nil, &fault.Error{Code: fault.Usage, ID: s.issue, Reason: who + " is not an agent of the swarm; its agents are " + names(s.state),
			Hint: "give --actor with one of their names"}
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

// SwarmStatus is the state of a swarm as far as the actor may see it.
type SwarmStatus struct {
	ID string `json:"id"`
	*swarm.State
}

// ShowSwarm returns the state of the newest swarm on an issue. Before the first round is
// settled, an agent sees only its own operations.
func ShowSwarm(ctx context.Context, a *workspace.Run, id string) (*SwarmStatus, error) {
	s, seen, err := loadSeen(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return &SwarmStatus{s.issue, seen}, nil
}

// loadSeen is load, with the state that the actor may see. Whoever started the swarm sees all.
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

// SwarmReportRequest is the input of ReportSwarm.
type SwarmReportRequest struct{ ID string }

// SwarmReported is the report of the newest swarm on an issue.
type SwarmReported struct {
	ID string `json:"id"`
	*swarm.Report

	Asked bool `json:"-"` // a person was asked
}

// ReportSwarm reports on the newest swarm of an issue.
func ReportSwarm(ctx context.Context, a *workspace.Run, r SwarmReportRequest) (*SwarmReported, error) {
	s, seen, err := loadSeen(ctx, a, r.ID)
	if err != nil {
		return nil, err
	}
	return &SwarmReported{ID: s.issue, Report: swarm.NewReport(seen, s.now)}, nil
}

// SwarmChosen is where an agent may look next.
type SwarmChosen struct {
	ID    string `json:"id"`
	Swarm string `json:"swarm"`
	Round int    `json:"round"`
	Agent string `json:"agent"`
	swarm.Choice
}

// ChooseSwarm draws a direction for the actor, who must be an agent.
func ChooseSwarm(ctx context.Context, a *workspace.Run, id string) (*SwarmChosen, error) {
	s, agent, err := loadAgent(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return &SwarmChosen{s.issue, s.state.Swarm, s.state.Round, agent.Name, s.state.SeenBy(agent.Name).Choose(agent, s.now)}, nil
}
