package connect

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/cmd/stig/early"
)

func McpCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "serve the Model Context Protocol on standard input and output",
		Long: "Serve the Model Context Protocol on standard input and output, for assistants that have\n" +
			"no shell: orient, checkpoint, escalate, verify, close and check. A tool gives what its\n" +
			"command prints with --json; an error of the command is an error of the tool.",
		GroupID: "connect",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig mcp\n  stig -C DIR mcp",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return server(a).Run(cmd.Context(), &mcp.IOTransport{Reader: io.NopCloser(a.In), Writer: unclosed{a.Out}})
		},
	}
}

// unclosed is a stream that stays open when the protocol is done with it.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// server has a tool for each command that an assistant needs to work. Claiming
// is part of nobody's answer, and reading is orient.
func server(a *cli.App) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "stig", Version: early.Version}, &mcp.ServerOptions{
		Instructions: "Issues in the repository are how workers here share what they know. Orient before work, checkpoint when you " +
			"learn something or stop, escalate what a person must decide, close when the acceptance criteria pass.",
		Capabilities: &mcp.ServerCapabilities{},
	})
	addTool(s, a, "orient", "What to read before working: with an id the briefing of that issue, as deep as it is uncertain; without, the "+
		"survey of all issues with one recommended next step. In a shell stig next --claim takes the first issue you can work on.", orientTool)
	addTool(s, a, "checkpoint", "Leave the state of an issue for whoever comes next: signals, and the parts of the state estimate. "+
		"A part given replaces that part only; changed names the texts that disappear. Give only what you know.", checkpointTool)
	addTool(s, a, "escalate", "Ask a person what neither the issues nor the code hold enough to decide. The question is kept with the "+
		"issue and holds it: nobody can claim or close it before the answer. Go on with other work.", escalateTool)
	addTool(s, a, "verify", "Run the commands in an issue's acceptance criteria and report how each went. It closes nothing.", verifyTool)
	addTool(s, a, "close", "Close issues whose acceptance criteria pass; the commands in them are run first. An issue stays open when one "+
		"fails, when there is nothing to run, or while a question on it waits for a person.", closeTool)
	addTool(s, a, "check", "Everything that is wrong with the issues: lines, signals, deadlocks, links, criteria.", checkTool)
	return s
}

// tool answers a call in a run of its own.
type tool[Call any] func(context.Context, *app.App, Call) (app.Output, error)

// addTool makes a service a tool: a call becomes its request, and its result the
// object that the command of that name prints with --json.
func addTool[Call any](s *mcp.Server, a *cli.App, name, description string, answer tool[Call]) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, _ *mcp.CallToolRequest, call Call) (*mcp.CallToolResult, any, error) {
			result := &mcp.CallToolResult{}
			out, err := answer(ctx, a.Fresh(ctx, name), call)
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			if err != nil {
				result.IsError, out = true, app.Classify(err).For("stig "+name).Output()
			}
			object, err := out.JSON()
			return result, object, err
		})
}
