package assistant

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"stig/internal/visible"
)

// mostShown is the maximum length of a text, or of a command, in a readable line, in
// characters.
const mostShown = 300

// Readable summarizes an event in a line of output for people: the tool, the file or the
// command, a short text. known is false for any other line, which is shown as it is; text is ""
// for an event that says nothing new.
func Readable(line string) (text string, known bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "{") {
		return "", false
	}
	e, ok := eventOf([]byte(line))
	if !ok {
		return "", false
	}
	return e.readable()
}

func (e event) readable() (text string, known bool) {
	for _, read := range []func(event) (string, bool){event.ofClaude, event.ofCodex, event.ofOpenCode, event.ofGemini} {
		if text, known := read(e); known {
			return text, true
		}
	}
	return "", false
}

// ReadableText returns text with readable lines in place of events.
func ReadableText(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch said, known := Readable(line); {
		case !known:
			b.WriteString(line)
		case said != "":
			b.WriteString(said + "\n")
		}
	}
	return b.String()
}

func (e event) ofClaude() (string, bool) {
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			return began(e.Session, e.Model), true
		}
		return "", e.Session != ""
	case "assistant", "user":
		var m message
		var list []content
		if json.Unmarshal(e.Message, &m) != nil || json.Unmarshal(m.Content, &list) != nil {
			return "", m.Content != nil
		}
		var lines []string
		for _, c := range list {
			switch {
			case c.Type == "text" && e.Type == "assistant":
				lines = append(lines, short(c.Text))
			case c.Type == "tool_use":
				lines = append(lines, called(c.Name, c.Input))
			case c.Type == "tool_result" && c.IsError:
				lines = append(lines, "  failed: "+short(textOf(c.Content)))
			}
		}
		return linesOf(lines), true
	case "result":
		if e.Stats != nil || e.Subtype == "" { // otherwise it is another program's
			return "", false
		}
		return ended(cmp.Or(e.Subtype, "end"), e.Result), true
	case "rate_limit_event", "stream_event", "tool_progress", "tool_use_summary", "auth_status":
		return "", true
	}
	return "", false
}

func (e event) ofCodex() (string, bool) {
	switch e.Type {
	case "thread.started":
		return began(e.Thread, ""), true
	case "turn.started", "item.started", "item.updated":
		return "", true
	case "turn.completed":
		if e.Usage == nil {
			return "", true
		}
		return fmt.Sprintf("end of turn: %d tokens read, %d written", e.Usage.In, e.Usage.Out), true
	case "turn.failed", "error":
		var m struct{ Message string }
		_ = json.Unmarshal(e.Error, &m) // the message may be next to the type instead
		return "failed: " + short(cmp.Or(m.Message, textOf(e.Message), string(e.Error))), true
	case "item.completed":
		if e.Item == nil {
			return "", true
		}
		return e.Item.text(), true
	}
	return "", false
}

func (i *item) text() string {
	switch i.Type {
	case "command_execution":
		text := "Bash: " + short(i.Command)
		if i.Exit != nil && *i.Exit != 0 {
			text += fmt.Sprintf("\n  failed: exit %d: %s", *i.Exit, short(i.Output))
		}
		return text
	case "file_change":
		var lines []string
		for _, c := range i.Changes {
			lines = append(lines, cmp.Or(c.Kind, "change")+": "+short(c.Path))
		}
		return linesOf(lines)
	case "mcp_tool_call":
		return i.Server + " " + i.Tool
	case "web_search":
		return "search: " + short(i.Query)
	case "error":
		return "warning: " + short(i.Message)
	case "reasoning":
		return ""
	}
	return short(i.Text)
}

func (e event) ofOpenCode() (string, bool) {
	if e.Part == nil {
		return "", false
	}
	switch e.Type {
	case "text":
		return short(e.Part.Text), true
	case "tool_use":
		text := called(e.Part.Tool, e.Part.State.Input)
		if e.Part.State.Error != "" {
			text += "\n  failed: " + short(e.Part.State.Error)
		}
		return text, true
	}
	return "", true
}

func (e event) ofGemini() (string, bool) {
	switch e.Type {
	case "init":
		return began(e.Session, e.Model), true
	case "message":
		if e.Role != "assistant" {
			return "", true
		}
		return short(e.Content), true
	case "tool_use":
		return called(e.ToolName, e.Parameters), true
	case "tool_result":
		if e.Status == "success" {
			return "", true
		}
		return "  failed: " + short(e.Output), true
	case "result":
		return ended(cmp.Or(e.Status, "end"), ""), true
	}
	return "", false
}

func began(session, model string) string {
	text := "session " + session
	if model != "" {
		text += ", " + model
	}
	return text
}

func ended(how, text string) string {
	if text == "" {
		return "end: " + how
	}
	return "end: " + how + ": " + short(text)
}

// called returns a tool with its main argument: a command, a file, or another string.
func called(tool string, input json.RawMessage) string {
	var given map[string]any
	_ = json.Unmarshal(input, &given) // if it is not an object, only the tool is shown
	for _, key := range []string{"command", "cmd", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "description", "prompt"} {
		if text, ok := given[key].(string); ok && text != "" {
			return tool + ": " + short(text)
		}
	}
	return tool
}

// textOf returns a string, or the texts of a list of content.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []content
	_ = json.Unmarshal(raw, &list) // anything else has no text
	for _, c := range list {
		text += c.Text
	}
	return text
}

// short returns text on one line, cut to mostShown.
func short(text string) string {
	return visible.Clipped(visible.Text(visible.OneLine(text)), mostShown)
}

func linesOf(lines []string) string {
	var said []string
	for _, line := range lines {
		if line != "" {
			said = append(said, line)
		}
	}
	return strings.Join(said, "\n")
}
