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

// Event is what a host passed to a hook. What it did not pass is zero.
type Event struct {
	Name    string   // of the event, as the host calls it
	Session string   // identifies the session
	Agent   string   // identifies the subagent that it is about; "" for the session itself
	Cleared bool     // a session starts because another one in the same program was cleared
	Forgot  bool     // it goes on without what it began with, which was cleared or summarized
	Dir     string   // where the session works, absolute
	Command string   // the shell command that is about to run
	Writes  []string // the files that another tool is about to write, relative to Dir or absolute
	Closes  []string // the issues that a tool of bd's server is about to close
	Again   bool     // the session goes on only because a hook asked for it when it was to stop
}

// ParseEvent reads what a host wrote to a hook. The keys of the hosts do not overlap, so it
// need not know which host it is. What is no JSON object, and values of an unexpected type,
// count as absent.
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
	if len(event.Writes) == 0 { // a patch stands where a command does
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

// command finds a shell command under the names that the hosts give it: the
// event itself has one (Cursor), or the input of a tool, as a text or as a list
// of words.
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

// within is a command that a tool runs in a directory (Gemini, OpenCode), as one that is
// run where the session works.
func within(dir, command string) string {
	if dir == "" {
		return command
	}
	return typed([]string{"cd", "--", dir}) + " && " + command
}

// typed writes words as a shell would take them.
func typed(list []string) string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = visible.InQuotes(text)
	}
	return strings.Join(quoted, " ")
}

// changing are parts of the names of tools that write files: Edit, MultiEdit,
// NotebookEdit, Write, write_file, replace, StrReplace, apply_patch, Delete.
var changing = []string{"edit", "write", "replace", "patch", "delete", "create", "insert"}

// writes lists the files that a tool is about to write.
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

// patched lists the files that a patch of Codex's kind touches.
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

// replies are the forms in which a host reads what a hook answers.
type replies struct {
	context func(text string) []byte        // gives the assistant something to read at the start
	agent   func(text string) []byte        // gives it to a subagent that starts; nil where the host tells of none
	deny    func(reason string) []byte      // keeps a tool from running
	after   func(event, text string) []byte // gives the assistant something to read after a tool ran
	goOn    func(reason string) []byte      // keeps a session from stopping
	silence []byte                          // of a hook that has nothing to say; nil for no byte
	length  func(text string) int           // as the host counts where it limits a text
}

// claudeReplies are read by Claude Code, and by hosts that took over its hooks.
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

// copilotReplies have the keys of Copilot CLI, and those of VS Code, which are Claude
// Code's; each ignores the other's.
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

// both gives keys at the top, and as specific does.
func both(event string, keys map[string]any) []byte {
	top := maps.Clone(keys)
	keys["hookEventName"] = event
	top["hookSpecificOutput"] = keys
	return reply(top)
}

// cursorReplies end in an object always: Cursor reads the last one that a login
// shell leaves on standard output. Where the shell's profile prints something and
// no object follows, it denies every command.
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

// inUTF16 counts rare characters twice.
func inUTF16(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// Context is the reply at the start of a session that gives the assistant
// something to read.
func (h Host) Context(text string) []byte { return h.replies().context(text) }

// Agent is the reply at the start of a subagent that gives it something to read.
func (h Host) Agent(text string) []byte {
	if h.replies().agent == nil {
		return h.Silence()
	}
	return h.replies().agent(text)
}

// Deny is the reply that keeps a tool from running, with the reason, which the
// assistant reads.
func (h Host) Deny(reason string) []byte { return h.replies().deny(reason) }

// After is the reply to an event after a tool ran that gives the assistant something
// to read.
func (h Host) After(event, text string) []byte { return h.replies().after(event, text) }

// GoOn is the reply that keeps a session from stopping, with what to do first.
func (h Host) GoOn(reason string) []byte { return h.replies().goOn(reason) }

// Nothing is the reply that asks for nothing.
func (h Host) Nothing() []byte { return reply(map[string]any{}) }

// Silence is what a hook writes when it has nothing to say; nil for no byte.
func (h Host) Silence() []byte { return h.replies().silence }

// Length counts the characters of a text as the host does when it limits it.
func (h Host) Length(text string) int { return h.replies().length(text) }

func specific(event string, keys map[string]any) []byte {
	keys["hookEventName"] = event
	return reply(map[string]any{"hookSpecificOutput": keys})
}

// reply encodes one JSON object on a line. Bytes that are not UTF-8 become
// U+FFFD, as they must in JSON.
func reply(body map[string]any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return []byte("{}\n") // texts alone are encoded, which cannot fail
	}
	return text.Bytes()
}

// object reads the first JSON object of a text; nil when there is none.
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
