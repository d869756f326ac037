package connect

import (
	"context"
	"strings"

	"stig/internal/service/traces"
	"stig/internal/workspace"
)

// inboxTool lists the items in the assistant's inbox.
func inboxTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	in, err := traces.ReadInbox(ctx, a, traces.InboxRequest{Acked: g.flag("acked")})
	return workspace.NewOutput("inbox", in), false, err
}

// ackTool acknowledges items.
func ackTool(ctx context.Context, a *workspace.Run, g args) (workspace.Output, bool, error) {
	acked, err := traces.Ack(ctx, a, traces.AckRequest{Items: g.list("items")})
	return workspace.NewOutput("acked", acked), false, err
}

// itemCall returns the tool call for the command that deals with an inbox item: for an answer
// with all its arguments, for a trace a call that reads its issue.
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
