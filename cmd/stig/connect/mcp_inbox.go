package connect

import (
	"context"
	"strings"

	"stig/internal/service/traces"
	"stig/internal/workspace"
)

// inboxTool lists what concerns the assistant.
func inboxTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	in, err := traces.LookInbox(ctx, a, traces.InboxRequest{Acked: g.flag("acked")})
	return workspace.NewOutput("inbox", in), false, err
}

// ackTool acknowledges items.
func ackTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	acked, err := traces.Ack(ctx, a, traces.AckRequest{Items: g.list("items")})
	return workspace.NewOutput("acked", acked), false, err
}

// itemCall is the call of a tool for the command that deals with an item: of an answer
// all that it takes, of a trace to read the issue that it is on.
func itemCall(command, issue string) string {
	words := strings.Fields(command)
	switch {
	case len(words) > 6 && words[1] == "trace" && words[2] == "add":
		return "trace with id " + words[3] + ", type " + words[4] + ", re " + words[6] + ", message"
	case len(words) > 2 && words[1] == "trace":
		return "orient with id " + issue
	}
	return callFor(command)
}
