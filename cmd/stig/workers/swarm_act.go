package workers

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
	"stig/internal/workspace"
)

// acting returns a command that performs one operation of an agent.
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
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "validate it; record nothing")
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
			"loses a share in each round.",
		"  stig swarm deposit demo-1 --direction cache --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Direction, "direction", "", "the direction, as `TEXT`")
			cmd.Flags().Float64Var(&o.Amount, "amount", 0, "`N` above 0, at most 1 (default 0.1)")
		})
}

func swarmStop(a *cli.App) *cobra.Command {
	return acting(a, swarm.Stop, "stop ID", "explain with evidence why a direction is not worth it",
		"Explain with evidence why a direction is not worth following. The signal takes 0.3 of its\n"+
			"concentration at each settlement within 5 minutes.",
		"  stig swarm stop demo-1 --target cache --reason contradictory_evidence --evidence 'misses cost 4 ms' --actor suyuan",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Target, "target", "", "the direction, as `TEXT`")
			cmd.Flags().StringVar(&o.Reason, "reason", "", strings.Join(swarm.Reasons, ", ")+", as `REASON`")
			cmd.Flags().StringVar(&o.Evidence, "evidence", "", "what shows it, as `TEXT`")
		})
}

func swarmProbe(a *cli.App) *cobra.Command {
	return acting(a, swarm.Probe, "probe ID", "claim a part of the question to probe",
		"Claim a part of the question for the agent to probe. At most 3 agents probe one part; the\n"+
			"fourth is refused (exit code 5).",
		"  stig swarm probe demo-1 --subtask 'measure misses' --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Subtask, "subtask", "", "the part, as `TEXT`")
		})
}

func swarmFinding(a *cli.App) *cobra.Command {
	return acting(a, swarm.Find, "finding ID", "leave a finding: a core idea with details",
		"Leave a finding: a core idea, its direction, and details in your own words, without which it\n"+
			"supports nothing. It becomes a finding trace when the round is settled. A branch is a\n"+
			"solution: the acceptance criteria then run on it.",
		"  stig swarm finding demo-1 --idea lru-cache --direction cache --perspective cost --details 'Hits cost 40 µs.' --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			flags := cmd.Flags()
			flags.StringVar(&o.Idea, "idea", "", "the core idea, as `SLUG`")
			flags.StringVar(&o.Direction, "direction", "", "where it was found, as `TEXT`")
			flags.StringVar(&o.Perspective, "perspective", "", "the point of view, as `TEXT`")
			flags.StringVar(&o.Details, "details", "", "what was found, as `TEXT`")
			flags.StringArrayVar(&o.AgreesWith, "agrees-with", nil, "another idea that it supports, as `SLUG`; may be repeated")
			flags.StringVar(&o.Branch, "branch", "", "the `BRANCH` of a solution")
		})
}

func swarmState(a *cli.App) *cobra.Command {
	return acting(a, swarm.Host, "state ID", "keep the state of an agent for its next round",
		"Keep the state of the agent for its next round, whose prompt has it.",
		"  stig swarm state demo-1 --exploring cache -m 'misses are measured, hits are not' --actor tanwei",
		func(cmd *cobra.Command, o *swarm.Operation) {
			cmd.Flags().StringVar(&o.Exploring, "exploring", "", "the direction, as `TEXT`")
			cmd.Flags().StringVar(&o.Claimed, "claimed", "", "the part of the question, as `TEXT`")
			cmd.Flags().StringVarP(&o.Note, "message", "m", "", "a note to itself, as `TEXT`")
		})
}

func swarmChoose(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "choose ID",
		Short: "draw where an agent may look next",
		Long: "Draw where the agent may look next: follow a direction by its concentration, take one that\n" +
			"nobody covered, or go anywhere. It is a suggestion; the agent decides. An empty direction is\n" +
			"one that nobody has named yet.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm choose demo-1 --actor tanwei",
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := loop.ChooseSwarm(cmd.Context(), a.Run, args[0])
			return a.Result("swarm-choice", chosen, err, func() error {
				direction := cmp.Or(chosen.Direction, "one that nobody named yet")
				text := fmt.Sprintf("%s: %s", chosen.Kind, direction)
				if chosen.Inhibited {
					text += " (stop signals kept it from following)"
				}
				return a.Print(text + "\n")
			})
		},
	}
	a.Acts(cmd)
	return cmd
}
