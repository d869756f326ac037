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
		Long: "Serve the Model Context Protocol on standard input and output, for assistants that have\n" +
			"no shell: tools to orient, claim, checkpoint, escalate, verify, close, create, check,\n" +
			"recall, inbox and ack, the briefings as resources, and prompts to start and to hand over. A tool gives\n" +
			"what its command prints with --json, in at most 8,000 characters; a refusal is an error\n" +
			"of the tool. An interrupt ends the server and the checks that it runs.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig mcp\n  stig -C DIR mcp",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A client that is gone is an error of a write, and not the end of this
			// process, which has checks to end.
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
	serving context.Context // ends when the server ends, and with it what calls have started
	id      string          // tells its client from those of other servers
}

// protocol is the server as the protocol sees it.
func (s *server) protocol() *mcp.Server {
	p := mcp.NewServer(&mcp.Implementation{Name: "stig", Title: "stig", Version: cli.Version}, &mcp.ServerOptions{
		Instructions: "Issues in the repository are how workers here share what they know. Call orient before work, claim the issue " +
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

// looped is what a client that a worker loop started does otherwise; "" for others.
func (s *server) looped() string {
	if s.app.Getenv("STIG_RUN") == "" {
		return ""
	}
	return " A worker loop runs you: it claimed the issue, and merges, verifies and closes. Neither claim nor close: checkpoint, and end."
}

// call answers one call. Whatever is wrong with it is told by the result, so that the
// model reads it.
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

// both is the context of a call that ends with the server too.
func (s *server) both(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.serving, func() { cancel(context.Cause(s.serving)) })
	return ctx, func() { stop(); cancel(nil) }
}

// run is one call as the services see it, and what they said beside their result.
type run struct {
	*workspace.Run
	warnings []string
}

// run makes a run of its own for a call of a client, nil for one that does not say what
// it is.
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

// object is a result as the client gets it: with the warnings of the run, calls of
// tools instead of commands to type, nothing hidden in its texts, and not too long.
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
