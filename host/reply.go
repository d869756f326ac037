package host

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
)

// replies are the forms in which a host reads what a hook answers.
type replies struct {
	context func(text string) []byte   // gives the assistant something to read at the start
	deny    func(reason string) []byte // keeps a tool from running
	goOn    func(reason string) []byte // keeps a session from stopping
	silence []byte                     // of a hook that has nothing to say; nil for no byte
	length  func(text string) int      // as the host counts where it limits a text
}

// claudeReplies are read by Claude Code, and by hosts that took over its hooks.
func claudeReplies() replies {
	return replies{
		context: func(text string) []byte {
			return specific("SessionStart", map[string]any{"additionalContext": text})
		},
		deny: func(reason string) []byte {
			return specific("PreToolUse", map[string]any{"permissionDecision": "deny", "permissionDecisionReason": reason})
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

// cursorReplies end in an object always: Cursor reads the last one that a login
// shell leaves on standard output. Where the shell's profile prints something and
// no object follows, it denies every command.
func cursorReplies() replies {
	return replies{
		context: func(text string) []byte { return reply(map[string]any{"additional_context": text}) },
		deny: func(reason string) []byte {
			return reply(map[string]any{"permission": "deny", "user_message": reason, "agent_message": reason})
		},
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

// Deny is the reply that keeps a tool from running, with the reason, which the
// assistant reads.
func (h Host) Deny(reason string) []byte { return h.replies().deny(reason) }

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
