package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func swarmStatus(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status ID",
		Short: "show the blackboard of a swarm",
		Long: "Show what the newest swarm on an issue knows: directions, stop signals, ideas, agents. Before\n" +
			"the first round is settled an agent sees only what it did itself.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm status demo-1 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			status, err := loop.ShowSwarm(cmd.Context(), a.Run, args[0])
			return a.Result("swarm", status, err, func() error { return a.Print(statusText(status)) })
		},
	}
	a.Acts(cmd)
	return cmd
}

func statusText(s *loop.SwarmStatus) string {
	var b strings.Builder
	now := fmt.Sprintf("round %d runs", s.Round)
	if s.Ended != "" {
		now = "ended: " + string(s.Ended)
	}
	fmt.Fprintf(&b, "swarm %s on %s, %s: %s\n", s.Swarm, s.ID, s.Mode, now)
	c := s.Convergence
	fmt.Fprintf(&b, "stable %d/%d, %d of %d active are a quorum, diversity %.0f %%\n", c.StableRounds, s.Config.Beta, c.Needed, c.Active, 100*float64(c.Diversity))
	section := func(title string, n int) {
		if n > 0 {
			fmt.Fprintf(&b, "\n%s\n", title)
		}
	}
	section("Directions", len(s.Directions))
	for _, d := range s.Directions {
		fmt.Fprintf(&b, "  %s %.2f %s (%s)\n", swarm.Bar(float64(d.Concentration)), d.Concentration, d.Name, orNone(d.Depositors))
	}
	section("Stop signals", len(s.Signals))
	for _, g := range s.Signals {
		fmt.Fprintf(&b, "  %s: %s, %s: %s\n", g.Target, g.From, g.Reason, visible.FirstLine(g.Evidence))
	}
	section("Ideas", len(c.Ideas))
	for _, idea := range c.Ideas {
		fmt.Fprintf(&b, "  %s: %d of %d (%s)\n", idea.Idea, len(idea.Supporters), c.Active, orNone(idea.Supporters))
	}
	section("Probed", len(s.Claims))
	for _, claim := range s.Claims {
		fmt.Fprintf(&b, "  %s (%s)\n", claim.Subtask, orNone(claim.Agents))
	}
	section("Agents", len(s.Agents))
	for _, one := range s.Agents {
		fmt.Fprintf(&b, "  %s: %s, %s, %s\n", one.Name, one.Role, one.Status, visible.Counted(one.Found, "finding"))
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s\n", warnedText(w))
	}
	return b.String()
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

func swarmReport(a *cli.App) *cobra.Command {
	var r loop.SwarmReportRequest
	var svg bool
	cmd := &cobra.Command{
		Use:   "report ID",
		Short: "show the result of a swarm",
		Long: "Show the result of the newest swarm on an issue: convergence, ideas, agents, roles by round,\n" +
			"concentrations, and the conclusion. --checkpoint writes it as the issue's state estimate.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm report demo-1\n  stig swarm report demo-1 --svg >swarm.svg\n  stig swarm report demo-1 --checkpoint",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			if svg && (a.JSON || r.Checkpoint) {
				return workspace.Usage("--svg excludes --json and --checkpoint", "omit one of them")
			}
			done, err := loop.ReportSwarm(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printReport(a, done, svg, r.DryRun)
		},
	}
	cmd.Flags().BoolVar(&svg, "svg", false, "print the bars as SVG")
	cmd.Flags().BoolVar(&r.Checkpoint, "checkpoint", false, "write it as the issue's state estimate, with evidence")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printReport(a *cli.App, done *loop.SwarmReported, svg, dryRun bool) error {
	switch {
	case a.JSON && done.Written != nil:
		return a.PrintEdit("swarm-report", done, done.Written.Lines, dryRun)
	case a.JSON:
		return a.PrintJSON("swarm-report", done)
	case svg:
		return a.Data(done.SVG())
	case done.Written != nil && dryRun:
		return a.PrintDiff(done.Written.Lines)
	}
	if err := a.Print(done.Text()); err != nil || done.Written == nil {
		return err
	}
	return a.Printf("\nwritten as the state estimate of %s\n", done.ID)
}
