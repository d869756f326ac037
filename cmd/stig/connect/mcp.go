package connect

import (
	"context"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"stig/app"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/cmd/stig/early"
	"stig/signals"
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

// The arguments of the tools. A pointer is an argument that may be left out
// where "" would say something.
type (
	orientCall struct {
		ID     string `json:"id,omitempty" jsonschema:"issue to be briefed on; leave out for the survey of all"`
		Depth  string `json:"depth,omitempty" jsonschema:"shallow, standard, deep or probe instead of the issue's own"`
		Budget int    `json:"budget,omitempty" jsonschema:"at most so many characters of text, 2000 at least"`
	}
	checkpointCall struct {
		ID         string   `json:"id"`
		Surprise   *float64 `json:"surprise,omitempty" jsonschema:"0.0 exactly as described, 0.1-0.3 minor, 0.4-0.6 moderate, 0.7-0.9 major differences, 1.0 nothing as described"`
		Progress   string   `json:"progress,omitempty" jsonschema:"not-started, exploring, implementing, verifying or blocked"`
		Cynefin    string   `json:"cynefin,omitempty" jsonschema:"clear, complicated, complex or chaotic"`
		Confidence string   `json:"confidence,omitempty" jsonschema:"how well it is shown to hold, such as locally-verified"`
		Done       string   `json:"done,omitempty" jsonschema:"what was done; a part that is left out stays as it is"`
		Learned    string   `json:"learned,omitempty" jsonschema:"what was learned"`
		Remains    string   `json:"remains,omitempty" jsonschema:"what remains"`
		Downstream string   `json:"downstream,omitempty" jsonschema:"what issues that depend on this one should know"`
		Replace    bool     `json:"replace,omitempty" jsonschema:"the parts given replace the whole estimate"`
		Fold       bool     `json:"fold,omitempty" jsonschema:"give back what merged branches also learned, and take it away"`
	}
	escalateCall struct {
		ID       string   `json:"id"`
		Question string   `json:"question" jsonschema:"what has to be decided, and why the issues do not hold enough to choose"`
		Options  []string `json:"options,omitempty" jsonschema:"the alternatives, each with what speaks for it"`
		Process  bool     `json:"process,omitempty" jsonschema:"ask whether the way of working should change"`
	}
	verifyCall struct {
		ID   string `json:"id"`
		Plan bool   `json:"plan,omitempty" jsonschema:"only tell what would run, and why the rest would not"`
	}
	closeCall struct {
		IDs    []string `json:"ids" jsonschema:"issues to close"`
		Reason string   `json:"reason" jsonschema:"what exists now that did not before, and how you know that it works"`
	}
	checkCall struct {
		Against string `json:"against,omitempty" jsonschema:"a git revision: also what happened since the branch left it"`
	}
)

// server has a tool for each command that an assistant needs to work. Claiming
// is part of nobody's answer, and reading is orient.
func server(a *cli.App) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "stig", Version: early.Version}, &mcp.ServerOptions{
		Instructions: "Issues in the repository are how workers here share what they know. Orient before work, checkpoint when you " +
			"learn something or stop, escalate what a person must decide, close when the acceptance criteria pass.",
		Capabilities: &mcp.ServerCapabilities{},
	})
	addTool(s, a, "orient", "What to read before working: with an id the briefing of that issue, as deep as it is uncertain; without, the "+
		"survey of all issues with one recommended next step.", orientTool)
	addTool(s, a, "checkpoint", "Leave the state of an issue for whoever comes next: signals, and the parts of the state estimate. "+
		"A part given replaces that part only; changed names the texts that disappear. Give only what you know.", checkpointTool)
	addTool(s, a, "escalate", "Ask a person what neither the issues nor the code hold enough to decide. The question is kept with the "+
		"issue; go on with other work.", escalateTool)
	addTool(s, a, "verify", "Run the commands in an issue's acceptance criteria and tell how each went. It closes nothing.", verifyTool)
	addTool(s, a, "close", "Close issues whose acceptance criteria pass; the commands in them are run first. An issue stays open when one "+
		"fails, or when there is nothing to run.", closeTool)
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

func orientTool(ctx context.Context, a *app.App, c orientCall) (app.Output, error) {
	found, err := a.Orient(ctx, app.OrientRequest{ID: c.ID, Depth: c.Depth, Budget: c.Budget, StaleDays: signals.ThresholdStaleDays})
	if err != nil {
		return app.Output{}, err
	}
	return found.Output(), nil
}

func checkpointTool(ctx context.Context, a *app.App, c checkpointCall) (app.Output, error) {
	r := app.CheckpointRequest{
		ID: c.ID, Signals: map[signals.Signal]string{}, Replace: c.Replace, Fold: c.Fold,
		Estimate: signals.Estimate{Done: c.Done, Learned: c.Learned, Remains: c.Remains, Downstream: c.Downstream},
	}
	if c.Surprise != nil {
		r.Signals[signals.Surprise] = fmt.Sprint(*c.Surprise)
	}
	for s, value := range map[signals.Signal]string{signals.Progress: c.Progress, signals.Cynefin: c.Cynefin, signals.Confidence: c.Confidence} {
		if value != "" {
			r.Signals[s] = value
		}
	}
	report, err := a.Checkpoint(ctx, r)
	if err != nil {
		return app.Output{}, err
	}
	return app.CheckpointOutput(report, r.DryRun)
}

func escalateTool(ctx context.Context, a *app.App, c escalateCall) (app.Output, error) {
	r := app.EscalateRequest{ID: c.ID, Question: checkpoint.Question{Text: c.Question, Options: c.Options, Process: c.Process}}
	asked, err := a.Escalate(ctx, r)
	if err != nil {
		return app.Output{}, err
	}
	return app.EscalateOutput(asked, r.DryRun)
}

func verifyTool(ctx context.Context, a *app.App, c verifyCall) (app.Output, error) {
	found, err := a.Verify(ctx, app.VerifyRequest{ID: c.ID, Plan: c.Plan})
	if err != nil {
		return app.Output{}, err
	}
	return app.VerdictOutput([]app.Finding{found})
}

func closeTool(ctx context.Context, a *app.App, c closeCall) (app.Output, error) {
	found, err := a.Close(ctx, c.IDs, app.CloseOptions{Reason: c.Reason}, func(app.Finding) error { return nil })
	if err != nil {
		return app.Output{}, err
	}
	return app.VerdictOutput(found)
}

func checkTool(ctx context.Context, a *app.App, c checkCall) (app.Output, error) {
	checked, err := a.Check(ctx, app.CheckRequest{Against: c.Against})
	if err != nil {
		return app.Output{}, err
	}
	return checked.Output(), nil
}
