package graph

import (
	"fmt"
	"strings"

	"stig/internal/service"
	"stig/internal/visible"
)

// planText formats the stages of a plan, and the issues that fit into no stage.
func planText(p *service.Plan) string {
	var b strings.Builder
	planned, widest := 0, 0
	for _, stage := range p.Stages {
		planned += len(stage)
		for _, id := range stage {
			widest = max(widest, len(id))
		}
	}
	of := ""
	if p.Epic != "" {
		of = p.Epic + ": "
	}
	fmt.Fprintf(&b, "%s%s in %s, at most %d in parallel; %d ready\n", of, visible.Counted(planned, "issue"), visible.Counted(len(p.Stages), "stage"), p.Width, len(p.Ready))
	for k, stage := range p.Stages {
		fmt.Fprintf(&b, "\nstage %d\n", k+1)
		for _, id := range stage {
			standing := ""
			if words := p.Standing[id]; words != "" {
				standing = "  (" + words + ")"
			}
			fmt.Fprintf(&b, "  %-*s  %s%s\n", widest, id, p.Titles[id], standing)
		}
	}
	if len(p.CriticalPath) > 1 {
		fmt.Fprintf(&b, "\ncritical path (%d): %s\n", len(p.CriticalPath), strings.Join(p.CriticalPath, " → "))
	}
	if len(p.Outside) > 0 {
		fmt.Fprintf(&b, "\nwaits for issues outside: %s\n", strings.Join(p.Outside, ", "))
	}
	if len(p.Stuck) > 0 {
		fmt.Fprintf(&b, "\nin no stage because of a dependency cycle: %s\n", strings.Join(p.Stuck, ", "))
		b.WriteString("type stig cycles to see why, and which dependency to remove\n")
	}
	return b.String()
}
