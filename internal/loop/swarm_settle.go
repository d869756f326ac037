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
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// SettleSwarmRequest is the input of SettleSwarm.
type SettleSwarmRequest struct {
	ID     string
	DryRun bool
}

// SettleSwarm settles the running round of a swarm that the actor started: it runs the
// acceptance criteria on the solutions named in findings and writes the round to the store. An
// agent without an operation counts as missing. If the swarm ends, its conclusion is written to
// the notes, a proved solution lands, and without an answer a person is asked.
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
	settle := swarm.Operation{Swarm: s.state.Swarm, Round: round, Agent: s.state.StartedBy, ID: s.ownID(), Kind: swarm.Settle}
	for _, name := range s.state.Expected() {
		if !slices.ContainsFunc(own, func(o swarm.Operation) bool { return o.Agent == name }) {
			settle.Missing = append(settle.Missing, name)
		}
	}
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
	return done, s.conclude(ctx, done)
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
	done, err := s.write(ctx, s.state.Round, fmt.Sprintf("swarm %s was stopped in round %d", s.state.Swarm, s.state.Round), own, dryRun)
	if err != nil || dryRun {
		return done, err
	}
	if note != "" {
		done.Landing = fmt.Sprintf("%s ended it: %s", s.state.StartedBy, visible.OneLine(note))
	}
	return done, s.conclude(ctx, done)
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
	changes, err := store.Edit(ctx, options, func(tx *beads.Tx) error {
		for _, c := range comments {
			if err := tx.AddComment(s.issue, c); err != nil {
				return err
			}
		}
		return nil
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
			if err := add(o.Agent, findingOf(o)); err != nil {
				return nil, err
			}
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

// finish concludes a swarm whose process was killed after its end.
func (s *session) finish(ctx context.Context) error {
	if s.state.Ended == "" || s.round.Swarm != s.state.Swarm {
		return nil
	}
	if err := s.conclude(ctx, &SwarmChanged{}); err != nil {
		return err
	}
	return s.read()
}

// conclude ends a swarm in an answer: it asks a person if the swarm has none, releases the
// issue, lands a proved solution, writes the conclusion to the notes, and deletes the running
// round. It does nothing while the swarm runs, and is safe to repeat.
func (s *session) conclude(ctx context.Context, done *SwarmChanged) (err error) {
	if s.state.Ended == "" {
		return nil
	}
	if s.state.Ended.Asks() && !isClosed(s.record) {
		if done.Asked, err = s.ask(ctx); err != nil {
			return err
		}
	}
	_, err = service.Release(ctx, s.app, service.ReleaseRequest{ID: s.issue})
	if err != nil && !fault.Is(err, fault.Conflict) && !errors.Is(err, context.Canceled) {
		return err
	}
	report := swarm.NewReport(s.state, s.now)
	switch {
	case report.Proof != nil && s.state.Ended == swarm.Proved:
		done.Landing, done.Asked = s.landProof(ctx, *report.Proof)
	case s.state.Ended.Asks():
		done.Landing = fmt.Sprintf("A person is asked which idea to follow; stig show %s has the question and the answer.", s.issue)
	}
	s.keepConclusion(ctx, strings.TrimSpace(report.Answer()+"\n\n"+done.Landing))
	return s.place.ForgetSwarmRound(s.issue)
}

// keepConclusion writes the conclusion as a section of its own. If the notes cannot be edited,
// it warns: briefings then show the conclusion from the record.
func (s *session) keepConclusion(ctx context.Context, text string) {
	store, options, err := s.app.ToWrite(ctx, false)
	if err == nil {
		options.Notes = notes.Permit{Change: []string{signals.SwarmSection}}.Check
		_, err = store.Edit(ctx, options, func(tx *beads.Tx) error {
			record, err := tx.Record(s.issue)
			if err != nil {
				return err
			}
			doc, err := signals.SetConclusion(notes.Parse(record.Text(beads.Notes)), signals.Conclusion{Date: signals.Day(s.now), Text: text})
			if err != nil {
				return err
			}
			return tx.Set(s.issue, beads.Set{Key: beads.Notes, Text: doc.Text()})
		})
	}
	if err != nil {
		s.app.Warn("%s: the conclusion of the swarm was not written to the notes: %v", s.issue, err)
	}
}

// landProof lands a proved solution as stig work lands work: merged with what landed before,
// judged by the gate again, closed. It returns a sentence on the result, and whether a person
// was asked.
func (s *session) landProof(ctx context.Context, proof swarm.Verdict) (said string, asked bool) {
	merge := []string{"git", "merge", "-q", "--no-edit", proof.Commit}
	if isClosed(s.record) {
		return fmt.Sprintf("The issue is closed: stig land %s shows what is to land of it.", s.issue), false
	}
	a := s.app.Fresh(ctx, "swarm")
	a.Actor = proof.Agent
	tell := func(e Event) {
		if e.Event == EventSaid { // such as what it waits for
			s.app.Note("%s: %s", s.issue, e.Text)
		}
	}
	done, err := Work(ctx, a, Request{Filter: []string{s.issue}, Command: merge, Once: true, Cap: 4 * time.Hour, Attempts: 1, Tell: tell})
	why := ""
	switch {
	case err != nil:
		why = workspace.Classify(err).Message
	case len(done.Summary.Closed) > 0:
		return fmt.Sprintf("It is landed on %s and the issue is closed: stig land %s brings it to your branch.", git.WorkBranch, s.issue), false
	case len(done.Summary.Waiting) > 0:
		return fmt.Sprintf("It is on branch %s, not landed: a person is asked, see stig show %s.", proof.Branch, s.issue), true
	case len(done.Runs) > 0:
		why = cmp.Or(done.Runs[0].Why, done.Runs[0].Outcome)
	default:
		why = done.Reason
	}
	return fmt.Sprintf("It is on branch %s, not landed: %s. To try again, type stig work %s -- git merge --no-edit %.12s.", proof.Branch, visible.OneLine(why), s.issue, proof.Commit), false
}

// ask asks a person about the ideas of a swarm without an answer, once.
func (s *session) ask(ctx context.Context) (asked bool, err error) {
	if strings.Contains(s.record.Text(beads.Notes), s.unanswered()) { // already asked, maybe answered
		return false, nil
	}
	_, err = service.Escalate(ctx, s.app, service.EscalateRequest{ID: s.issue, Question: s.question()})
	if fault.Is(err, fault.Conflict) {
		s.app.Warn("%s: another question is waiting, so the swarm's question was not asked; stig swarm report %s shows its ideas", s.issue, s.issue)
		return false, nil
	}
	return err == nil, err
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
		if f := s.state.Newest(idea.Idea); f != nil {
			fmt.Fprintf(&text, "; %s: %s", f.Agent, visible.FirstLine(f.Details))
		}
	}
	if len(options) == 1 {
		options = append(options, "none of them")
	}
	return checkpoint.Question{Text: text.String() + "\n", Options: options}
}

// mostOptions is the maximum number of ideas to choose from.
const mostOptions = 6
