package assistant_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"stig/internal/assistant"
)

func TestParseEvent(t *testing.T) {
	tests := map[string]struct {
		text string
		want assistant.Event
	}{
		"claude": {`{"session_id":"1","cwd":"/srv","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -l"}}`,
			assistant.Event{Name: "PreToolUse", Session: "1", Dir: "/srv", Command: "ls -l"}},
		"claude edits": {`{"tool_name":"MultiEdit","tool_input":{"file_path":"a.go","edits":[]}}`,
			assistant.Event{Writes: []string{"a.go"}}},
		"claude notebook": {`{"tool_name":"NotebookEdit","tool_input":{"notebook_path":"a.ipynb"}}`,
			assistant.Event{Writes: []string{"a.ipynb"}}},
		"claude reads":          {`{"tool_name":"Read","tool_input":{"file_path":"a.go"}}`, assistant.Event{}},
		"claude closes":         {`{"tool_name":"mcp__beads__close","tool_input":{"issue_id":"demo-1","reason":"done"}}`, assistant.Event{Closes: []string{"demo-1"}}},
		"claude plugin":         {`{"tool_name":"mcp__plugin_beads_beads__update","tool_input":{"issue_id":"demo-1","status":"closed"}}`, assistant.Event{Closes: []string{"demo-1"}}},
		"claude opens":          {`{"tool_name":"mcp__beads__update","tool_input":{"issue_id":"demo-1","status":"open"}}`, assistant.Event{}},
		"claude shows":          {`{"tool_name":"mcp__beads__show","tool_input":{"issue_id":"demo-1"}}`, assistant.Event{}},
		"claude closes by stig": {`{"tool_name":"mcp__stig__close","tool_input":{"ids":["demo-1"],"reason":"done"}}`, assistant.Event{}},
		"claude monitors":       {`{"tool_name":"Monitor","tool_input":{"command":"bd close demo-1","description":"x","persistent":false}}`, assistant.Event{Command: "bd close demo-1"}},
		"claude powershell":     {`{"tool_name":"PowerShell","tool_input":{"command":"bd close demo-1"}}`, assistant.Event{Command: "bd close demo-1"}},
		"a server's shell":      {`{"tool_name":"mcp__shell__execute_command","tool_input":{"command":"bd close demo-1"}}`, assistant.Event{Command: "bd close demo-1"}},
		"a server writes":       {`{"tool_name":"mcp__filesystem__write_file","tool_input":{"path":".beads/issues.jsonl","content":"{}"}}`, assistant.Event{Writes: []string{".beads/issues.jsonl"}}},
		"a server moves":        {`{"tool_name":"mcp_filesystem_move_file","tool_input":{"source":"a","destination":"b"}}`, assistant.Event{Writes: []string{"a", "b"}}},
		"a server replaces":     {`{"tool_name":"mcp__serena__replace_content","tool_input":{"relative_path":"a.go","needle":"x"}}`, assistant.Event{Writes: []string{"a.go"}}},
		"a server reads":        {`{"tool_name":"mcp__filesystem__read_file","tool_input":{"path":".beads/issues.jsonl"}}`, assistant.Event{}},
		"a forge writes":        {`{"tool_name":"mcp__github__create_or_update_file","tool_input":{"owner":"a","repo":"b","path":".beads/issues.jsonl"}}`, assistant.Event{}},
		"another tracker":       {`{"tool_name":"mcp__linear__close","tool_input":{"issue_id":"LIN-1"}}`, assistant.Event{}},
		"beads notes":           {`{"tool_name":"mcp__beads__update","tool_input":{"issue_id":"demo-1","notes":"x"}}`, assistant.Event{}},
		"cursor's servers":      {`{"tool_name":"MCP:update","tool_input":{"issue_id":"demo-1","status":"closed","notes":"x"}}`, assistant.Event{Closes: []string{"demo-1"}}},
		"a tool of no server":   {`{"tool_name":"close","tool_input":{"issue_id":"demo-1"}}`, assistant.Event{}},
		"claude starts anew":    {`{"session_id":"1","hook_event_name":"SessionStart","source":"clear"}`, assistant.Event{Name: "SessionStart", Session: "1", Cleared: true, Forgot: true}},
		"claude goes on":        {`{"session_id":"1","hook_event_name":"SessionStart","source":"resume"}`, assistant.Event{Name: "SessionStart", Session: "1"}},
		"claude's subagent":     {`{"session_id":"1","agent_id":"a6","agent_type":"explore","hook_event_name":"SubagentStart"}`, assistant.Event{Name: "SubagentStart", Session: "1", Agent: "a6"}},
		"claude stops":          {`{"session_id":"1","stop_hook_active":true}`, assistant.Event{Session: "1", Again: true}},
		"codex shell, once":     {`{"tool_name":"shell","tool_input":{"command":["bash","-lc","echo 'a b'"]}}`, assistant.Event{Command: `'bash' '-lc' 'echo '\''a b'\'''`}},
		"codex patch": {`{"tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n+bd close x\n*** End Patch"}}`,
			assistant.Event{Writes: []string{"a.go", "b.go"}}},
		"gemini":           {`{"tool_name":"run_shell_command","tool_input":{"command":"ls"}}`, assistant.Event{Command: "ls"}},
		"gemini below":     {`{"tool_name":"run_shell_command","tool_input":{"command":"ls; pwd","dir_path":"it's"}}`, assistant.Event{Command: `'cd' '--' 'it'\''s' && ls; pwd`}},
		"gemini closes":    {`{"tool_name":"mcp_beads_close","tool_input":{"issue_id":"demo-1"},"mcp_context":{"server_name":"beads"}}`, assistant.Event{Closes: []string{"demo-1"}}},
		"copilot closes":   {`{"tool_name":"beads-close","tool_input":{"issue_id":"demo-1"}}`, assistant.Event{Closes: []string{"demo-1"}}},
		"opencode":         {`{"tool_name":"bash","tool_input":{"command":"ls","workdir":"a"}}`, assistant.Event{Command: "'cd' '--' 'a' && ls"}},
		"opencode edits":   {`{"tool_name":"edit","tool_input":{"filePath":"a.go"}}`, assistant.Event{Writes: []string{"a.go"}}},
		"opencode patches": {`{"tool_name":"apply_patch","tool_input":{"patchText":"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"}}`, assistant.Event{Writes: []string{"a.go"}}},
		"cursor closes":    {`{"tool_name":"MCP:close","tool_input":{"issue_id":"demo-1"}}`, assistant.Event{Closes: []string{"demo-1"}}},
		"gemini new":       {`{"tool_name":"write_file","tool_input":{"file_path":"/srv/a","content":"bd close x"}}`, assistant.Event{Writes: []string{"/srv/a"}}},
		"cursor": {`{"conversation_id":"c","workspace_roots":["/srv","/b"],"command":"ls"}`,
			assistant.Event{Session: "c", Dir: "/srv", Command: "ls"}},
		"cursor stops":     {`{"conversation_id":"c","loop_count":0}`, assistant.Event{Session: "c"}},
		"cursor goes on":   {`{"conversation_id":"c","loop_count":2}`, assistant.Event{Session: "c", Again: true}},
		"byte order mark":  {"\ufeff" + `{"session_id":"1"}`, assistant.Event{Session: "1"}},
		"more behind":      {`{"session_id":"1"} {"session_id":"2"}`, assistant.Event{Session: "1"}},
		"odd values":       {`{"session_id":1,"cwd":["a"],"tool_name":null,"tool_input":"x","workspace_roots":7,"loop_count":"x"}`, assistant.Event{}},
		"cut short":        {`{"session_id":"1"`, assistant.Event{}},
		"a list":           {`[{"session_id":"1"}]`, assistant.Event{}},
		"nothing":          {``, assistant.Event{}},
		"bytes not UTF-8":  {"{\"session_id\":\"\xff\"}", assistant.Event{Session: "\ufffd"}},
		"deeper than that": {strings.Repeat("[", 20000), assistant.Event{}},
	}
	for name, test := range tests {
		if got := assistant.ParseEvent([]byte(test.text)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

func TestLengthCountsAsHostsDo(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "🚢": 2, "\xff": 1, "a\u0301": 2} {
		if got := assistant.Claude.Length(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
		if got := assistant.Codex.Length(text); got != len(text) {
			t.Errorf("codex: %q: %d, want %d", text, got, len(text))
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"session_id":"1","cwd":"/srv","tool_name":"Edit","tool_input":{"command":["a"],"file_path":"b"}}`))
	f.Add([]byte("{\"cwd\":\"\xff\",\"loop_count\":1e400}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		event := assistant.ParseEvent(text)
		for _, h := range assistant.Hosts() {
			for _, reply := range [][]byte{h.Context(event.Command), h.Deny(event.Command), h.GoOn(string(text)), h.Nothing()} {
				if !json.Valid(reply) {
					t.Errorf("%s: %q", h, reply)
				}
			}
		}
	})
}
