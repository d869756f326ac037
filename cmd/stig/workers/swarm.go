package workers

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
	"stig/internal/workspace"
)

// SwarmCommand returns stig swarm with its subcommands.
func SwarmCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "swarm",
		Short: "let several agents explore an issue in rounds",
		Long: "A swarm is for an issue of depth deep or probe, whose solution is unknown. Its agents\n" +
			"explore in parallel, in rounds. Each leaves findings, deposits on promising directions, and\n" +
			"stop signals on others. When a round is settled, concentrations evaporate and roles are\n" +
			"drawn. The swarm ends when its ideas are stable and one has a quorum, or when a solution\n" +
			"passes the acceptance criteria. In the first round no agent sees the findings of others.\n" +
			"A swarm without a result asks a person. The conclusion is in the notes of the issue, where\n" +
			"stig orient and stig show read it. docs/workers.md has the rules.\n\n" +
			"stig swarm run runs a whole swarm with a command. The other commands are for agents that you\n" +
			"run yourself: each acts under its name, with --actor or STIG_ACTOR, and the one who started\n" +
			"the swarm settles its rounds.",
		Args: a.UnknownCommand,
		RunE: a.HelpAlone,
	}
	cmd.AddCommand(swarmStart(a), swarmDeposit(a), swarmStop(a), swarmProbe(a), swarmFinding(a), swarmState(a),
		swarmChoose(a), swarmRound(a), swarmStatus(a), swarmEnd(a), swarmReport(a), swarmRun(a))
	return cmd
}

// printSwarmEdit prints a swarm after it was written to the store.
func printSwarmEdit(a *cli.App, done *loop.SwarmChanged, dryRun bool, text string) error {
	return a.EditResult("swarm-edit", done, done.Changes, dryRun, func() error {
		a.WarnOfLines(done.Changes)
		for _, w := range done.Warnings {
			a.Warn("%s", w.String())
		}
		if done.Landing != "" {
			text += "\n" + done.Landing
		}
		if done.Asked {
			text += "\na person is asked; type stig resolve --list to see the question"
		}
		return a.Print(text + "\n")
	})
}

func swarmStart(a *cli.App) *cobra.Command {
	var r loop.StartSwarmRequest
	var mode string
	cmd := &cobra.Command{
		Use:   "start ID",
		Short: "start a swarm on an issue",
		Long: "Start a swarm on an issue, which is yours meanwhile: ready and work leave it alone. An issue\n" +
			"of depth shallow or standard is refused. Unless agents are named, they are tanwei, suyuan,\n" +
			"dongcha, qiusuo, xili and jianwei. An emergent swarm gets no directions; a hybrid one begins\n" +
			"with those of --direction; a classic one has one parallel round, and one in which an agent\n" +
			"concludes.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm start demo-1 --agents 6\n  stig swarm start demo-1 --agent ann --agent bo --mode hybrid --direction cache --direction index",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := aboveZero(cmd, "agents", "max-rounds", "timeout"); err != nil {
				return err
			}
			r.ID, r.Mode = args[0], swarm.Mode(mode)
			done, err := loop.StartSwarm(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			return printSwarmEdit(a, done, r.DryRun, fmt.Sprintf("swarm %s on %s: %s", done.Swarm, done.ID, strings.Join(agentNames(done.State), ", ")))
		},
	}
	bindStart(cmd, &r, &mode)
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// bindStart binds the flags that describe a new swarm.
func bindStart(cmd *cobra.Command, r *loop.StartSwarmRequest, mode *string) {
	flags := cmd.Flags()
	flags.StringArrayVar(&r.Agents, "agent", nil, "an agent, by `NAME`; may be repeated")
	flags.IntVar(&r.Count, "agents", 0, "`N` agents, 2 to 12 (default 5)")
	flags.IntVar(&r.MaxRounds, "max-rounds", 0, "end after `N` rounds (default 10)")
	cli.SpanVar(flags, &r.Timeout, "timeout", "end at the first settlement after `TIME` (default 60m)")
	flags.StringVar(mode, "mode", "", cli.Either(swarm.Modes)+", as `MODE` (default "+string(swarm.Emergent)+")")
	flags.StringArrayVar(&r.Directions, "direction", nil, "a direction to begin with, as `TEXT`; may be repeated, not with --mode emergent")
	flags.StringVar(&r.Quorum, "quorum", "", "the share of active agents that is a quorum, as `FRACTION` (default 2/3)")
	flags.StringVar(&r.Task, "task", "", "what to explore, as `TEXT` (default the issue's title)")
	flags.BoolVar(&r.Force, "force", false, "also on an issue of depth shallow or standard")
}

func agentNames(s *swarm.State) (names []string) {
	for _, one := range s.Agents {
		names = append(names, one.Name)
	}
	return names
}

func swarmRun(a *cli.App) *cobra.Command {
	var r loop.SwarmRequest
	var mode string
	cmd := &cobra.Command{
		Use:   "run ID [-- CMD ARG…]",
		Short: "run a command as the agents of a swarm",
		Long: "Run CMD once for each agent and round, all agents of a round in parallel, until the swarm\n" +
			"ends. Each run has a record, a log, and a work tree of its own on branch stig/ID-AGENT, whose\n" +
			"changes are committed afterwards. The acceptance criteria run on each solution when the\n" +
			"round is settled; one that passes ends the swarm as proved, and lands as the work of stig\n" +
			"work does: stig land ID brings it to your branch.\n\n" +
			"CMD reads the task, its state and the blackboard on standard input, and has STIG_ISSUE,\n" +
			"STIG_ACTOR, STIG_ROUND and STIG_RUN in its environment. It calls stig swarm, or ends its\n" +
			"output with the JSON object that its input describes. stig reminds an agent without an answer once,\n" +
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
			if err := printReport(a, done, false); err != nil {
				return err
			}
			switch {
			case done.Asked:
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
