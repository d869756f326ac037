package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/cmd/stig/early"
	"stig/cue"
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
		"survey of all issues with one recommended next step.", orientCall.argv)
	addTool(s, a, "checkpoint", "Leave the state of an issue for whoever comes next: signals, and the parts of the state estimate. "+
		"A part given replaces that part only; changed names the texts that disappear. Give only what you know.", checkpointCall.argv)
	addTool(s, a, "escalate", "Ask a person what neither the issues nor the code hold enough to decide. The question is kept with the "+
		"issue; go on with other work.", escalateCall.argv)
	addTool(s, a, "verify", "Run the commands in an issue's acceptance criteria and tell how each went. It closes nothing.", verifyCall.argv)
	addTool(s, a, "close", "Close issues whose acceptance criteria pass; the commands in them are run first. An issue stays open when one "+
		"fails, or when there is nothing to run.", closeCall.argv)
	addTool(s, a, "check", "Everything that is wrong with the issues: lines, signals, deadlocks, links, criteria.", checkCall.argv)
	return s
}

// addTool makes a command a tool. argv turns its arguments into words of the
// command line: flags with their values attached, ids behind --.
func addTool[Call any](s *mcp.Server, a *cli.App, name, description string, argv func(Call) []string) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, _ *mcp.CallToolRequest, call Call) (*mcp.CallToolResult, any, error) {
			object, failed, err := called(ctx, a, append([]string{name, "--json", "--no-input"}, argv(call)...))
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{IsError: failed}, object, nil
		})
}

// called runs a command as its own app, and gives the object that it printed,
// and whether that tells of an error.
func called(ctx context.Context, a *cli.App, args []string) (object json.RawMessage, failed bool, err error) {
	var out bytes.Buffer
	inner := cli.Front(strings.NewReader(""), &out, a.Err, &app.App{Getenv: a.Getenv, Env: a.Env, HomeDir: a.HomeDir, ConfigDir: a.ConfigDir, Now: a.Now, Schema: cue.Embedded(), OpenStore: a.OpenStore})
	inner.Root = a.Root
	code := inner.Run(ctx, append([]string{"-C", a.Dir, "--store", a.Store}, args...))
	object = bytes.TrimSpace(out.Bytes())
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(object, &head); err != nil {
		return nil, true, fmt.Errorf("stig %s: exit code %d, and no JSON object but %q", args[0], code, shortened(out.String()))
	}
	return object, head.Kind == "error", nil
}

func shortened(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// flagged is a flag with its value, and nothing for one that says nothing.
func flagged(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + name + "=" + value}
}

func (c orientCall) argv() []string {
	words := flagged("depth", c.Depth)
	if c.Budget != 0 {
		words = append(words, fmt.Sprintf("--budget=%d", c.Budget))
	}
	if c.ID != "" {
		words = append(words, "--", c.ID)
	}
	return words
}

func (c checkpointCall) argv() (words []string) {
	if c.Surprise != nil {
		words = append(words, fmt.Sprintf("--surprise=%v", *c.Surprise))
	}
	for _, flag := range [][2]string{
		{"progress", c.Progress}, {"cynefin", c.Cynefin}, {"confidence", c.Confidence},
		{"done", c.Done}, {"learned", c.Learned}, {"remains", c.Remains}, {"downstream", c.Downstream},
	} {
		words = append(words, flagged(flag[0], flag[1])...)
	}
	if c.Replace {
		words = append(words, "--replace")
	}
	if c.Fold {
		words = append(words, "--fold")
	}
	return append(words, "--", c.ID)
}

func (c escalateCall) argv() []string {
	words := []string{"--message=" + c.Question}
	for _, option := range c.Options {
		words = append(words, "--option="+option)
	}
	if c.Process {
		words = append(words, "--process")
	}
	return append(words, "--", c.ID)
}

func (c verifyCall) argv() []string {
	if c.Plan {
		return []string{"--plan", "--", c.ID}
	}
	return []string{"--", c.ID}
}

func (c closeCall) argv() []string {
	return append([]string{"--reason=" + c.Reason, "--"}, c.IDs...)
}

func (c checkCall) argv() []string { return flagged("against", c.Against) }
