package workers

import (
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/workspace"
)

func swarmRound(a *cli.App) *cobra.Command {
	var r loop.SettleSwarmRequest
	cmd := &cobra.Command{
		Use:   "round ID",
		Short: "settle the running round",
		Long: "Settle the running round of a swarm that you started. The acceptance criteria run on each\n" +
			"solution that a finding names with --branch. Findings become traces of their agents. An agent\n" +
			"that did nothing in the round is missing; the second time in a row it is degraded, and no\n" +
			"longer counts.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm round demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			done, err := loop.SettleSwarm(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printSwarmEdit(a, done, r.DryRun, done.String())
		},
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func swarmEnd(a *cli.App) *cobra.Command {
	var r loop.EndSwarmRequest
	cmd := &cobra.Command{
		Use:     "end ID",
		Short:   "end a swarm as it is",
		Long:    "End a swarm that you started, as it is. The issue goes back to whoever works on it next.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm end demo-1 -m 'the customer decided'",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			done, err := loop.EndSwarm(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printSwarmEdit(a, done, r.DryRun, fmt.Sprintf("swarm %s on %s: %s", done.Swarm, done.ID, done.Ended))
		},
	}
	cmd.Flags().StringVarP(&r.Note, "message", "m", "", "why, as `TEXT`")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

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
	now := fmt.Sprintf("round %d runs", s.Round)
	if s.Ended != "" {
		now = "ended: " + string(s.Ended)
	}
	return fmt.Sprintf("swarm %s on %s, %s: %s\n%s", s.Swarm, s.ID, s.Mode, now, s.Text())
}

func swarmReport(a *cli.App) *cobra.Command {
	var svg bool
	cmd := &cobra.Command{
		Use:   "report ID",
		Short: "show the result of a swarm",
		Long: "Show the result of the newest swarm on an issue: convergence, ideas, agents, roles by round,\n" +
			"concentrations, and the conclusion.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm report demo-1\n  stig swarm report demo-1 --svg >swarm.svg",
		RunE: func(cmd *cobra.Command, args []string) error {
			if svg && a.JSON {
				return workspace.Usage("--svg and --json cannot be used together", "omit one of them")
			}
			done, err := loop.ReportSwarm(cmd.Context(), a.Run, loop.SwarmReportRequest{ID: args[0]})
			if err != nil {
				return err
			}
			return printReport(a, done, svg)
		},
	}
	cmd.Flags().BoolVar(&svg, "svg", false, "print the bars as SVG")
	a.Acts(cmd)
	return cmd
}

func printReport(a *cli.App, done *loop.SwarmReported, svg bool) error {
	switch {
	case a.JSON:
		return a.PrintJSON("swarm-report", done)
	case svg:
		return a.Data(done.SVG())
	}
	return a.Print(done.Text())
}
