package loop

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// SwarmReportRequest asks what a swarm came to.
type SwarmReportRequest struct {
	ID         string
	Checkpoint bool // writes it as the issue's state estimate
	DryRun     bool
}

// SwarmReported is the report of the newest swarm on an issue.
type SwarmReported struct {
	ID string `json:"id"`
	*swarm.Report

	Written *service.Checkpointed `json:"-"` // nil where nothing was asked to be written
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
