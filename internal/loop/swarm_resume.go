package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// alone takes the lock for running the swarm of the issue, among all processes that use the
// store.
func (x *runner) alone() (release func(), err error) {
	conflict := func(where string, err error) error {
		return &fault.Error{Code: fault.Conflict, ID: x.ID, Reason: "another process is running its swarm " + where, Hint: "type stig swarm status " + x.ID, Err: err}
	}
	unlock, err := x.place.LockLoop("\x00swarm " + x.ID)
	if err != nil {
		return nil, conflict("in this clone", err)
	}
	self, _ := process.Self()
	other, err := x.place.SignSwarm(x.ID, self.ID)
	if err == nil && other != "" {
		err = conflict("on "+other+", or ran it less than 3 minutes ago", nil)
	}
	if err != nil {
		return nil, errors.Join(err, unlock())
	}
	done := make(chan struct{})
	var signs sync.WaitGroup
	signs.Go(func() {
		for again := time.NewTicker(x.place.SignEvery()); ; {
			select {
			case <-again.C:
				_, _ = x.place.SignSwarm(x.ID, self.ID) // the next one may reach the server
			case <-done:
				again.Stop()
				return
			}
		}
	})
	return func() {
		close(done)
		signs.Wait()
		_, _ = x.place.UnsignSwarm(x.ID, self.ID), unlock()
	}, nil
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
		if !x.held(x.name) { // killed before it was claimed
			if _, err := service.Claim(ctx, x.app, service.ClaimRequest{ID: x.issue}); err != nil {
				return err
			}
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

// SwarmReportRequest is the input of ReportSwarm.
type SwarmReportRequest struct {
	ID         string
	Checkpoint bool // also write it as the issue's state estimate
	DryRun     bool
}

// SwarmReported is the report of the newest swarm on an issue.
type SwarmReported struct {
	ID string `json:"id"`
	*swarm.Report

	Written *service.Checkpointed `json:"-"` // nil unless Checkpoint is set
}

// ReportSwarm reports on the newest swarm of an issue.
func ReportSwarm(ctx context.Context, a *workspace.Run, r SwarmReportRequest) (*SwarmReported, error) {
	s, seen, err := loadSeen(ctx, a, r.ID)
	if err != nil {
		return nil, err
	}
	done := &SwarmReported{ID: s.issue, Report: swarm.NewReport(seen, s.now)}
	if r.Checkpoint {
		done.Written, err = s.checkpoint(ctx, done.Report, r.DryRun)
	}
	return done, err
}

// checkpoint writes the report as the state estimate of the issue.
func (s *session) checkpoint(ctx context.Context, r *swarm.Report, dryRun bool) (*service.Checkpointed, error) {
	end := cmp.Or(string(r.Ended), "running")
	done := fmt.Sprintf("Swarm %s of %s explored %q for %s: %s.", r.Swarm, visible.Counted(r.Agents, "agent"), r.Task, visible.Counted(r.Rounds, "round"), end)
	learned := cmp.Or(r.Conclusion, "No agent found anything.")
	var other []string
	for _, idea := range r.State.Convergence.Ideas {
		other = append(other, fmt.Sprintf("%s (%d of %d)", idea.Idea, len(idea.Supporters), r.Active))
	}
	remains := "To decide between " + strings.Join(other, ", ") + "."
	switch {
	case r.Proof != nil:
		remains = fmt.Sprintf("To merge branch %s and close the issue.", r.Proof.Branch)
	case !r.Partial:
		remains = "To do what the swarm agreed on."
	case len(other) == 0:
		remains = "Everything."
	}
	remains += " The issue deserves depth " + r.Depth + " now."
	evidence := fmt.Sprintf("stig swarm report %s: stability %d/%d, quorum %.0f %%, diversity %.0f %%", s.issue, r.State.Convergence.StableRounds,
		r.State.Config.Beta, 100*float64(r.State.Convergence.Share), 100*float64(r.State.Convergence.Diversity))
	return service.Checkpoint(ctx, s.app, service.CheckpointRequest{
		ID: s.issue, DryRun: dryRun, Evidence: &evidence,
		Estimate: signals.Estimate{Done: done, Learned: learned, Remains: remains, Downstream: "None known."},
	})
}
