package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stig/internal/testkit/ended"
)

// TestMCPReading checks that the survey and briefings are resources, and that prompts include
// them.
func TestMCPReading(t *testing.T) {
	session, _ := serve(t)
	for uri, want := range map[string]string{"stig://survey": "survey", "stig://issue/harbor-9fd.3": "briefing"} {
		read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(read.Contents) != 1 || !strings.HasPrefix(read.Contents[0].Text, `{"schema_version":1,"kind":"`+want+`"`) || utf8.RuneCountInString(read.Contents[0].Text) > 8000 {
			t.Errorf("%s: %+v, %v", uri, read, err)
		}
	}
	for _, uri := range []string{"stig://issue/harbor-nowhere", "stig://issue/", "stig://else"} {
		if read, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %+v", uri, read)
		}
	}
	for _, tt := range []struct{ name, id, say, uri string }{
		{"start", "", "Choose", "stig://survey"}, {"start", "harbor-9fd.3", "Call claim", "stig://issue/harbor-9fd.3"},
		{"hand_over", "harbor-9fd.3", "Call checkpoint", "stig://issue/harbor-9fd.3"},
	} {
		got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: tt.name, Arguments: map[string]string{"id": tt.id}})
		if err != nil || len(got.Messages) != 2 || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, tt.say) ||
			got.Messages[1].Content.(*mcp.EmbeddedResource).Resource.URI != tt.uri {
			t.Errorf("%v: %+v, %v", tt, got, err)
		}
	}
	if got, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "hand_over"}); err == nil {
		t.Errorf("%+v", got)
	}
}

// TestMCPActor: a client without a configured name is an agent of its own, so that the person
// may answer its questions, and two such clients are different actors.
func TestMCPActor(t *testing.T) {
	t.Parallel()
	dir := harbor(t)
	runGit(t, dir, "config", "user.name", "Mara Lee")
	start := func(env ...string) *mcp.ClientSession {
		cmd := server(dir)
		cmd.Env = append(append(cmd.Env, "STIG_ACTOR=", "BD_ACTOR=", "STIG_RUN="), env...)
		return connectTo(t, mcp.NewClient(&mcp.Implementation{Name: "Claude AI"}, nil), cmd)
	}
	one, two := start(), start()
	name := regexp.MustCompile(`^mara-lee/claude-ai-[a-z0-9]{4,}$`)
	first, failed := call(t, one, "claim", map[string]any{"id": "harbor-4ke.4"})
	if who := fmt.Sprint(first["assignee"]); failed || !name.MatchString(who) {
		t.Fatalf("%v", first)
	}
	if again, failed := call(t, two, "claim", map[string]any{"id": "harbor-4ke.4"}); !failed {
		t.Errorf("two clients have it: %v", again)
	}
	if inbox, _ := call(t, one, "inbox", nil); inbox["actor"] != first["assignee"] {
		t.Errorf("%v after %v", inbox, first)
	}
	if object, failed := call(t, one, "escalate", map[string]any{"id": "harbor-4ke.4", "question": "Which quay first?"}); failed {
		t.Fatalf("%v", object)
	}
	answer := server(dir)
	answer.Args = []string{"stig", "-C", dir, "resolve", "harbor-4ke.4", "-m", "The northern one"}
	answer.Env = append(answer.Env, "STIG_ACTOR=", "BD_ACTOR=", "STIG_RUN=")
	if out, err := answer.CombinedOutput(); err != nil {
		t.Errorf("the person cannot answer: %v: %s", err, out)
	}
	if inbox, _ := call(t, start("STIG_ACTOR=bo"), "inbox", nil); inbox["actor"] != "bo" {
		t.Errorf("%v", inbox)
	}
}

// TestMCPBounded checks that results are short for a store in which everything is wrong.
func TestMCPBounded(t *testing.T) {
	t.Parallel()
	session, dir := serve(t)
	var lines strings.Builder
	for i := range 300 {
		fmt.Fprintf(&lines, `{"id":"demo-%d","title":"%s","status":"open","issue_type":"task","dependencies":[{"issue_id":"demo-%d","depends_on_id":"demo-x%d","type":"blocked-by"}]}`+"\n", i, strings.Repeat("long ", 100), i, i)
	}
	lines.WriteString(`{"id":"demo-x","title":"fails","status":"open","issue_type":"task","acceptance_criteria":"` +
		"```verify\\nfor i in $(seq 999); do echo a long line of output that says little, and says it again; done; exit 1\\n```" + `"}` + "\n")
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for tool, arguments := range map[string]map[string]any{
		"check": nil, "orient": nil, "ready": {"limit": 3000}, "recall": {"words": "long", "limit": 3000}, "verify": {"id": "demo-x"},
	} {
		object, failed := call(t, session, tool, arguments) // it checks the length
		if failed || tool != "orient" && tool != "verify" && !strings.Contains(fmt.Sprint(object["left_out"]), "ask for less") {
			t.Errorf("%s: %v", tool, object)
		}
	}
	if object, _ := call(t, session, "check", nil); object["diagnostics"].([]any)[0].(map[string]any)["severity"] == "info" {
		t.Errorf("not the worst first: %v", object)
	}
}

// slow creates a store of one issue with a check that runs until it is killed, and returns the
// path of the file to which the check writes its process id.
func slow(t *testing.T, dir string) (pid string) {
	t.Helper()
	line := `{"id":"demo-1","title":"slow","status":"open","acceptance_criteria":"` +
		"```verify\\ntrap '' TERM INT HUP; echo $$ > pid.new; mv pid.new pid; while :; do sleep 0.1; done\\n```" + `"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "pid")
}

// TestMCPProgress: a client that asks for progress gets it, and a cancelled call ends together
// with its check.
func TestMCPProgress(t *testing.T) {
	t.Parallel()
	dir := harbor(t)
	pid := slow(t, dir)
	told := make(chan *mcp.ProgressNotificationParams, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told <- r.Params },
	})
	session := connectTo(t, client, server(dir))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "verify", Arguments: map[string]any{"id": "demo-1"}, Meta: mcp.Meta{"progressToken": "p"}})
		done <- err
	}()
	last := 0.0
	for range 2 {
		p := <-told
		if p.Progress <= last || !strings.HasPrefix(p.Message, "trap ''") || p.ProgressToken != "p" {
			t.Errorf("%+v after %v", p, last)
		}
		last = p.Progress
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ended.Wait(t, pid)
}

// hello starts a session.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// TestMCPEnds: the server and its checks end within a second of a signal. On a busy machine one
// may be late.
func TestMCPEnds(t *testing.T) {
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(by) { // as hangups are under nohup, which the processes of these tests inherit
			continue
		}
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			var late []time.Duration
			for len(late) < 3 {
				took := endsBy(t, by)
				if took <= time.Second {
					return
				}
				late = append(late, took)
			}
			t.Errorf("ended after %v", late)
		})
	}
}

// endsBy sends a signal to a server that runs a check, and returns how long it takes to end.
func endsBy(t *testing.T, signal syscall.Signal) time.Duration {
	t.Helper()
	dir := harbor(t)
	pid := slow(t, dir)
	cmd := server(dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(in, hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"verify","arguments":{"id":"demo-1"}}}`+"\n")
	for range 2000 {
		if _, err := os.Stat(pid); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	began := time.Now()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	took := time.Since(began)
	if code := cmd.ProcessState.ExitCode(); code != 128+int(signal) {
		t.Errorf("exit %d", code)
	}
	ended.Wait(t, pid)
	return took
}

// TestMCPLines: lines that are not requests get an answer, and so do requests before the end of
// the input, even slow ones.
func TestMCPLines(t *testing.T) {
	cmd := server(harbor(t))
	cmd.Stdin = strings.NewReader("no JSON\n[]\n\n" + strings.Repeat("x", 17<<20) + "\n" + hello +
		`{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"verify","arguments":{"id":"harbor-c20"}}}`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for want, times := range map[string]int{`"code":-32700`: 2, `"code":-32600`: 1, `"id":1,"result":{`: 1, `"id":"two","result":{"content"`: 1, `\"exit\":1`: 1} {
		if n := strings.Count(string(out), want); n != times {
			t.Errorf("%s: %d times, want %d, in %s", want, n, times, out)
		}
	}
	for line := range strings.Lines(string(out)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// TestMCPIDs: an answer has the id of its call, byte for byte. A call with an invalid id is not
// a call.
func TestMCPIDs(t *testing.T) {
	ids := []string{
		"0", "-1", "9007199254740993", "12345678901234567890", "1" + strings.Repeat("0", 400), "1.50", "1e999", `""`, `"a\u00e9\/<b>"`,
		`"` + strings.Repeat("x", 1<<20) + `"`, `"1"`, "null", "1",
	}
	text := hello
	for _, id := range ids {
		text += `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` + "\n"
	}
	cmd := server(harbor(t))
	cmd.Stdin = strings.NewReader(text + `{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":true,"method":"ping"}` + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if n := strings.Count(string(out), `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`+"\n"); n != 1 {
			t.Errorf("%.40s: answered %d times", id, n)
		}
	}
	if n := strings.Count(string(out), `"code":-32600`); n != 2 {
		t.Errorf("%d calls have no id, want 2", n)
	}
}
