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
