package assistant

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"stig/internal/visible"
)

// Event is what a host passed to a hook. Fields that the host did not pass are zero.
type Event struct {
	Name    string   // as the host calls the event
	Session string   // identifies the session
	Agent   string   // identifies the subagent; "" for the session itself
	Cleared bool     // the session started because another one in the same program was cleared
	Forgot  bool     // the session lost its initial context, which was cleared or summarized
	Dir     string   // working directory of the session, absolute
	Command string   // shell command about to run
	Writes  []string // files that another tool is about to write, absolute or relative to Dir
	Closes  []string // issues that a tool of bd's server is about to close
	Again   bool     // the session continues only because a hook kept it from stopping
}

// ParseEvent parses what a host wrote to a hook. It does not need to know the host, because the
// keys of the hosts do not overlap. Text that is not a JSON object, and values of an unexpected
// type, count as absent.
func ParseEvent(text []byte) Event {
	said := object(text)
	input := object(said["tool_input"])
	event := Event{
		Name:    first(said, "hook_event_name"),
		Session: first(said, "session_id", "conversation_id"),
		Agent:   first(said, "agent_id"),
		Cleared: word(said["source"]) == "clear",
		Forgot:  word(said["source"]) == "clear" || word(said["source"]) == "compact",
		Dir:     first(said, "cwd"),
		Writes:  writes(word(said["tool_name"]), input),
	}
	event.serve(word(said["tool_name"]), input)
	if len(event.Writes) == 0 { // a patch uses the same key as a command
		event.Command = command(said, input)
	}
	if roots := words(said["workspace_roots"]); event.Dir == "" && len(roots) > 0 {
		event.Dir = roots[0]
	}
	var loops float64
	if json.Unmarshal(said["stop_hook_active"], &event.Again) != nil {
		event.Again = json.Unmarshal(said["loop_count"], &loops) == nil && loops > 0
	}
	return event
}

// command returns the shell command of an event. It is in the event itself (Cursor) or in the
// input of a tool, as a string or as a list of words.
func command(said, input map[string]json.RawMessage) string {
	for _, value := range []json.RawMessage{said["command"], input["command"], input["cmd"]} {
		if text := word(value); text != "" {
			return within(first(input, "dir_path", "workdir"), text)
		}
		if list := words(value); len(list) > 0 {
			return typed(list)
		}
	}
	return ""
}

// within returns the command line that runs command in dir (Gemini, OpenCode) from the
// session's directory.
func within(dir, command string) string {
	if dir == "" {
		return command
	}
	return typed([]string{"cd", "--", dir}) + " && " + command
}

// typed quotes words for a shell and joins them.
func typed(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = visible.InQuotes(text)
	}
	return strings.Join(quoted, " ")
}

// changing lists parts of the names of tools that write files: Edit, MultiEdit, NotebookEdit,
// Write, write_file, replace, StrReplace, apply_patch, Delete.
var changing = []string{"edit", "write", "replace", "patch", "delete", "create", "insert"}

// writes returns the files that a tool is about to write.
func writes(tool string, input map[string]json.RawMessage) (files []string) {
	tool = strings.ToLower(tool)
	if !slices.ContainsFunc(changing, func(part string) bool { return strings.Contains(tool, part) }) {
		return nil
	}
	for _, key := range []string{"file_path", "path", "notebook_path", "absolute_path", "target_file", "filePath"} {
		if file := word(input[key]); file != "" {
			files = append(files, file)
		}
	}
	for _, key := range []string{"command", "input", "patch", "patchText"} {
		files = append(files, patched(word(input[key]))...)
	}
	return files
}

// patched returns the files that a patch in Codex's format touches.
func patched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if file, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
				files = append(files, strings.TrimSpace(file))
			}
		}
	}
	return files
}

// replies encodes what a hook answers in the form that a host reads.
type replies struct {
	context func(text string) []byte        // gives the assistant a text at the start
	agent   func(text string) []byte        // gives a starting subagent a text; nil if the host does not report subagents
	deny    func(reason string) []byte      // blocks a tool call
	after   func(event, text string) []byte // gives the assistant a text after a tool ran
	goOn    func(reason string) []byte      // keeps a session from stopping
	silence []byte                          // output of a hook with nothing to say; nil for no output
	length  func(text string) int           // length as the host counts it against its limit
}

// claudeReplies are the replies for Claude Code and for hosts that adopted its hooks.
func claudeReplies() replies {
	return replies{
		context: func(text string) []byte {
			return specific("SessionStart", map[string]any{"additionalContext": text})
		},
		agent: func(text string) []byte {
			return specific("SubagentStart", map[string]any{"additionalContext": text})
		},
		deny: func(reason string) []byte {
			return specific("PreToolUse", map[string]any{"permissionDecision": "deny", "permissionDecisionReason": reason})
		},
		after: func(event, text string) []byte {
			return specific(event, map[string]any{"additionalContext": text})
		},
		goOn:   func(reason string) []byte { return reply(map[string]any{"decision": "block", "reason": reason}) },
		length: inUTF16,
	}
}

func codexReplies() replies {
	r := claudeReplies()
	r.length = func(text string) int { return len(text) }
	return r
}

func geminiReplies() replies {
	r := claudeReplies()
	r.deny = func(reason string) []byte { return reply(map[string]any{"decision": "deny", "reason": reason}) }
	r.goOn = r.deny
	return r
}

// copilotReplies contain the keys of Copilot CLI and those of VS Code, which are Claude Code's;
// each ignores the other's.
func copilotReplies() replies {
	r := claudeReplies()
	r.context = func(text string) []byte {
		return both("SessionStart", map[string]any{"additionalContext": text})
	}
	r.deny = func(reason string) []byte {
		return both("PreToolUse", map[string]any{"permissionDecision": "deny", "permissionDecisionReason": reason})
	}
	r.after = func(event, text string) []byte { return both(event, map[string]any{"additionalContext": text}) }
	return r
}

// both writes keys at the top level and also nested, as specific does.
func both(event string, keys map[string]any) []byte {
	top := maps.Clone(keys)
	keys["hookEventName"] = event
	top["hookSpecificOutput"] = keys
	return reply(top)
}

// cursorReplies always end in an object: Cursor reads the last one that a login shell writes to
// standard output. If the shell's profile prints something and no object follows, Cursor denies
// every command.
func cursorReplies() replies {
	return replies{
		context: func(text string) []byte { return reply(map[string]any{"additional_context": text}) },
		deny: func(reason string) []byte {
			return reply(map[string]any{"permission": "deny", "user_message": reason, "agent_message": reason})
		},
		after:   func(_, text string) []byte { return reply(map[string]any{"additional_context": text}) },
		goOn:    func(reason string) []byte { return reply(map[string]any{"followup_message": reason}) },
		silence: reply(map[string]any{}),
		length:  inUTF16,
	}
}

// inUTF16 returns the length of text in UTF-16 code units.
func inUTF16(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// Context returns the reply that gives the assistant a text at the start of a session.
func (h Host) Context(text string) []byte { return h.replies().context(text) }

// Agent returns the reply that gives a starting subagent a text.
func (h Host) Agent(text string) []byte {
	if h.replies().agent == nil {
		return h.Silence()
	}
	return h.replies().agent(text)
}

// Deny returns the reply that blocks a tool call. The assistant reads the reason.
func (h Host) Deny(reason string) []byte { return h.replies().deny(reason) }

// After returns the reply that gives the assistant a text after a tool ran.
func (h Host) After(event, text string) []byte { return h.replies().after(event, text) }

// GoOn returns the reply that keeps a session from stopping; reason says what to do first.
func (h Host) GoOn(reason string) []byte { return h.replies().goOn(reason) }

// Nothing returns the reply that requests nothing.
func (h Host) Nothing() []byte { return reply(map[string]any{}) }

// Silence returns what a hook writes if it has nothing to say; nil for no output.
func (h Host) Silence() []byte { return h.replies().silence }

// Length returns the length of text as the host counts it against its limit.
func (h Host) Length(text string) int { return h.replies().length(text) }

func specific(event string, keys map[string]any) []byte {
	keys["hookEventName"] = event
	return reply(map[string]any{"hookSpecificOutput": keys})
}

// reply encodes body as one line of JSON. Invalid UTF-8 becomes U+FFFD.
func reply(body map[string]any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return []byte("{}\n") // cannot happen: only strings are encoded
	}
	return text.Bytes()
}

// object parses the first JSON object in text; nil if there is none.
func object(text []byte) map[string]json.RawMessage {
	var keys map[string]json.RawMessage
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if json.NewDecoder(bytes.NewReader(text)).Decode(&keys) != nil {
		return nil
	}
	return keys
}

func first(keys map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		if text := word(keys[name]); text != "" {
			return text
		}
	}
	return ""
}

func word(value json.RawMessage) (text string) {
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

func words(value json.RawMessage) (list []string) {
	if json.Unmarshal(value, &list) != nil {
		return nil
	}
	return list
}
