package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
)

// promptOf is what an agent gets on its standard input: the same text for all, with the
// agent's own state and what it may see.
func (x *runner) promptOf(ctx context.Context, agent string) (string, error) {
	seen := x.state.SeenBy(agent)
	one := seen.Agent(agent)
	own, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return "", err
	}
	board, err := json.MarshalIndent(map[string]any{
		"directions": seen.Directions, "stop_signals": seen.Signals, "claims": seen.Claims, "findings": seen.Findings, "convergence": seen.Convergence,
		"verdicts": seen.Verdicts,
	}, "", "  ")
	if err != nil {
		return "", err
	}
	briefing, err := service.Orient(ctx, x.app.Fresh(ctx, "swarm"), service.OrientRequest{ID: x.issue, Loop: true})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Swarm %s, round %d\n\nTask: %s\n\nYou are %s, one of %s. The name means no division of work.\n",
		x.state.Swarm, x.state.Round, x.state.Task, swarm.DisplayName(agent), visible.Counted(len(x.state.Agents), "agent"))
	if x.state.Blind() {
		b.WriteString("This round is blind: what others find is shown after it.\n")
	}
	fmt.Fprintf(&b, "\n## Duties\n\n- EXPLORER: seek directions and ideas.\n- DEEP_ANALYST: deepen the leading direction.\n- DEBATER: attack the leading direction with evidence.\n- SYNTHESIZER: conclude, in a finding.\n\nYours: %s.\n", one.Role)
	id := x.issue
	fmt.Fprintf(&b, `
## What you may do

- stig swarm choose %[1]s suggests where to look; you decide.
- stig swarm finding %[1]s --idea SLUG --direction TEXT --perspective TEXT --details TEXT [--agrees-with SLUG]
- stig swarm deposit %[1]s --direction TEXT marks a direction as worth following.
- stig swarm stop %[1]s --target TEXT --reason contradictory_evidence|better_alternative|resource_conflict --evidence TEXT
- stig swarm probe %[1]s --subtask TEXT claims a part; at most %[2]d agents each.
- stig swarm state %[1]s -m TEXT is kept for your next round.
- Changed files are a solution: they are committed on your branch, and the acceptance criteria run on it.
- Or end your output with one JSON object:
  {"round_complete":{"direction":"…","findings":[{"core_idea":"…","perspective":"…","details":"…","agrees_with":[]}],"operations":[{"operation":"deposit","direction":"…"}]}}

Say details in words of your own: those of others support nothing. Without any of this the round has no answer of yours.
`, id, x.state.Config.PerSubtask)
	for _, w := range x.state.Warnings {
		fmt.Fprintf(&b, "\nWarning (%s): %s.\n", w.Kind, strings.Join(w.Suggestions, ", "))
	}
	b.WriteString(refusedText(x.round.Refused[agent]))
	fmt.Fprintf(&b, "\n## Your state\n\n```json\n%s\n```\n\n## Blackboard\n\n%s\n%s", own, visible.Fenced(string(board)), "\n"+briefing.Markdown())
	return b.String(), nil
}

// refusedText lists what did not count of an agent's last answer; "" where all did.
func refusedText(refused []string) string {
	if len(refused) == 0 {
		return ""
	}
	return "\n## Refused in your last answer\n\n- " + strings.Join(refused, "\n- ") + "\n"
}
