package board

import (
	"fmt"

	"stig/internal/loop"
	"stig/internal/swarm"
	"stig/internal/visible"
)

// blackboard is the data of a swarm's page.
type blackboard struct {
	*loop.SwarmStatus
	Tone, Now string
	Report    *swarm.Report
}

// explored is the page of the newest swarm on an issue: its conclusion, then how it came.
func explored(v *view) (page, error) {
	id := v.path[1]
	p := page{Title: "Swarm on " + id, Section: "Issues", Every: recheck}
	status, err := loop.ShowSwarm(v.ctx, v.Run, id)
	if err != nil {
		return p, err
	}
	report, err := loop.ReportSwarm(v.ctx, v.Run, loop.SwarmReportRequest{ID: id})
	if err != nil {
		return p, err
	}
	shown := blackboard{SwarmStatus: status, Tone: "work", Now: fmt.Sprintf("round %d of %d is running", status.Round, status.Config.MaxRounds), Report: report.Report}
	switch {
	case report.Proof != nil:
		shown.Tone, shown.Now = "good", "proved: the solution of "+swarm.DisplayName(report.Proof.Agent)+" passed the acceptance criteria"
	case status.Ended != "" && report.Partial:
		shown.Tone, shown.Now = "warn", "ended without agreement: "+string(status.Ended)
	case status.Ended != "":
		shown.Tone, shown.Now = "good", "the explorers agree"
	}
	p.Parts = []part{v.top("swarm-state", shown), v.part("conclusion", shown), v.part("rounds", shown), v.side("explorers", shown)}
	return p, nil
}

// hasSwarm reports whether an issue has or had a swarm.
func (v *view) hasSwarm(id string) bool {
	_, err := loop.ShowSwarm(v.ctx, v.Run, id)
	return err == nil
}

// Counted formats a count with its noun.
func (v *view) Counted(n int, thing string) string { return visible.Counted(n, thing) }
