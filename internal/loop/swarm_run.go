package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/checkpoint"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/workspace"
)

// SwarmRequest is the input of RunSwarm.
type SwarmRequest struct {
	StartSwarmRequest
	Command         []string
	RoundTimeout    time.Duration // of an agent in a round; 0 for the configured one
	ResponseTimeout time.Duration // until one reminder; 0 for half of a given RoundTimeout
	Grace           time.Duration // for a command to end; 0 for 10 s
	Tell            func(string)
}

// runner is the state of one RunSwarm.
type runner struct {
	SwarmRequest
	app   *workspace.Run
	clock func() time.Time
	name  string // who runs it
	trees *git.WorktreeOptions
	root  string

	asked   bool // a person was asked when it ended
	telling sync.Mutex
	mu      sync.Mutex // agents of a round act concurrently
	*session
}

// RunSwarm runs a swarm until it ends, from its start or from where a killed RunSwarm left it:
// the command once for each agent and round, all agents of a round concurrently. If ctx ends,
// it returns after the round. The next RunSwarm resumes at the first round that is not settled.
func RunSwarm(ctx context.Context, a *workspace.Run, r SwarmRequest) (*SwarmReported, error) {
	x, err := newRunner(ctx, a, r)
	if err != nil {
		return nil, err
	}
	unlock, err := x.place.LockLoop("\x00swarm " + x.ID)
	if err != nil {
		return nil, &fault.Error{Code: fault.Conflict, ID: x.ID, Reason: "another process is running its swarm in this clone", Hint: "type stig swarm status " + x.ID, Err: err}
	}
	defer func() { _ = unlock() }()
	if err := workspace.FreshenTrees(ctx, x.trees, x.Tell); err != nil {
		return nil, err
	}
	if err := x.begin(ctx); err != nil {
		return nil, err
	}
	for x.state.Ended == "" && ctx.Err() == nil {
		if err := x.nextRound(ctx); err != nil {
			return nil, err
		}
	}
	if x.state.Ended == "" {
		x.Tell(fmt.Sprintf("ended after round %d; run the same command to continue", x.state.Settled))
		return nil, context.Cause(ctx)
	}
	for _, tree := range x.agentTrees(context.WithoutCancel(ctx)) {
		_ = tree.Remove(context.WithoutCancel(ctx)) // one with work that did not land stays, with its branch
	}
	return &SwarmReported{ID: x.issue, Report: swarm.NewReport(x.state, x.now), Asked: x.asked || x.state.Ended.Asks()}, nil
}

// PlanSwarm returns what RunSwarm would begin with: a new swarm, or the running one unchanged.
// It returns the errors of RunSwarm, except that for a swarm run by another process, and writes
// nothing.
func PlanSwarm(ctx context.Context, a *workspace.Run, r SwarmRequest) (*SwarmChanged, error) {
	x, err := newRunner(ctx, a, r)
	if err != nil {
		return nil, err
	}
	if x.running() != nil {
		r.DryRun = true
		return StartSwarm(ctx, a, r.StartSwarmRequest)
	}
	return &SwarmChanged{SwarmStatus: SwarmStatus{x.issue, x.state}}, x.own(ctx, "run")
}

// newRunner determines all that a run needs. It writes nothing.
func newRunner(ctx context.Context, a *workspace.Run, r SwarmRequest) (*runner, error) {
	x := &runner{SwarmRequest: r}
	x.Tell = func(text string) {
		if r.Tell != nil {
			x.telling.Lock()
			defer x.telling.Unlock()
			r.Tell(text)
		}
	}
	var err error
	if x.name, err = a.MustActor(ctx); err != nil {
		return nil, err
	}
	if len(x.Command) == 0 || x.Command[0] == "" {
		return nil, workspace.Usage("no command to run", "give one after --, such as stig swarm run ID -- ./explorer.sh")
	}
	if x.Command, err = programOf(a, x.Command, ""); err != nil {
		return nil, err
	}
	x.app = a.Lasting(ctx, "swarm", x.name)
	if x.clock, err = clockOf(x.app); err != nil {
		return nil, err
	}
	if x.session, err = load(x.app, r.ID); err != nil {
		return nil, err
	}
	x.app.Store = filepath.Join(x.place.Worktree, filepath.FromSlash(x.place.Store))
	if err := x.times(); err != nil {
		return nil, err
	}
	if x.trees, err = x.app.Trees(x.store.Place()); err != nil {
		return nil, err
	}
	x.root = filepath.Dir(storeDir(x.store))
	if x.trees != nil {
		err = git.CheckWorktrees(ctx, *x.trees)
	} else {
		x.Tell("without git: all agents work in place and no solution is checked")
	}
	if err != nil {
		return nil, err
	}
	t, err := service.GateRunOf(ctx, x.app.Fresh(ctx, "swarm"), x.issue)
	if err != nil || !t.Asks() {
		return x, err
	}
	return x, trustedFor(ctx, x.app, t.Code, x.issue, "no solution would be checked", "")
}

// times sets the limits of a round that were not given from the configuration.
func (x *runner) times() error {
	round, response := 2*time.Minute, time.Minute
	if given := x.app.Config.Swarm; given != nil {
		var err error
		if round, err = checkpoint.ParseSpan(given.RoundTimeout); err != nil {
			return err
		}
		if response, err = checkpoint.ParseSpan(given.ResponseTimeout); err != nil {
			return err
		}
	}
	if x.RoundTimeout > 0 {
		response = x.RoundTimeout / 2
	}
	x.RoundTimeout = cmp.Or(x.RoundTimeout, round)
	x.ResponseTimeout = min(cmp.Or(x.ResponseTimeout, response), x.RoundTimeout)
	x.Grace = cmp.Or(x.Grace, 10*time.Second)
	return nil
}

// begin starts the swarm, or resumes the one that was not completed.
func (x *runner) begin(ctx context.Context) error {
	if err := x.inherit(); err != nil {
		return err
	}
	switch {
	case x.state.Ended != "" && x.state.Ended != swarm.Stopped && x.found == x.state.Swarm: // killed before the steps after the end
		x.Tell(fmt.Sprintf("swarm %s ended: %s", x.state.Swarm, x.state.Ended))
		return x.finish(ctx)
	case x.state.Ended != "" || x.state.Swarm == "":
		done, err := StartSwarm(ctx, x.app, x.StartSwarmRequest)
		if err != nil {
			return err
		}
		x.Tell(fmt.Sprintf("swarm %s on %s: %s", done.Swarm, done.ID, names(done.State)))
	default:
		if err := x.own(ctx, "run"); err != nil {
			return err
		}
		x.Tell(fmt.Sprintf("swarm %s resumes at round %d with its original settings", x.state.Swarm, x.state.Round))
		if _, err := service.Claim(ctx, x.app, service.ClaimRequest{ID: x.issue}); err != nil { // it may have been killed before
			return err
		}
	}
	if err := x.read(); err != nil {
		return err
	}
	return x.dropUnfinished()
}

// inherit ends the programs and open records of a killed run.
func (x *runner) inherit() error {
	runs, _, err := x.place.Runs(x.now.Add(-Window))
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Issue != x.issue || r.Task != clone.SwarmTask || r.Outcome != "" {
			continue
		}
		if err := endKilled(x.app, x.place, r, x.Grace, x.now, "the run of its swarm was killed"); err != nil {
			return err
		}
	}
	return nil
}

// dropUnfinished removes the operations of agents that a run started in the round and that did
// not finish it. They start the round again.
func (x *runner) dropUnfinished() error {
	if len(x.round.Begun) == 0 {
		return nil
	}
	err := x.change(func(r *clone.SwarmRound) error {
		kept := []json.RawMessage{}
		for _, raw := range r.Operations {
			var o swarm.Operation
			if json.Unmarshal(raw, &o) != nil || !slices.Contains(r.Begun, o.Agent) || slices.Contains(r.Done, o.Agent) {
				kept = append(kept, raw)
			}
		}
		r.Operations = kept
		return nil
	})
	if err != nil {
		return err
	}
	return x.read()
}

// nextRound runs the agents of a round concurrently and settles it. An interrupt takes effect
// only after the round.
func (x *runner) nextRound(ctx context.Context) error {
	round := x.state.Round
	told := context.AfterFunc(ctx, func() { x.Tell(fmt.Sprintf("interrupted; ending once round %d is settled", round)) })
	ctx = context.WithoutCancel(ctx)
	err := x.exploreAll(ctx)
	told()
	if err != nil {
		return err
	}
	s, err := load(x.app.Fresh(ctx, "swarm"), x.issue)
	if err != nil {
		return err
	}
	if s.state.Ended != "" || s.state.Round != round { // somebody ended or settled it meanwhile
		x.session = s
		return nil
	}
	if isClosed(s.record) {
		x.Tell(x.issue + " was closed meanwhile")
		_, err := s.stop(ctx, "the issue was closed", false)
		x.session = s
		return err
	}
	done, err := s.settle(ctx, x.solutions(ctx, s), false)
	if err != nil {
		return err
	}
	x.Tell(done.String())
	for _, w := range done.Warnings {
		x.Tell("warning: " + w.String())
	}
	if done.Landing != "" {
		x.Tell(done.Landing)
	}
	x.session.state, x.asked = s.state, done.Asked
	if s.state.Ended != "" {
		return nil
	}
	return x.read()
}

// exploreAll runs the agents that have not finished the round. The error of an agent that
// cannot start is only a warning if another can.
func (x *runner) exploreAll(ctx context.Context) error {
	var explorers []*explorer
	var kept error // errors of agents that cannot take part
	for _, name := range x.state.Expected() {
		if slices.Contains(x.round.Done, name) {
			continue
		}
		e, err := x.explorer(ctx, name)
		if err != nil { // the others continue without it
			why := workspace.Classify(err)
			x.app.Warn("%s: %s takes no part in round %d: %s", x.issue, name, x.state.Round, strings.Trim(why.Message+"; "+why.Hint, "; "))
			kept = errors.Join(kept, err)
			continue
		}
		explorers = append(explorers, e)
	}
	if len(explorers)+len(x.round.Done) == 0 {
		return kept
	}
	err := x.change(func(r *clone.SwarmRound) error {
		for _, e := range explorers {
			if !slices.Contains(r.Begun, e.agent) {
				r.Begun = append(r.Begun, e.agent)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	errs := make([]error, len(explorers))
	var all sync.WaitGroup
	for i, e := range explorers {
		all.Go(func() { errs[i] = e.explore(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// solutions returns the agents' branches with work of their own. The idea is that of the
// agent's newest finding.
func (x *runner) solutions(ctx context.Context, s *session) (list []swarm.Verdict) {
	for agent, tree := range x.agentTrees(ctx) {
		ahead, err := tree.Ahead(ctx)
		if err != nil {
			x.app.Warn("%s: %v", x.issue, err)
		}
		if !ahead {
			continue
		}
		v := swarm.Verdict{Agent: agent, Branch: tree.Branch, Commit: tree.Head}
		for _, f := range s.state.Findings {
			if f.Agent == agent {
				v.Idea = f.Idea
			}
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b swarm.Verdict) int { return strings.Compare(a.Agent, b.Agent) })
	return list
}

// treeName returns the name of an agent's work tree. Its branch is stig/ followed by that name.
func treeName(issue, agent string) string { return issue + "-" + agent }

// agentTrees returns the work trees of the agents by name.
func (x *runner) agentTrees(ctx context.Context) map[string]*git.Worktree {
	own := map[string]*git.Worktree{}
	if x.trees == nil {
		return own
	}
	all, err := git.Worktrees(ctx, *x.trees)
	if err != nil {
		x.app.Warn("%s: %v", x.issue, err)
	}
	for _, tree := range all {
		for _, a := range x.state.Agents {
			if tree.Issue == treeName(x.issue, a.Name) {
				own[a.Name] = tree
			}
		}
	}
	return own
}
