package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/app/swarming"
	"stig/cmd/stig/cli"
	"stig/swarm"
)

// SwarmCommand is stig swarm with what is below it.
func SwarmCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "swarm",
		SuggestFor: []string{"hive", "bees", "explore"},
		Short:      "have several explorers work out what is to be done",
		Long: "A swarm is for an issue of depth deep or probe: what is to be done is not known. Its agents\n" +
			"explore side by side, in rounds. Each leaves findings, deposits on directions that look\n" +
			"good, and stop signals on those that do not. A round is settled: concentrations evaporate,\n" +
			"roles are drawn, and the swarm ends when its ideas are stable and one has a quorum, or when\n" +
			"a solution passes the acceptance criteria. The first round is blind: nobody sees what others\n" +
			"found. Without an answer a person is asked. docs/swarm.md has the rules and what they are\n" +
			"worth.\n\n" +
			"stig swarm run has all of that done with a command of yours. The others are for explorers that\n" +
			"you run yourself: each acts as one agent, with --actor or STIG_ACTOR, and whoever started the\n" +
			"swarm settles its rounds.",
		GroupID: "workers",
		Args:    a.UnknownCommand,
		RunE:    a.HelpAlone,
	}
	cmd.AddCommand(swarmStart(a), swarmDeposit(a), swarmStop(a), swarmProbe(a), swarmFinding(a), swarmState(a),
		swarmChoose(a), swarmRound(a), swarmStatus(a), swarmEnd(a), swarmReport(a), swarmRun(a))
	return cmd
}

func swarmStart(a *cli.App) *cobra.Command {
	var r swarming.StartRequest
	var mode string
	cmd := &cobra.Command{
		Use:   "start ID",
		Short: "begin a swarm on an issue",
		Long: "Begin a swarm on an issue, and make the issue yours meanwhile: ready and work leave it alone.\n" +
			"An issue of depth shallow or standard is refused. Agents are tanwei, suyuan, dongcha, qiusuo,\n" +
			"xili and jianwei, where none is named. An emergent swarm gets no directions; a hybrid one\n" +
			"begins with those that --direction gives; a classic one has one round side by side and one\n" +
			"in which an agent concludes.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm start demo-1 --agents 6\n  stig swarm start demo-1 --agent ann --agent bo --mode hybrid --direction cache --direction index",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := aboveZero(cmd, "agents", "max-rounds", "timeout"); err != nil {
				return err
			}
			r.ID, r.Mode = args[0], swarm.Mode(mode)
			done, err := swarming.Start(cmd.Context(), a.App, r)
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

// bindStart binds the flags with which a swarm begins.
func bindStart(cmd *cobra.Command, r *swarming.StartRequest, mode *string) {
	flags := cmd.Flags()
	flags.StringArrayVar(&r.Agents, "agent", nil, "an agent, by its `NAME`; several times")
	flags.IntVar(&r.Count, "agents", 0, "`N` agents, 2 to 12 (default 5)")
	flags.IntVar(&r.MaxRounds, "max-rounds", 0, "end after `N` rounds (default 10)")
	cli.SpanVar(flags, &r.Timeout, "timeout", "end at the first settlement after `TIME` (default 60m)")
	flags.StringVar(mode, "mode", "", cli.Either(swarm.Modes)+", as `MODE` (default "+string(swarm.Emergent)+")")
	flags.StringArrayVar(&r.Directions, "direction", nil, "a direction to begin with, as `TEXT`; several times, not with --mode emergent")
	flags.StringVar(&r.Quorum, "quorum", "", "the share of active agents that is a quorum, as `FRACTION` (default 2/3)")
	flags.StringVar(&r.Task, "task", "", "what is explored, as `TEXT` (default the issue's title)")
	flags.BoolVar(&r.Force, "force", false, "on an issue of depth shallow or standard too")
}

// aboveZero refuses flags that the command has and that were given as 0, which stands for what
// holds without them.
func aboveZero(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && (f.Value.String() == "0" || f.Value.String() == "0s") {
			return app.Usage("--"+name+": must be above 0; found 0", "")
		}
	}
	return nil
}

func agentNames(s *swarm.State) (names []string) {
	for _, one := range s.Agents {
		names = append(names, one.Name)
	}
	return names
}

// printSwarmEdit prints a swarm after it was written to the store.
func printSwarmEdit(a *cli.App, done *swarming.Changed, dryRun bool, text string) error {
	switch {
	case a.JSON:
		return a.PrintEdit("swarm-edit", done, done.Changes, dryRun)
	case dryRun:
		return a.PrintDiff(done.Changes)
	}
	a.WarnOfLines(done.Changes)
	for _, w := range done.Warnings {
		a.Warn("%s", warnedText(w))
	}
	if done.Asked {
		text += "\na person is asked; type stig escalations to see the question"
	}
	return a.Print(text + "\n")
}

func warnedText(w swarm.Warned) string {
	var figures []string
	for _, key := range []string{"diversity", "least", "rounds"} {
		if f, ok := w.Figures[key]; ok {
			figures = append(figures, fmt.Sprintf("%s %.2g", key, f))
		}
	}
	return fmt.Sprintf("%s: %s; %s", w.Kind, strings.Join(figures, ", "), strings.Join(w.Suggestions, ", "))
}

func swarmRound(a *cli.App) *cobra.Command {
	var r swarming.SettleRequest
	cmd := &cobra.Command{
		Use:   "round ID",
		Short: "settle the running round",
		Long: "Settle the running round of a swarm that you started. The acceptance criteria run on each\n" +
			"solution that a finding names with --branch. Findings become traces of their agents. An agent\n" +
			"that did nothing in the round was missing; the second time in a row it is degraded, and counts\n" +
			"no more.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm round demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			done, err := swarming.Settle(cmd.Context(), a.App, r)
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
	var r swarming.EndRequest
	cmd := &cobra.Command{
		Use:     "end ID",
		Short:   "end a swarm as it is",
		Long:    "End a swarm that you started, as it is. The issue goes back to who works on it next.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm end demo-1 -m 'the customer decided'",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.ID = args[0]
			done, err := swarming.End(cmd.Context(), a.App, r)
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

func swarmChoose(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "choose ID",
		Short: "draw where an agent may look next",
		Long: "Draw where the agent may look next: follow a direction by its concentration, take one that\n" +
			"nobody covered, or go anywhere. It suggests; the agent decides. An empty direction is one\n" +
			"that nobody named yet.",
		Args:    cli.Takes(1, 1, "an issue"),
		Example: "  stig swarm choose demo-1 --actor tanwei",
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen, err := swarming.Choose(cmd.Context(), a.App, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintOutput(app.Output{Kind: "swarm-choice", Bodies: []any{chosen}}, nil)
			}
			direction := chosen.Direction
			if direction == "" {
				direction = "one that nobody named yet"
			}
			text := fmt.Sprintf("%s: %s", chosen.Kind, direction)
			if chosen.Inhibited {
				text += " (stop signals kept it from following)"
			}
			return a.Print(text + "\n")
		},
	}
	a.Acts(cmd)
	return cmd
}
