package assistant

import (
	"encoding/json"
	"slices"
	"strings"
)

// anyServer matches the tools of all MCP servers: their names do not tell which of them run
// commands, write files or close issues.
const anyServer = "mcp_.*"

// serve reads a call of a tool of an MCP server: mcp__beads__close, mcp_beads_update (Gemini),
// beads-close (Copilot), MCP:close (Cursor, which does not name the server). ParseEvent reads
// the shell command of any tool.
func (e *Event) serve(tool string, input map[string]json.RawMessage) {
	parts := strings.FieldsFunc(strings.ToLower(tool), func(r rune) bool { return r == '_' || r == ':' || r == '-' })
	if len(parts) < 2 || parts[0] != "mcp" && !strings.Contains(tool, "-") {
		return
	}
	if input["owner"] != nil && input["repo"] != nil { // a forge's tool, whose files are elsewhere
		e.Writes = nil
		return
	}
	if slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(changing, part) || part == "move" || part == "rename" }) {
		for _, key := range []string{"source", "destination", "relative_path", "pathInProject"} {
			if file := word(input[key]); file != "" {
				e.Writes = append(e.Writes, file)
			}
		}
	}
	id := word(input["issue_id"])
	if named := strings.Contains(tool, ":") || strings.Contains(strings.ToLower(tool), "beads"); !named || id == "" {
		return
	}
	switch parts[len(parts)-1] {
	case "close":
		e.Closes = []string{id}
	case "update":
		if word(input["status"]) == "closed" {
			e.Closes = []string{id}
		}
	}
}
