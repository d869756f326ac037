package connect

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stig/internal/visible"
	"stig/internal/workspace"
)

const (
	surveyURI   = "stig://survey"
	briefingURI = "stig://issue/"
	jsonType    = "application/json"
)

// addReading adds what can be read without a tool call: the survey and the briefings as
// resources, and prompts that contain one of them with instructions.
func (s *server) addReading(p *mcp.Server) {
	p.AddResource(&mcp.Resource{URI: surveyURI, Name: "survey", Title: "Survey of all issues", MIMEType: jsonType,
		Description: "What needs attention, who works on what, what can be started, and one recommended next step."}, s.resource)
	p.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: briefingURI + "{id}", Name: "briefing", Title: "Briefing on one issue", MIMEType: jsonType,
		Description: "What to read before working on the issue."}, s.resource)
	issue := func(required bool) []*mcp.PromptArgument {
		return []*mcp.PromptArgument{{Name: "id", Title: "Issue", Description: "the id of an issue", Required: required}}
	}
	p.AddPrompt(&mcp.Prompt{Name: "start", Title: "Start work", Description: "Take an issue and read its briefing.", Arguments: issue(false)}, s.prompt(
		"Work on the issue of this briefing. Call claim with its id first; if that is refused, call ready and take another. Read what it is built on, do what "+
			"its acceptance criteria ask for, and call checkpoint when you learn something. What a person must decide goes to escalate. When the criteria pass, call close.",
		"Choose an issue from this survey: the one that next recommends, else the first that is ready. Call claim with its id, then orient with it, and work by its briefing."))
	p.AddPrompt(&mcp.Prompt{Name: "hand_over", Title: "Hand over", Description: "Leave the state of an issue for whoever comes next.", Arguments: issue(true)}, s.prompt(
		"Stop work on the issue of this briefing and leave its state for whoever comes next. Call checkpoint with its id and: surprise, how far the work was from its "+
			"description; progress; done; learned, what took you long to find out; remains, the next step first; downstream, what issues that depend on it should know. "+
			"Write what you saw, not what you hope. Call escalate for what a person must decide. If its acceptance criteria pass, call close instead.", ""))
}

// resource returns the survey or the briefing that a URI names, as orient does.
func (s *server) resource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id := ""
	if r.Params.URI != surveyURI {
		escaped, ok := strings.CutPrefix(r.Params.URI, briefingURI)
		var err error
		if id, err = url.PathUnescape(escaped); !ok || err != nil || id == "" {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
	}
	content, err := s.reading(ctx, id, r.ClientInfo())
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
}

// reading returns the briefing on an issue, or the survey if id is "".
func (s *server) reading(ctx context.Context, id string, client *mcp.Implementation) (*mcp.ResourceContents, error) {
	ctx, end := s.both(ctx)
	defer end()
	run := s.run(ctx, "orient", client)
	found, _, err := orientTool(ctx, run.Run, args{"id": id})
	if err != nil {
		f := workspace.Classify(err)
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: visible.Text(f.Message + "; " + toolHint(f.Hint))}
	}
	text, err := run.object(found)
	uri := surveyURI
	if id != "" {
		uri = briefingURI + url.PathEscape(id)
	}
	return &mcp.ResourceContents{URI: uri, MIMEType: jsonType, Text: string(text)}, err
}

// prompt returns a handler that answers with instructions and what to read: about with the
// briefing on an issue, without with the survey. If without is "", an issue is required.
func (s *server) prompt(about, without string) mcp.PromptHandler {
	return func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		id, say := strings.TrimSpace(r.Params.Arguments["id"]), about
		switch {
		case id == "" && without == "":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "id is missing; give the id of an issue"}
		case id == "":
			say = without
		}
		content, err := s.reading(ctx, id, r.ClientInfo())
		if err != nil {
			return nil, err
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
			{Role: "user", Content: &mcp.TextContent{Text: say}}, {Role: "user", Content: &mcp.EmbeddedResource{Resource: content}},
		}}, nil
	}
}
