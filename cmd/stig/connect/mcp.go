package connect

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service/hooks"
	"stig/internal/workspace"
)

func McpCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "serve the Model Context Protocol to assistants",
		Long: "Serve the Model Context Protocol on standard input and output, for assistants without a\n" +
			"shell: tools to orient, claim, checkpoint, escalate, verify, close, create, check, recall,\n" +
			"inbox and ack, the briefings as resources, and prompts to start and to hand over. A tool\n" +
			"returns what its command prints with --json, in at most 8,000 characters. A refusal is an\n" +
			"error of the tool. An interrupt ends the server and the checks that it runs.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig mcp\n  stig -C DIR mcp",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Without SIGPIPE, writing to a client that is gone fails and does not end this
			// process, which still has to end running checks.
			signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			err := (&server{a, ctx, rand.Text()}).protocol().Run(ctx, newLines(a.In, a.Out, cancel))
			if ctx.Err() != nil && cmd.Context().Err() == nil {
				return nil // the client is gone
			}
			return err
		},
	}
}

// server answers the calls of one client.
type server struct {
	app     *cli.App
	serving context.Context // ends with the server, and with it what calls have started
	id      string          // distinguishes its client from those of other servers
}

// protocol returns the MCP server with its tools, prompts and resources.
func (s *server) protocol() *mcp.Server {
	p := mcp.NewServer(&mcp.Implementation{Name: "stig", Title: "stig", Version: cli.Version}, &mcp.ServerOptions{
		Instructions: "Workers here share what they know through the issues in the repository. Call orient before work, claim the issue " +
			"you take, checkpoint when you learn something or stop, escalate what a person must decide, and close when the acceptance criteria pass." + s.looped(),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
	})
	for _, t := range tools() {
		p.AddTool(t.described(), func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.call(ctx, t, r)
		})
	}
	s.addReading(p)
	return p
}

// looped returns what a client that a worker loop started must do differently, "" for others.
func (s *server) looped() string {
	if s.app.Getenv("STIG_RUN") == "" {
		return ""
	}
	return " A worker loop runs you: it claimed the issue, and it merges, verifies and closes. Do not claim or close: checkpoint, then end."
}

// call answers one call. Errors are part of the result, so that the model reads them.
func (s *server) call(ctx context.Context, t tool, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, end := s.both(ctx)
	defer end()
	run := s.run(ctx, t.name, r.ClientInfo())
	stop := s.progress(ctx, r, run.Run)
	given, err := t.read(r.Params.Arguments)
	var found workspace.Output
	failed := false
	if err == nil {
		found, failed, err = t.answer(ctx, run.Run, given)
	}
	stop()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		failed, found = true, workspace.Classify(err).Output()
	}
	text, err := run.object(found)
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text), IsError: failed,
	}, err
}

// both returns a context that ends with ctx or with the server, whichever is first.
func (s *server) both(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.serving, func() { cancel(context.Cause(s.serving)) })
	return ctx, func() { stop(); cancel(nil) }
}

// run is one call as the services see it, with the warnings besides its result.
type run struct {
	*workspace.Run
	warnings []string
}

// run returns a new run for a call. client is nil if the client does not identify itself.
func (s *server) run(ctx context.Context, name string, client *mcp.Implementation) *run {
	r := &run{Run: s.app.Fresh(ctx, name)}
	r.Terminal = false
	r.Say = func(level workspace.Level, text string) {
		if level == workspace.Warning {
			r.warnings = append(r.warnings, text)
		}
	}
	if client == nil {
		client = &mcp.Implementation{}
	}
	hooks.JoinClient(ctx, r.Run, client.Name, s.id)
	return r
}

// object returns a result as JSON for the client: with the warnings of the run, tool calls in
// place of commands to type, hidden characters made visible, and at most resultLimit
// characters.
func (r *run) object(o workspace.Output) ([]byte, error) {
	text, err := o.JSON()
	if err != nil {
		return nil, err
	}
	value, err := parse(text)
	if err != nil {
		return nil, err
	}
	object := value.(members)
	if said, _ := object.get("warnings").([]any); said != nil || len(r.warnings) > 0 {
		for _, w := range r.warnings {
			said = append(said, w)
		}
		object = object.with("warnings", said)
	}
	return fit(forTools(object).(members), resultLimit)
}
