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
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
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

// judge runs the acceptance criteria of the issue on each solution of a round, in a
// directory that holds its commit and nothing else. What was judged before is not judged
// again. Where nothing in the criteria can be run there is no verdict.
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
		if err != nil {
			return nil, err
		}
		if !asks {
			return nil, nil
		}
		list = append(list, judged)
	}
	return list, nil
}

// try runs the criteria on one solution; asks is false where nothing in them can be run.
func (s *session) try(ctx context.Context, v swarm.Verdict) (_ swarm.Verdict, asks bool, err error) {
	trees, err := s.app.Trees(s.store.Place())
	if err != nil || trees == nil {
		return v, false, err
	}
	if _, err := s.commitOf(ctx, v.Commit); fault.Is(err, fault.Usage) { // its branch was removed, and git collected it
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
	if t.Verdict == nil { // it did not run: that says nothing of the solution
		return v, true, tried
	}
	v.Passed, v.Why = t.Verdict.Passed(), why(t.Verdict)
	v.Changed, err = s.named(ctx, v.Commit, t.Verdict)
	return v, true, err
}

// mostChanged is how many files a verdict names.
const mostChanged = 5

// named lists files that a solution changed and that the checks name: who changes what
// judges it has to be read.
func (s *session) named(ctx context.Context, commit string, v *gate.Verdict) (list []string, err error) {
	result, err := s.app.GitIn(s.app.Dir).Run(ctx, "diff", "--name-only", "-z", "HEAD..."+commit)
	if err != nil || result.Exit != 0 { // nothing in common with HEAD
		return nil, err
	}
	for path := range strings.SplitSeq(string(result.Stdout), "\x00") {
		name := path[strings.LastIndexByte(path, '/')+1:]
		if name == "" || len(path) > mostWhy || len(list) == mostChanged {
			continue
		}
		if slices.ContainsFunc(v.Outcomes(), func(o gate.Outcome) bool { return strings.Contains(o.Text, name) }) {
			list = append(list, visible.Text(path))
		}
	}
	return list, nil
}

// why says which check did not pass; "" where all did.
func why(v *gate.Verdict) string {
	_, why := failing(v)
	if why == "" && !v.Passed() {
		return "not all checks ran"
	}
	return short(why)
}

// mostWhy bounds why a solution did not pass, in bytes.
const mostWhy = 240

// short is a text in one line that is not too long, and without credentials.
func short(text string) string {
	return visible.ClippedBytes(visible.HideSecrets(visible.OneLine(text)), mostWhy)
}
