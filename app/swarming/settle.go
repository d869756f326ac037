package swarming

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/fault"
	"stig/live"
	"stig/secret"
	"stig/swarm"
	"stig/trace"
)

// SettleRequest settles the running round of a swarm that the actor started.
type SettleRequest struct {
	ID     string
	DryRun bool
}

// Settle settles the running round: it runs the acceptance criteria on the solutions that
// findings name, and writes the round to the store. An agent that did nothing was missing.
// Where the swarm ends without an answer, a person is asked.
func Settle(ctx context.Context, a *app.App, r SettleRequest) (*Changed, error) {
	s, err := owned(ctx, a, r.ID, "round")
	if err != nil {
		return nil, err
	}
	return s.settle(ctx, nil, r.DryRun)
}

// owned is load for whoever started the swarm that runs.
func owned(ctx context.Context, a *app.App, id, what string) (*session, error) {
	s, err := load(a, id)
	if err == nil {
		err = s.running()
	}
	if err == nil {
		err = s.own(ctx, what)
	}
	return s, err
}

// settle settles the running round. more are solutions that no finding names.
func (s *session) settle(ctx context.Context, more []swarm.Verdict, dryRun bool) (*Changed, error) {
	unlock, err := s.place.Lock(ctx, "swarm-round-"+s.state.Swarm)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }()
	round := s.state.Round
	if err := s.read(); err != nil { // another process may have settled it meanwhile
		return nil, err
	}
	if s.state.Round != round || s.state.Ended != "" {
		return nil, &fault.Error{Code: fault.Conflict, ID: s.issue, Reason: fmt.Sprintf("round %d was settled meanwhile", round), Hint: "type stig swarm status " + s.issue}
	}
	own := s.own0(s.round)
	settle := swarm.Operation{Swarm: s.state.Swarm, Round: round, Agent: s.state.StartedBy, ID: s.ownID(), Kind: swarm.Settle, Missing: s.missing(own)}
	if !dryRun {
		if settle.Verdicts, err = s.judge(ctx, own, more); err != nil {
			return nil, err
		}
	}
	if s.now, err = s.app.Clock(); err != nil { // checks may take long
		return nil, err
	}
	settle.At = s.now.Truncate(time.Second)
	own = append(own, settle)
	state := swarm.Replay(slices.Concat(s.settled, own))
	done, err := s.write(ctx, round, state.String(), append(own, state.Drawn(round, s.now)...), dryRun)
	if err != nil || dryRun {
		return done, err
	}
	if err := s.carry(round, len(own)-1); err != nil {
		return nil, err
	}
	return done, s.ended(ctx, done)
}

// ownID numbers what the starter does after the start.
func (s *session) ownID() string { return s.state.StartedBy + "-" + strconv.Itoa(s.state.Round+1) }

// own0 are the operations of the round that runs.
func (s *session) own0(r live.SwarmRound) (list []swarm.Operation) {
	if r.Swarm != s.state.Swarm || r.Round != s.state.Round {
		return nil
	}
	return operations(r)
}

// missing lists the expected agents that did nothing.
func (s *session) missing(own []swarm.Operation) (names []string) {
	for _, name := range s.state.Expected() {
		if !slices.ContainsFunc(own, func(o swarm.Operation) bool { return o.Agent == name }) {
			names = append(names, name)
		}
	}
	return names
}

// carry begins the next round in live state with what came after the first n operations
// of one that was settled.
func (s *session) carry(round, n int) error {
	return s.place.ChangeSwarmRound(s.issue, func(r *live.SwarmRound) error {
		late := []json.RawMessage{}
		if r.Swarm == s.state.Swarm && r.Round == round {
			for _, raw := range r.Operations[min(n, len(r.Operations)):] {
				var o swarm.Operation
				if json.Unmarshal(raw, &o) != nil {
					continue
				}
				o.Round = round + 1
				if line, err := json.Marshal(o); err == nil {
					late = append(late, line)
				}
			}
		}
		*r = live.SwarmRound{Store: r.Store, Issue: r.Issue, Swarm: s.state.Swarm, Round: round + 1, Operations: late, Refused: r.Refused}
		return nil
	})
}

// write leaves a round on the issue: its findings as traces of their agents, and all of
// its operations as traces of whoever started the swarm.
func (s *session) write(ctx context.Context, round int, summary string, list []swarm.Operation, dryRun bool) (*Changed, error) {
	store, options, err := s.app.ToWrite(ctx, dryRun)
	if err != nil {
		return nil, err
	}
	who, err := s.app.MustActor(ctx)
	if err != nil {
		return nil, err
	}
	comments, err := comments(who, round, summary, list)
	if err != nil {
		return nil, err
	}
	changes, err := store.Edit(ctx, options, func(tx *beads.Tx) error {
		for _, c := range comments {
			if err := tx.AddComment(s.issue, c); err != nil {
				return err
			}
		}
		return s.fits(tx)
	})
	if err != nil {
		return nil, err
	}
	s.settled = slices.Concat(s.settled, list)
	if list[0].Kind == swarm.Start {
		s.settled = list
	}
	s.state = swarm.Replay(s.settled)
	return &Changed{Status: Status{s.issue, s.state}, Changes: changes}, nil
}

// comments are the traces of a round.
func comments(who string, round int, summary string, list []swarm.Operation) (all []beads.Comment, err error) {
	add := func(author string, d trace.Draft) error {
		t, err := d.Trace()
		if err != nil {
			return err
		}
		if secret.Holds(t.Text()) {
			return app.Usage("the round holds what looks like a credential", "type stig swarm end, and begin anew")
		}
		all = append(all, beads.Comment{Author: author, Text: t.Text()})
		return nil
	}
	for _, o := range list {
		if o.Kind != swarm.Find {
			continue
		}
		if err := add(o.Agent, findingOf(o)); err != nil {
			return nil, err
		}
	}
	drafts, err := swarm.Record(list[0].Swarm, round, summary, list)
	for _, d := range drafts {
		if err == nil {
			err = add(who, d)
		}
	}
	return all, err
}

// findingOf is a finding of an agent as an ordinary trace.
func findingOf(o swarm.Operation) trace.Draft {
	content := map[string]any{"summary": o.Idea + ": " + app.FirstLine(o.Details), "direction": o.Direction, "swarm": o.Swarm, "round": strconv.Itoa(o.Round), "seq": o.ID}
	for key, value := range map[string]string{"perspective": o.Perspective, "branch": o.Branch} {
		if value != "" {
			content[key] = value
		}
	}
	if len(o.AgreesWith) > 0 {
		content["agrees_with"] = o.AgreesWith
	}
	body := ""
	if strings.Contains(o.Details, "\n") {
		body = o.Details
	}
	return trace.Draft{Type: trace.Finding, Content: content, Body: body}
}

// mostLine is the longest line in bytes that every bd reads with no-db.
const mostLine = 60 << 10

// fits refuses a line that bd could not read.
func (s *session) fits(tx *beads.Tx) error {
	if !tx.Snapshot().Place().NoDB {
		return nil
	}
	after, err := tx.Record(s.issue)
	if err == nil && len(after.Bytes()) > mostLine {
		err = &fault.Error{Code: fault.Usage, ID: s.issue, Reason: fmt.Sprintf("its line would be %d bytes long, and bd with no-db reads at most %d", len(after.Bytes()), 64<<10),
			Hint: "have fewer agents or rounds, or use a store without no-db"}
	}
	return err
}

// ended does what follows the end of a swarm, if it has come.
func (s *session) ended(ctx context.Context, done *Changed) error {
	if s.state.Ended == "" {
		return nil
	}
	asked, err := s.conclude(ctx)
	done.Asked = asked
	return err
}

// finish does what follows the end of a swarm whose process was killed before that.
func (s *session) finish(ctx context.Context) error {
	if s.state.Ended == "" || s.round.Swarm != s.state.Swarm {
		return nil
	}
	if _, err := s.conclude(ctx); err != nil {
		return err
	}
	return s.read()
}

// conclude asks a person where the swarm found no answer, gives the issue back, and
// forgets the running round. Doing it again changes nothing.
func (s *session) conclude(ctx context.Context) (asked bool, err error) {
	if s.state.Ended.Asks() {
		_, err := s.app.Escalate(ctx, app.EscalateRequest{ID: s.issue, Question: s.question()})
		if err != nil && !fault.Is(err, fault.Conflict) { // it waits already
			return false, err
		}
		asked = true
	}
	if !s.wasClaimed() {
		_, err := s.app.Release(ctx, app.ReleaseRequest{ID: s.issue})
		if err != nil && !fault.Is(err, fault.Conflict) && !errors.Is(err, context.Canceled) {
			return asked, err
		}
	}
	return asked, s.place.ForgetSwarmRound(s.issue)
}

// wasClaimed reports whether the issue was the starter's before the swarm, or is not
// any more.
func (s *session) wasClaimed() bool {
	for _, o := range s.settled {
		if o.Kind == swarm.Start && o.Note == claimedBefore {
			return true
		}
	}
	return !s.held(s.state.StartedBy)
}

// question puts the ideas of a swarm that did not converge to a person.
func (s *session) question() checkpoint.Question {
	c := s.state.Convergence
	var text strings.Builder
	fmt.Fprintf(&text, "Swarm %s ended without an answer: %s after %s, and no idea kept the support of %d of %d active agents. Which idea is to be followed?\n",
		s.state.Swarm, s.state.Ended, app.Counted(s.state.Settled, "round"), c.Needed, c.Active)
	var options []string
	for _, idea := range c.Ideas[:min(len(c.Ideas), mostOptions)] {
		options = append(options, fmt.Sprintf("%s (%d of %d, concentration %.2f)", idea.Idea, len(idea.Supporters), c.Active, idea.Concentration))
		fmt.Fprintf(&text, "\n- %s: supported by %s", idea.Idea, strings.Join(idea.Supporters, ", "))
		for _, f := range slices.Backward(s.state.Findings) {
			if f.Idea == idea.Idea {
				fmt.Fprintf(&text, "; %s: %s", f.Agent, app.FirstLine(f.Details))
				break
			}
		}
	}
	if len(options) == 1 {
		options = append(options, "none of them")
	}
	return checkpoint.Question{Text: text.String() + "\n", Options: options}
}

// mostOptions is how many ideas a person chooses from.
const mostOptions = 6

// EndRequest ends a swarm that the actor started.
type EndRequest struct {
	ID     string
	Note   string
	DryRun bool
}

// End ends a swarm as it is; what was done in the running round is kept.
func End(ctx context.Context, a *app.App, r EndRequest) (*Changed, error) {
	s, err := owned(ctx, a, r.ID, "end")
	if err != nil {
		return nil, err
	}
	own := append(s.own0(s.round), swarm.Operation{
		Swarm: s.state.Swarm, Round: s.state.Round, Agent: s.state.StartedBy, ID: s.ownID(), Kind: swarm.End, At: s.now.Truncate(time.Second),
		Reason: string(swarm.Stopped), Note: app.Folded(r.Note),
	})
	done, err := s.write(ctx, s.state.Round, fmt.Sprintf("swarm %s is stopped in round %d", s.state.Swarm, s.state.Round), own, r.DryRun)
	if err != nil || r.DryRun {
		return done, err
	}
	return done, s.ended(ctx, done)
}
