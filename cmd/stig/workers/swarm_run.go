package workers

import (
	"context"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
	"stig/internal/workspace"
)

func swarmRun(a *cli.App) *cobra.Command {
	var r loop.SwarmRequest
	var mode string
	cmd := &cobra.Command{
		Use:   "run ID [-- CMD ARG…]",
		Short: "run a command as the agents of a swarm",
		Long: "Run CMD once for each agent and round, all agents of a round in parallel, until the swarm\n" +
			"ends. Each run has a record, a log, and a work tree of its own on branch stig/ID-AGENT, whose\n" +
			"changes are committed afterwards. The acceptance criteria run on each solution when the\n" +
			"round is settled; one that passes ends the swarm as proved. stig merges no solution and\n" +
			"closes nothing.\n\n" +
			"CMD reads the task, its state and the blackboard on standard input, and has STIG_ISSUE,\n" +
			"STIG_ACTOR, STIG_ROUND and STIG_RUN in its environment. It calls stig swarm, or ends its\n" +
			"output with one JSON object round_complete. stig reminds an agent without an answer once,\n" +
			"and degrades it after two rounds. An interrupted run continues at the round that was not\n" +
			"settled. Exit codes: 0 converged or proved, 6 a person is asked, 1 otherwise.",
		Example: "  stig swarm run demo-1 --agents 4 -- ./explorer.sh\n  stig swarm run demo-1 --round-timeout 20m -- claude -p --dangerously-skip-permissions",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args = args[:at]
			}
			return cli.Takes(1, 1, "an issue, and the command after --")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := aboveZero(cmd, "agents", "max-rounds", "timeout", "round-timeout", "response-timeout"); err != nil {
				return err
			}
			r.ID, r.Mode, r.Command = args[0], swarm.Mode(mode), args[1:]
			r.Tell = func(text string) {
				if !a.JSON && !a.Quiet {
					_ = a.Print(text + "\n") // closed output does not end a swarm
				}
			}
			if r.DryRun {
				return planSwarm(cmd.Context(), a, r)
			}
			done, err := loop.RunSwarm(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			if err := printReport(a, done, false, false); err != nil {
				return err
			}
			switch {
			case done.Ended.Asks():
				return workspace.Ended{Code: workspace.ExitWaits}
			case done.Partial:
				return workspace.Ended{Code: workspace.ExitFound}
			}
			return nil
		},
	}
	bindStart(cmd, &r.StartSwarmRequest, &mode)
	cli.SpanVar(cmd.Flags(), &r.RoundTimeout, "round-timeout", "end an agent's part of a round after `TIME` (default 2m)")
	cli.SpanVar(cmd.Flags(), &r.ResponseTimeout, "response-timeout", "remind an agent after `TIME` (default half of --round-timeout)")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// planSwarm prints how a run would begin.
func planSwarm(ctx context.Context, a *cli.App, r loop.SwarmRequest) error {
	done, err := loop.PlanSwarm(ctx, a.Run, r)
	if err != nil {
		return err
	}
	if len(done.Changes) == 0 {
		a.Note("swarm %s would go on at round %d", done.Swarm, done.Round)
	}
	return printSwarmEdit(a, done, true, "")
}
