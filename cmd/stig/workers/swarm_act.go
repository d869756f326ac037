package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
	"stig/internal/workspace"
)

// acting is a command that makes one operation of an agent.
func acting(a *cli.App, kind swarm.Kind, use, short, long, example string, bind func(*cobra.Command, *swarm.Operation)) *cobra.Command {
	r := loop.SwarmAct{Operation: swarm.Operation{Kind: kind}}
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example,
		Args: cli.Takes(1, 1, "an issue"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("amount") && r.Operation.Amount <= 0 {
				return workspace.Usage(fmt.Sprintf("amount: must be above 0 and at most 1; found %v", r.Operation.Amount), "")
			}
			r.ID = args[0]
			acted, err := loop.ActInSwarm(cmd.Context(), a.Run, r)
			return a.Result("swarm-operation", acted, err, func() error { return a.Print(actedText(acted)) })
		},
	}
	bind(cmd, &r.Operation)
	a.Acts(cmd)
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "validate it, and record nothing")
	return cmd
}

func actedText(acted *loop.SwarmActed) string {
	o := acted.Operation
	text := fmt.Sprintf("%s: %s in round %d", o.ID, o.Kind, o.Round)
	switch {
	case acted.Unchanged:
		text = fmt.Sprintf("%s %ss that already", o.Agent, o.Kind)
	case acted.Concentration != nil:
		text += fmt.Sprintf(", %s is at %.2f", o.Direction, *acted.Concentration)
	}
	if acted.DryRun {
		text = "would be " + text
	}
	return text + "\n"
}

func swarmDeposit(a *cli.App) *cobra.Command {
	return acting(a, swarm.Deposit, "deposit ID", "mark a direction as worth following",
		"Mark a direction as worth following: its concentration grows by the amount, to 1 at most, and\n"+
			"loses a share with each round.",
		"  stig swarm deposit demo-1 --direction cache --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Direction, "direction", "", "the direction, as `TEXT`")
			cmd.Flags().Float64Var(&o.Amount, "amount", 0, "`N` above 0, at most 1 (default 0.1)")
		})
}

func swarmStop(a *cli.App) *cobra.Command {
	return acting(a, swarm.Stop, "stop ID", "say with evidence why a direction is not worth following",
		"Say with evidence why a direction is not worth following. The signal takes 0.3 of its\n"+
			"concentration at each settlement within 5 minutes.",
		"  stig swarm stop demo-1 --target cache --reason contradictory_evidence --evidence 'misses cost 4 ms' --actor suyuan",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Target, "target", "", "the direction, as `TEXT`")
			cmd.Flags().StringVar(&o.Reason, "reason", "", strings.Join(swarm.Reasons, ", ")+", as `REASON`")
			cmd.Flags().StringVar(&o.Evidence, "evidence", "", "what shows it, as `TEXT`")
		})
}

func swarmProbe(a *cli.App) *cobra.Command {
	return acting(a, swarm.Probe, "probe ID", "say which part of the question is probed",
		"Say which part of the question the agent probes. At most 3 agents probe one; the fourth is\n"+
			"refused (exit code 5).",
		"  stig swarm probe demo-1 --subtask 'measure misses' --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Subtask, "subtask", "", "the part, as `TEXT`")
		})
}

func swarmFinding(a *cli.App) *cobra.Command {
	return acting(a, swarm.Find, "finding ID", "leave what was found, as a core idea with details",
		"Leave what was found: a core idea, its direction, and details in words of one's own, without\n"+
			"which it supports nothing. It becomes a finding trace when the round is settled. A branch is\n"+
			"a solution: the acceptance criteria run on it then.",
		"  stig swarm finding demo-1 --idea lru-cache --direction cache --perspective cost --details 'Hits cost 40 µs.' --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			flags := cmd.Flags()
			flags.StringVar(&o.Idea, "idea", "", "the core idea, as `SLUG`")
			flags.StringVar(&o.Direction, "direction", "", "where it was found, as `TEXT`")
			flags.StringVar(&o.Perspective, "perspective", "", "from which side one looks, as `TEXT`")
			flags.StringVar(&o.Details, "details", "", "what was found, as `TEXT`")
			flags.StringArrayVar(&o.AgreesWith, "agrees-with", nil, "another idea that it supports, as `SLUG`; several times")
			flags.StringVar(&o.Branch, "branch", "", "the `BRANCH` of a solution")
		})
}

func swarmState(a *cli.App) *cobra.Command {
	return acting(a, swarm.Host, "state ID", "keep what the agent does for its next round",
		"Keep what the agent does for its next round: its prompt has it.",
		"  stig swarm state demo-1 --exploring cache -m 'misses are measured, hits are not' --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Exploring, "exploring", "", "the direction, as `TEXT`")
			cmd.Flags().StringVar(&o.Claimed, "claimed", "", "the part of the question, as `TEXT`")
			cmd.Flags().StringVarP(&o.Note, "message", "m", "", "a note to itself, as `TEXT`")
		})
}
