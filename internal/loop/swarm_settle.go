package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// SettleSwarmRequest is the input of SettleSwarm.
type SettleSwarmRequest struct {
	ID     string
	DryRun bool
}

// SettleSwarm settles the running round of a swarm that the actor started: it runs the
// acceptance criteria on the solutions named in findings and writes the round to the store. An
// agent without an operation counts as missing. If the swarm ends without an answer, a person
// is asked.
func SettleSwarm(ctx context.Context, a *workspace.Run, r SettleSwarmRequest) (*SwarmChanged, error) {
	s, err := owned(ctx, a, r.ID, "round")
	if err != nil {
		return nil, err
	}
	return s.settle(ctx, nil, r.DryRun)
}

// owned is load for a running swarm that the actor started.
func owned(ctx context.Context, a *workspace.Run, id, what string) (*session, error) {
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
func (s *session) settle(ctx context.Context, more []swarm.Verdict, dryRun bool) (*SwarmChanged, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }()
	round, own := s.state.Round, operations(s.round)
	settle := swarm.Operation{Swarm: s.state.Swarm, Round: round, Agent: s.state.StartedBy, ID: s.ownID(), Kind: swarm.Settle, Missing: s.missing(own)}
	var verdicts []swarm.Verdict
	if !dryRun {
		if verdicts, err = s.judge(ctx, own, more); err != nil {
			return nil, err
		}
	}
	if s.now, err = s.app.Clock(); err != nil { // checks may take long
		return nil, err
	}
	settle.At = s.now.Truncate(time.Second)
	own = append(append(own, judged(settle, verdicts)...), settle)
	state := swarm.Replay(slices.Concat(s.settled, own))
	done, err := s.write(ctx, round, state.String(), append(own, state.Drawn(round, s.now)...), dryRun)
	if err != nil || dryRun {
		return done, err
	}
	if err := s.change(func(*clone.SwarmRound) error { return nil }); err != nil {
		return nil, err
	}
	return done, s.ended(ctx, done)
}

// judged returns verdicts as operations of a settlement, one per verdict so that each fits into
// a trace.
func judged(settle swarm.Operation, verdicts []swarm.Verdict) (list []swarm.Operation) {
	for _, v := range verdicts {
		o := settle
		o.Kind, o.Missing, o.Verdict = swarm.Judge, nil, &v
		list = append(list, o)
	}
	return list
}

// ownID returns the id of the starter's operation for the current round.
func (s *session) ownID() string { return s.state.StartedBy + "-" + strconv.Itoa(s.state.Round+1) }

// missing returns the expected agents without an operation.
func (s *session) missing(own []swarm.Operation) (names []string) {
	for _, name := range s.state.Expected() {
		if !slices.ContainsFunc(own, func(o swarm.Operation) bool { return o.Agent == name }) {
			names = append(names, name)
		}
	}
	return names
}

// write writes a round to the issue: its findings as traces of their agents, and all of its
// operations as traces of whoever started the swarm.
func (s *session) write(ctx context.Context, round int, summary string, list []swarm.Operation, dryRun bool) (*SwarmChanged, error) {
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
	most := longestLine - roomToEnd
	if list[0].Kind == swarm.End {
		most = longestLine
	}
	changes, err := store.Edit(ctx, options, func(tx *beads.Tx) error {
		for _, c := range comments {
			if err := tx.AddComment(s.issue, c); err != nil {
				return err
			}
		}
		return s.fits(tx, most)
	})
	if err != nil {
		return nil, err
	}
	s.settled = slices.Concat(s.settled, list)
	if list[0].Kind == swarm.Start {
		s.settled = list
	}
	s.state = swarm.Replay(s.settled)
	return &SwarmChanged{SwarmStatus: SwarmStatus{s.issue, s.state}, Changes: changes}, nil
}

// comments returns the traces of a round; fault.Usage for text that a trace cannot or must not
// contain.
func comments(who string, round int, summary string, list []swarm.Operation) (all []beads.Comment, err error) {
	refused := workspace.Usage("the text contains what looks like a credential", "say what it is for and where it is kept, not what it is")
	add := func(author string, d trace.Draft) error {
		t, err := d.Trace()
		if err != nil {
			return workspace.Usage(err.Error(), "")
		}
		if visible.HoldsSecret(t.Text()) {
			return refused
		}
		all = append(all, beads.Comment{Author: author, Text: t.Text()})
		return nil
	}
	for _, o := range list {
		if slices.ContainsFunc(o.Texts(), visible.HoldsSecret) { // JSON escapes quotes, which hides some
			return nil, refused
		}
		if o.Kind == swarm.Find {
			err = add(o.Agent, findingOf(o))
		} else if o.Verdict != nil && o.Verdict.Passed {
			err = add(who, proofOf(o))
		}
		if err != nil {
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

// mostSaid is the maximum length in bytes of the details in a finding's summary; its body has
// all.
const mostSaid = 600

// findingOf returns a finding of an agent as an ordinary trace.
func findingOf(o swarm.Operation) trace.Draft {
	said, body := visible.ClippedBytes(visible.OneLine(visible.FirstLine(o.Details)), mostSaid), ""
	if said != o.Details {
		body = o.Details
	}
	content := map[string]any{"summary": o.Idea + ": " + said, "direction": o.Direction, "swarm": o.Swarm, "round": strconv.Itoa(o.Round), "seq": o.ID}
	for key, value := range map[string]string{"perspective": o.Perspective, "branch": o.Branch} {
		if value != "" {
			content[key] = value
		}
	}
	if len(o.AgreesWith) > 0 {
		content["agrees_with"] = o.AgreesWith
	}
	return trace.Draft{Type: trace.Finding, Content: content, Body: body}
}

// proofOf returns a passed solution as an ordinary trace, so that the next briefing of the
// issue shows it.
func proofOf(o swarm.Operation) trace.Draft {
	v := o.Verdict
	said := fmt.Sprintf("the solution of %s on branch %s (%.12s) passed the acceptance criteria; read it with git diff HEAD...%.12[3]s, then merge that commit", v.Agent, v.Branch, v.Commit)
	return trace.Draft{Type: trace.Finding, Content: map[string]any{"summary": said, "branch": v.Branch, "commit": v.Commit, "swarm": o.Swarm, "round": strconv.Itoa(o.Round)}}
}

// longestLine is the longest line in bytes that every bd with no-db reads. roomToEnd is the
// part reserved for the end of a swarm.
const (
	longestLine = 64 << 10
	roomToEnd   = 4 << 10
)

// errNoRoom means that an issue's line would be too long for bd.
var errNoRoom = errors.New("too long for bd")

// fits returns errNoRoom if bd could not read the issue's line.
func (s *session) fits(tx *beads.Tx, most int) error {
	if !tx.Snapshot().Place().NoDB {
		return nil
	}
	after, err := tx.Record(s.issue)
	if err == nil && len(after.Bytes()) > most {
		err = &fault.Error{Code: fault.Usage, ID: s.issue, Reason: fmt.Sprintf("its line would be %d bytes long, and bd with no-db reads at most %d", len(after.Bytes()), longestLine),
			Hint: "type stig swarm end " + s.issue + "; this leaves out the running round", Err: errNoRoom}
	}
	return err
}

// ended concludes the swarm if it has ended.
func (s *session) ended(ctx context.Context, done *SwarmChanged) error {
	if s.state.Ended == "" {
		return nil
	}
	asked, err := s.conclude(ctx)
	done.Asked = asked
	return err
}

// finish concludes a swarm whose process was killed after its end.
func (s *session) finish(ctx context.Context) error {
	if s.state.Ended == "" || s.round.Swarm != s.state.Swarm {
		return nil
	}
	if _, err := s.conclude(ctx); err != nil {
		return err
	}
	return s.read()
}

// conclude asks a person if the swarm found no answer, releases the issue, and deletes the
// running round. It is safe to repeat.
func (s *session) conclude(ctx context.Context) (asked bool, err error) {
	before := strings.Contains(s.record.Text(beads.Notes), s.unanswered()) // already asked, maybe answered
	if s.state.Ended.Asks() && !isClosed(s.record) && !before {
		_, err := service.Escalate(ctx, s.app, service.EscalateRequest{ID: s.issue, Question: s.question()})
		switch {
		case fault.Is(err, fault.Conflict):
			s.app.Warn("%s: another question is waiting, so the swarm's question was not asked; stig swarm report %s shows its ideas", s.issue, s.issue)
		case err != nil:
			return false, err
		default:
			asked = true
		}
	}
	if !s.wasClaimed() {
		_, err := service.Release(ctx, s.app, service.ReleaseRequest{ID: s.issue})
		if err != nil && !fault.Is(err, fault.Conflict) && !errors.Is(err, context.Canceled) {
			return asked, err
		}
	}
	return asked, s.place.ForgetSwarmRound(s.issue)
}

// wasClaimed reports whether the starter had claimed the issue before the swarm, or no longer
// has it.
func (s *session) wasClaimed() bool {
	for _, o := range s.settled {
		if o.Kind == swarm.Start && o.Note == claimedBefore {
			return true
		}
	}
	return !s.held(s.state.StartedBy)
}

// unanswered is the start of the swarm's question to a person.
func (s *session) unanswered() string {
	return fmt.Sprintf("Swarm %s ended without an answer", s.state.Swarm)
}

// question asks a person about the ideas of a swarm that did not converge.
func (s *session) question() checkpoint.Question {
	c := s.state.Convergence
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s after %s, and ", s.unanswered(), s.state.Ended, visible.Counted(s.state.Settled, "round"))
	switch {
	case len(c.Ideas) == 0:
		text.WriteString("no agent found an idea. What should be done?\n")
	case c.Quorum:
		fmt.Fprintf(&text, "%s has a quorum, but the ideas were not stable for %d rounds. Which idea should be followed?\n", c.Ideas[0].Idea, s.state.Config.Beta)
	default:
		fmt.Fprintf(&text, "no idea has the support of %d of %d active agents. Which idea should be followed?\n", c.Needed, c.Active)
	}
	var options []string
	for _, idea := range c.Ideas[:min(len(c.Ideas), mostOptions)] {
		options = append(options, fmt.Sprintf("%s (%d of %d, concentration %.2f)", idea.Idea, len(idea.Supporters), c.Active, idea.Concentration))
		fmt.Fprintf(&text, "\n- %s: supported by %s", idea.Idea, cmp.Or(strings.Join(idea.Supporters, ", "), "nobody"))
		for _, f := range slices.Backward(s.state.Findings) {
			if f.Idea == idea.Idea {
				fmt.Fprintf(&text, "; %s: %s", f.Agent, visible.FirstLine(f.Details))
				break
			}
		}
	}
	if len(options) == 1 {
		options = append(options, "none of them")
	}
	return checkpoint.Question{Text: text.String() + "\n", Options: options}
}

// mostOptions is the maximum number of ideas to choose from.
const mostOptions = 6

// EndSwarmRequest is the input of EndSwarm.
type EndSwarmRequest struct {
	ID     string
	Note   string
	DryRun bool
}

// EndSwarm ends a swarm that the actor started. The operations of the running round are kept.
func EndSwarm(ctx context.Context, a *workspace.Run, r EndSwarmRequest) (*SwarmChanged, error) {
	s, err := owned(ctx, a, r.ID, "end")
	if err != nil {
		return nil, err
	}
	return s.stop(ctx, r.Note, r.DryRun)
}

// stop ends the swarm.
func (s *session) stop(ctx context.Context, note string, dryRun bool) (*SwarmChanged, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }()
	own := append(operations(s.round), swarm.Operation{
		Swarm: s.state.Swarm, Round: s.state.Round, Agent: s.state.StartedBy, ID: s.ownID(), Kind: swarm.End, At: s.now.Truncate(time.Second),
		Reason: string(swarm.Stopped), Note: visible.OneLine(note),
	})
	summary := fmt.Sprintf("swarm %s was stopped in round %d", s.state.Swarm, s.state.Round)
	done, err := s.write(ctx, s.state.Round, summary, own, dryRun)
	if errors.Is(err, errNoRoom) {
		s.app.Warn("%s: the operations of round %d were left out: the line would be too long for bd with no-db", s.issue, s.state.Round)
		done, err = s.write(ctx, s.state.Round, summary, own[len(own)-1:], dryRun)
	}
	if err != nil || dryRun {
		return done, err
	}
	return done, s.ended(ctx, done)
}
