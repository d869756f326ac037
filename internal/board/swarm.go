package board

import (
	"fmt"

	"stig/internal/loop"
	"stig/internal/visible"
)

// blackboard is the data of a swarm's page.
type blackboard struct {
	*loop.SwarmStatus
	Now, Report string
}

// explored is the page of the newest swarm on an issue: its rounds, explorers and report.
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
	shown := blackboard{SwarmStatus: status, Now: fmt.Sprintf("round %d of %d is running", status.Round, status.Config.MaxRounds), Report: report.Text()}
	if status.Ended != "" {
		shown.Now = "ended: " + string(status.Ended)
	}
	p.Parts = []part{v.part("rounds", shown), v.part("explorers", shown), v.part("swarm-report", shown)}
	return p, nil
}

// hasSwarm reports whether an issue has or had a swarm.
func (v *view) hasSwarm(id string) bool {
	_, err := loop.ShowSwarm(v.ctx, v.Run, id)
	return err == nil
}

// Counted formats a count with its noun.
func (v *view) Counted(n int, thing string) string { return visible.Counted(n, thing) }
