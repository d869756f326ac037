package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop"
	"stig/internal/swarm"
)

func swarmStart(a *cli.App) *cobra.Command {
	var r loop.StartSwarmRequest
	var mode string
	cmd := &cobra.Command{
		Use:   "start ID",
		Short: "start a swarm on an issue",
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

// bindStart binds the flags with which a swarm begins.
func bindStart(cmd *cobra.Command, r *loop.StartSwarmRequest, mode *string) {
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

func agentNames(s *swarm.State) (names []string) {
	for _, one := range s.Agents {
		names = append(names, one.Name)
	}
	return names
}
