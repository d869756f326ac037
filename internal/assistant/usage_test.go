package assistant_test

import (
	"strings"
	"testing"

	"stig/internal/assistant"
)

// Lines that real programs printed, shortened; the model was a stub.
const (
	claudeSaid   = `{"type":"assistant","message":{"content":[{"id":"toolu_1","input":{"command":"stig show demo-1","description":"Run it"},"name":"Bash","type":"tool_use"}],"id":"msg_2","model":"stand-in","role":"assistant","usage":{"input_tokens":10,"output_tokens":10}},"parent_tool_use_id":null,"session_id":"52eb"}`
	claudeResult = `{"type":"result","subtype":"success","is_error":false,"num_turns":4,"result":"Done.","session_id":"52eb","total_cost_usd":0.0012,"usage":{"input_tokens":40,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":40},"modelUsage":{"claude-opus":{"inputTokens":30,"outputTokens":40,"cacheReadInputTokens":8,"cacheCreationInputTokens":2,"costUSD":0.0012}}}`
	codexThread  = `{"type":"thread.started","thread_id":"01a2"}`
	codexTurn    = `{"type":"turn.completed","usage":{"input_tokens":40,"cached_input_tokens":30,"output_tokens":40,"reasoning_output_tokens":0}}`
	opencodeStep = `{"type":"step_finish","timestamp":1795756730267,"sessionID":"ses_d","part":{"id":"prt_1","reason":"tool-calls","sessionID":"ses_d","type":"step-finish","tokens":{"total":20,"input":10,"output":7,"reasoning":3,"cache":{"write":4,"read":1}},"cost":0.25}}`
	geminiLine   = `{"type":"result","status":"success","stats":{"total_tokens":80,"input_tokens":40,"output_tokens":40,"cached":0,"input":40,"duration_ms":302,"tool_calls":3,"models":{"gemini-2.5-flash":{"total_tokens":80,"input_tokens":40,"output_tokens":40,"cached":0,"input":40}}}}`
	geminiObject = "{\n  \"session_id\": \"s\",\n  \"response\": \"a } b\",\n  \"stats\": {\n    \"models\": {\n      \"gemini-2.5-pro\": {\n        \"api\": {},\n        \"tokens\": {\"prompt\": 30, \"candidates\": 5, \"total\": 42, \"cached\": 8, \"thoughts\": 6, \"tool\": 1}\n      }\n    }\n  }\n}"
)

func TestMeter(t *testing.T) {
	free := strings.Replace(opencodeStep, "0.25", "0", 1)
	for _, c := range []struct {
		name, output string
		cost         float64
		priced       bool
		in, out      int64
		unread       string
	}{
		{"nothing", "a text\n{ no JSON }\n[1, 2]\n", 0, false, 0, 0, ""},
		{"a price alone", `{"type":"result","total_cost_usd":12.5}`, 12.5, true, 0, 0, ""},
		{"in another order", `{"total_cost_usd":12.5, "session_id":"a", "type":"result"}`, 12.5, true, 0, 0, ""},
		{"over several lines", "{\n\"total_cost_usd\":\n12.5\n,\"type\":\"result\"\n}\n", 12.5, true, 0, 0, ""},
		{"a list", "[" + claudeSaid + "," + claudeResult + "]", 0.0012, true, 40, 40, ""},
		{"a list over several lines", "[\n" + claudeSaid + ",\n" + claudeResult + "\n]", 0.0012, true, 40, 40, ""},
		{"after what looks like JSON", "{\n  echo\n" + claudeResult + "\n", 0.0012, true, 40, 40, ""},
		{"within what never ends", "{\"a\": [\n" + claudeResult + "\n" + claudeSaid + "\n", 0.0012, false, 50, 50, ""},
		{"carriage returns", claudeSaid + "\r\n" + claudeResult + "\r\n", 0.0012, true, 40, 40, ""},
		{"the last result of a session", claudeResult + "\n" + strings.Replace(claudeResult, `usd":0.0012`, `usd":0.5`, 1), 0.5, true, 40, 40, ""},
		{"two sessions", claudeResult + "\n" + strings.Replace(strings.Replace(claudeResult, "52eb", "53", 1), `usd":0.0012`, `usd":0.5`, 1), 0.5012, true, 80, 80, ""},
		{"killed before its result", claudeSaid + "\n" + claudeSaid + "\n" + strings.Replace(claudeSaid, "msg_2", "msg_4", 1), 0, false, 20, 20, ""},
		{"one of two killed", claudeResult + "\n" + strings.Replace(claudeSaid, "52eb", "53", 1), 0.0012, false, 50, 50, ""},
		{"Codex", codexThread + "\n" + codexTurn, 0, false, 40, 40, ""},
		{"Codex: a turn counts what was before it", codexThread + "\n" + codexTurn + "\n" + strings.Replace(codexTurn, "40", "60", 1), 0, false, 60, 40, ""},
		{"Codex: two threads", codexThread + "\n" + codexTurn + "\n" + strings.Replace(codexThread, "01a2", "01b3", 1) + "\n" + codexTurn, 0, false, 80, 80, ""},
		{"OpenCode", opencodeStep + "\n" + opencodeStep + "\n" + strings.Replace(opencodeStep, "prt_1", "prt_2", 1), 0.5, true, 30, 20, ""},
		{"OpenCode without a price", free, 0, false, 15, 10, ""},
		{"Gemini", geminiLine, 0, false, 40, 40, ""},
		{"Gemini over several lines", geminiObject, 0, false, 31, 11, ""},
		{"a text as a price", `{"type":"result","total_cost_usd":"0,7"}`, 0, false, 0, 0, `total_cost_usd: "0,7"`},
		{"a refund", `{"type":"result","total_cost_usd":-2}`, 0, false, 0, 0, `total_cost_usd: -2`},
		{"no number at all", `{"type":"result","total_cost_usd":null}`, 0, false, 0, 0, ""},
		{"a line too long", `{"type":"user","x":"` + strings.Repeat("x", 5<<20) + "\"}\n" + claudeResult, 0.0012, true, 40, 40, ""},
		{"a long line", strings.Replace(claudeResult, "Done.", strings.Repeat("x", 1<<20), 1), 0.0012, true, 40, 40, ""},
	} {
		for _, size := range []int{len(c.output), 7} {
			if size = max(size, len(c.output)/100000); size == 0 {
				continue
			}
			m := assistant.NewMeter()
			for rest := c.output; rest != ""; rest = rest[min(size, len(rest)):] {
				_, _ = m.Write([]byte(rest[:min(size, len(rest))]))
			}
			u := m.Usage()
			if u.Cost != c.cost || u.IsPriced != c.priced || u.Tokens != (assistant.Tokens{In: c.in, Out: c.out}) || u.Unread != c.unread || u.IsSaid {
				t.Errorf("%s, %d bytes at once: %+v", c.name, size, u)
			}
		}
	}
}

func TestMeterTold(t *testing.T) {
	for _, c := range []struct {
		output   string
		sum      float64
		currency string
		said     bool
		unread   string
	}{
		{"", 0, "", false, ""},
		{"stig: cost=0.42 USD\nhello\nstig:  cost=1.08 USD\r\n", 1.5, "USD", true, ""},
		{"stig: cost=3", 3, "", true, ""},
		{"stig: cost=0 EUR\n", 0, "EUR", true, ""},
		{"a stig: cost=3\nstig: other=3\n", 0, "", false, ""},
		{"{\"a\": [\nstig: cost=3 USD\n", 3, "USD", true, ""},
		{"stig: cost=0,7 EUR", 0, "", false, "stig: cost=0,7 EUR"},
		{"stig: cost=NaN USD\nstig: cost=1 USD\n", 1, "USD", true, "stig: cost=NaN USD"},
		{"stig: cost=-3 USD", 0, "", false, "stig: cost=-3 USD"},
		{"stig: cost=Inf", 0, "", false, "stig: cost=Inf"},
		{"stig: cost=$3", 0, "", false, "stig: cost=$3"},
		{"stig: cost=", 0, "", false, "stig: cost="},
		{"stig: cost=3 US dollars", 0, "", false, "stig: cost=3 US dollars"},
	} {
		m := assistant.NewMeter()
		_, _ = m.Write([]byte(c.output))
		if u := m.Usage(); u.Said != c.sum || u.Currency != c.currency || u.IsSaid != c.said || u.Unread != c.unread {
			t.Errorf("%q: %+v", c.output, u)
		}
	}
}

func TestReadable(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{claudeSaid, "Bash: stig show demo-1"},
		{claudeResult, "end: success: Done."},
		{`{"type":"system","subtype":"init","session_id":"52eb","model":"claude-opus","tools":["Task"]}`, "session 52eb, claude-opus"},
		{`{"type":"assistant","message":{"content":[{"type":"text","text":"I look\nfirst."},{"type":"tool_use","name":"Edit","input":{"old_string":"a","file_path":"/x/gate.go"}}]},"session_id":"52eb"}`, "I look first.\nEdit: /x/gate.go"},
		{`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"all is well","is_error":false}]}}`, ""},
		{`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"exit \u001b[31m1"}],"is_error":true}]}}`, "  failed: exit \\x1b[31m1"},
		{`{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'go test'","aggregated_output":"FAIL x","exit_code":1,"status":"failed"}}`, "Bash: /bin/bash -lc 'go test'\n  failed: exit 1: FAIL x"},
		{`{"type":"item.completed","item":{"id":"item_4","type":"agent_message","text":"Done."}}`, "Done."},
		{`{"type":"item.completed","item":{"id":"item_5","type":"file_change","changes":[{"path":"a.go","kind":"update"}],"status":"completed"}}`, "update: a.go"},
		{`{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"x"}}`, ""},
		{codexTurn, "end of turn: 40 tokens read, 40 written"},
		{`{"type":"turn.failed","error":{"message":"rate limit"}}`, "failed: rate limit"},
		{`{"type":"tool_use","timestamp":1,"sessionID":"s","part":{"type":"tool","tool":"bash","state":{"status":"completed","input":{"command":"ls","description":"Run it"},"output":"x"}}}`, "bash: ls"},
		{opencodeStep, ""},
		{`{"type":"text","sessionID":"s","part":{"id":"p","type":"text","text":"Done."}}`, "Done."},
		{`{"type":"tool_use","tool_name":"write_file","tool_id":"w","parameters":{"content":"x","file_path":"gate.txt"}}`, "write_file: gate.txt"},
		{`{"type":"message","role":"assistant","content":"Done.","delta":true}`, "Done."},
		{geminiLine, "end: success"},
	} {
		if text, known := assistant.Readable(c.line); !known || text != c.want {
			t.Errorf("%s: %q, %v; want %q", c.line, text, known, c.want)
		}
	}
	for _, line := range []string{"", "a text", "{", `{"level":"info","msg":"x"}`, `{"type":"log","text":"x"}`, `{"type":"error-report"}`, "[1]"} {
		if text, known := assistant.Readable(line); known {
			t.Errorf("%s: %q", line, text)
		}
	}
}
