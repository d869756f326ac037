package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stig/internal/workspace"
)

// serve starts the real program in a copy of the example store, as a process with a client.
func serve(t *testing.T) (*mcp.ClientSession, string) {
	t.Helper()
	dir := harbor(t)
	return connectTo(t, mcp.NewClient(&mcp.Implementation{Name: "test"}, nil), server(dir)), dir
}

// harbor creates a copy of the example store in a repository.
func harbor(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, "init", "-q")
	return dir
}

// server returns the command of the real program, not started.
func server(dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-C", dir, "mcp")
	cmd.Args[0] = "stig"
	cmd.Env = append(os.Environ(), "STIG_NOW=2026-11-20T09:00:00Z", "STIG_ACTOR=mara", "STIG_TRUST=1")
	return cmd
}

// connectTo starts a server, which must exit cleanly with the test.
func connectTo(t *testing.T, client *mcp.Client, cmd *exec.Cmd) *mcp.ClientSession {
	t.Helper()
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server did not end well: %v", err)
		}
	})
	return session
}

// runGit runs git in a directory.
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=mara", "-c", "user.email=mara@harbor.example"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// call calls a tool and returns the object it answers.
func call(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (object map[string]any, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	object, ok := result.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("%s: no object: %+v", tool, result)
	}
	// Clients without structured content read the same as text.
	text, ok := result.Content[0].(*mcp.TextContent)
	var same map[string]any
	if !ok || json.Unmarshal([]byte(text.Text), &same) != nil || same["kind"] != object["kind"] {
		t.Errorf("%s: the text is not the object: %+v", tool, result.Content)
	}
	if n := utf8.RuneCountInString(text.Text); n > 8000 {
		t.Errorf("%s: %d characters", tool, n)
	}
	fitsSchema(t, session, tool, object)
	return object, result.IsError
}

// fitsSchema checks that every key of a result is in the schema of its tool and has the type
// given there.
func fitsSchema(t *testing.T, session *mcp.ClientSession, name string, object map[string]any) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list.Tools, func(tool *mcp.Tool) bool { return tool.Name == name })
	properties := list.Tools[at].OutputSchema.(map[string]any)["properties"].(map[string]any)
	for key, value := range object {
		property, known := properties[key].(map[string]any)
		if kind := property["type"]; !known || kind != nil && !isOf(kind.(string), value) {
			t.Errorf("%s: %s is %T, and the schema says %v", name, key, value, property)
		}
		if list, is := value.([]any); is && property["items"] != nil {
			for _, item := range list {
				if kind := property["items"].(map[string]any)["type"]; !isOf(kind.(string), item) {
					t.Errorf("%s: %s holds %T, and the schema says %v", name, key, item, kind)
				}
			}
		}
	}
}

// isOf reports whether a value has a JSON Schema type.
func isOf(kind string, value any) bool {
	switch value := value.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || kind == "integer" && value == float64(int(value))
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}

// TestMCPSession works on an issue from the survey to its close, as an assistant without a
// shell would.
func TestMCPSession(t *testing.T) {
	session, dir := serve(t)
	kind := func(want string, object map[string]any, failed bool) map[string]any {
		t.Helper()
		if object["kind"] != want || failed {
			t.Fatalf("want kind %q and no error: %v", want, object)
		}
		return object
	}
	survey, failed := call(t, session, "orient", nil)
	kind("survey", survey, failed)
	ready := survey["ready"].([]any)[0].(map[string]any)["id"].(string)
	briefing, failed := call(t, session, "orient", map[string]any{"id": ready, "depth": "deep"})
	if kind("briefing", briefing, failed)["depth"] != "deep" {
		t.Errorf("depth %v", briefing["depth"])
	}
	report, failed := call(t, session, "checkpoint", map[string]any{
		"id": ready, "surprise": 0.0, "progress": "implementing", "done": "--begun, with a dash in front", "remains": "most\nof it",
	})
	kind("checkpoint", report, failed)
	if notes := record(t, dir, ready)["notes"].(string); !strings.Contains(notes, "What was done: --begun") || !strings.Contains(notes, "| progress | implementing | 2026-11-20 |") {
		t.Errorf("notes: %s", notes)
	}
	// A given part replaces only that part, unless all is to be replaced.
	report, failed = call(t, session, "checkpoint", map[string]any{"id": ready, "done": "all", "fold": true})
	lost := []any{map[string]any{"signal": "done", "from": "--begun, with a dash in front", "to": "all"}}
	if notes := record(t, dir, ready)["notes"].(string); !reflect.DeepEqual(kind("checkpoint", report, failed)["changed"], lost) ||
		!strings.Contains(notes, "What was done: all\n\nWhat remains: most\nof it\n") {
		t.Errorf("changed %v, notes: %s", report["changed"], notes)
	}
	if folded, is := report["folded"].([]any); !is || len(folded) != 0 {
		t.Errorf("folded: %v", report["folded"])
	}
	report, failed = call(t, session, "checkpoint", map[string]any{"id": ready, "learned": "much", "replace": true})
	if notes := record(t, dir, ready)["notes"].(string); len(kind("checkpoint", report, failed)["changed"].([]any)) != 2 || strings.Contains(notes, "most") {
		t.Errorf("changed %v, notes: %s", report["changed"], notes)
	}
	asked, failed := call(t, session, "escalate", map[string]any{"id": ready, "question": "Which quay first?", "options": []string{"north", "south"}})
	if failed || asked["id"] != ready {
		t.Errorf("escalate: %v", asked)
	}
	long := strings.Repeat("most of it, ", 2000)
	report, failed = call(t, session, "checkpoint", map[string]any{"id": ready, "remains": long})
	kind("checkpoint", report, failed)
	briefing, failed = call(t, session, "orient", map[string]any{"id": ready})
	kind("briefing", briefing, failed)
	created, failed := call(t, session, "create", map[string]any{"title": "Paint the pier", "priority": "1", "deps": ready, "labels": []string{"paint"}, "acceptance": "```verify\ntest -f x\n```"})
	id := kind("created", created, failed)["id"].(string)
	if made := record(t, dir, id); made["priority"] != float64(1) || made["dependencies"].([]any)[0].(map[string]any)["depends_on_id"] != ready {
		t.Errorf("created %v", made)
	}
	found, failed := call(t, session, "recall", map[string]any{"words": "paint pier"})
	if first := kind("recall", found, failed)["known"].([]any)[0].(map[string]any); first["id"] != id {
		t.Errorf("recall: %v", found)
	}
	inboxCalls(t, session, dir)
	rows, failed := call(t, session, "ready", map[string]any{"limit": 2})
	if len(kind("ready", rows, failed)["ready"].([]any)) != 2 {
		t.Errorf("ready: %v", rows)
	}
	claimed, failed := call(t, session, "claim", nil)
	if mine := record(t, dir, kind("claim", claimed, failed)["id"].(string)); mine["assignee"] != "mara" || mine["status"] != "in_progress" {
		t.Errorf("claimed %v", mine)
	}
	if other, failed := call(t, session, "claim", map[string]any{"id": ""}); !failed {
		t.Errorf("an empty id claimed %v", other)
	}
	checked, failed := call(t, session, "check", nil)
	kind("check", checked, failed)
	of := func(id string) int {
		checked, failed := call(t, session, "check", map[string]any{"id": id})
		return len(kind("check", checked, failed)["diagnostics"].([]any))
	}
	if whole, short := of("harbor-9fd.4"), of("9fd.4"); whole == 0 || short != whole {
		t.Errorf("check of one issue: %d found, %d without its prefix", whole, short)
	}
	if none, failed := call(t, session, "check", map[string]any{"id": "harbor-none"}); !failed {
		t.Errorf("check of no issue: %v", none)
	}
}

// TestMCPCloses uses the gate: an issue stays open if its checks fail, and closes if they pass.
func TestMCPCloses(t *testing.T) {
	session, dir := serve(t)
	lines := `{"id":"demo-1","title":"a","status":"open","issue_type":"task","acceptance_criteria":"` + "```verify\\ntest -f a.txt\\n```" + `"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	plan, failed := call(t, session, "verify", map[string]any{"id": "demo-1", "plan": true})
	if checks, ok := plan["checks"].([]any); failed || !ok || len(checks) != 1 {
		t.Errorf("plan: %v", plan)
	}
	closing := map[string]any{"ids": "demo-1", "reason": "the harbor master finds a.txt where the gate looks for it"}
	if verdict, refused := call(t, session, "close", closing); !refused || verdict["passed"] != false || record(t, dir, "demo-1")["status"] != "open" {
		t.Errorf("closed with a check that fails: %v", verdict)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if verdict, failed := call(t, session, "verify", map[string]any{"id": "demo-1"}); failed || verdict["passed"] != true {
		t.Errorf("verify: %v", verdict)
	}
	if verdict, failed := call(t, session, "close", closing); failed || verdict["closed"] != true || record(t, dir, "demo-1")["status"] != "closed" {
		t.Errorf("close: %v", verdict)
	}
}

// TestMCPGivesWhatCommandsPrint compares tools with the commands of the same names: an
// assistant without a shell reads the same keys and the same errors.
func TestMCPGivesWhatCommandsPrint(t *testing.T) {
	session, dir := serve(t)
	for _, tt := range []struct {
		tool      string
		arguments map[string]any
		argv      []string
	}{
		{"orient", map[string]any{"id": "harbor-9fd.3"}, []string{"orient", "harbor-9fd.3"}},
		{"orient", map[string]any{"id": "harbor-9fd.3", "depth": "probe"}, []string{"orient", "harbor-9fd.3", "--depth", "probe"}},
		{"orient", map[string]any{"id": "harbor-9fd.3", "budget": "1"}, []string{"orient", "harbor-9fd.3", "--budget", "1"}},
		{"ready", nil, []string{"ready"}},
		{"check", nil, []string{"check"}},
		{"check", map[string]any{"against": "none"}, []string{"check", "--against", "none"}},
		{"verify", map[string]any{"id": "harbor-9fd.3", "plan": "true"}, []string{"verify", "harbor-9fd.3", "--plan"}},
		{"checkpoint", map[string]any{"id": "harbor-c20", "replace": true}, []string{"checkpoint", "harbor-c20", "--replace"}},
		{"checkpoint", map[string]any{"id": "harbor-c20", "cynefin": "hard"}, []string{"checkpoint", "harbor-c20", "--cynefin", "hard"}},
		{"escalate", map[string]any{"id": "harbor-c20", "question": " "}, []string{"escalate", "harbor-c20", "-m", " "}},
		{"close", map[string]any{"ids": []string{"harbor-c20"}, "reason": ""}, []string{"close", "harbor-c20"}},
		{"recall", map[string]any{"words": "tide gauge"}, []string{"recall", "tide gauge"}},
		{"inbox", nil, []string{"inbox"}},
		{"morning", map[string]any{"since": "2d"}, []string{"morning", "--since", "2d"}},
		{"land", nil, []string{"land"}},
		{"ack", map[string]any{"items": []string{"t-aaaaaaaaaa"}}, []string{"inbox", "--ack", "t-aaaaaaaaaa"}},
	} {
		cmd := exec.Command(os.Args[0], append([]string{"-C", dir, "--json"}, tt.argv...)...)
		cmd.Args[0] = "stig"
		cmd.Env = server(dir).Env
		printed, _ := cmd.Output() // the object contains the error
		var want map[string]any
		if err := json.Unmarshal(printed, &want); err != nil {
			t.Fatalf("stig %v: %v: %q", tt.argv, err, printed)
		}
		got, failed := call(t, session, tt.tool, tt.arguments)
		delete(got, "left_out")
		if keysOf(got) != keysOf(want) || got["kind"] != want["kind"] || failed != (want["kind"] == "error") || got["code"] != want["code"] {
			t.Errorf("%s %v, error %v:\n%v\nstig %v:\n%v", tt.tool, tt.arguments, failed, got, tt.argv, want)
		}
	}
}

func keysOf(object map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(object)), " ") }

// TestMCPErrors: errors are tool errors with code and hint, so that an assistant can fix its
// call.
func TestMCPErrors(t *testing.T) {
	session, _ := serve(t)
	object, failed := call(t, session, "orient", map[string]any{"id": "harbor-nowhere"})
	if !failed || object["kind"] != "error" || object["code"] != float64(workspace.ExitNoIssue) || object["hint"] == "" {
		t.Errorf("%v %v", object, failed)
	}
	object, failed = call(t, session, "checkpoint", map[string]any{"id": "--help", "surprise": 0.5})
	if !failed || object["code"] != float64(workspace.ExitNoIssue) {
		t.Errorf("an id that looks like a flag: %v", object)
	}
	object, failed = call(t, session, "checkpoint", map[string]any{"id": "harbor-9fd.3", "surprise": 1.5})
	if !failed || object["code"] != float64(workspace.ExitUsage) || !strings.Contains(object["message"].(string), "surprise") {
		t.Errorf("%v", object)
	}
	for _, arguments := range []map[string]any{{}, {"id": 7}, {"id": []string{"a"}}, {"id": "harbor-9fd.3", "why": "x"}, {"id": "harbor-9fd.3", "plan": "perhaps"}} {
		if object, failed := call(t, session, "verify", arguments); !failed {
			t.Errorf("%v: no error: %v", arguments, object)
		}
	}
	// Commands for people only are not suggested.
	for _, tt := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"close", map[string]any{"ids": []string{"harbor-b7q"}, "reason": "the skipper gets a message"}},
		{"close", map[string]any{"ids": []string{"harbor-v6k"}, "reason": "the plan is drawn on paper now"}},
		{"claim", map[string]any{"id": "harbor-b7q"}}, {"claim", map[string]any{"id": "harbor-w1z"}},
	} {
		object, failed := call(t, session, tt.tool, tt.arguments)
		text, err := json.Marshal(object)
		if !failed || err != nil || strings.Contains(string(text), "stig ") || strings.Contains(string(text), "waive") || strings.Contains(string(text), "trust") {
			t.Errorf("%s %v, error %v: %s", tt.tool, tt.arguments, failed, text)
		}
	}
}

// TestMCPAnswersManyAtOnce calls tools concurrently, as some clients do.
func TestMCPAnswersManyAtOnce(t *testing.T) {
	session, dir := serve(t)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			tool, arguments := "orient", map[string]any{"id": "harbor-9fd.3"}
			if i%2 == 0 {
				tool, arguments = "checkpoint", map[string]any{"id": "harbor-9fd.3", "surprise": 0.1, "progress": "exploring", "done": fmt.Sprint("round ", i)}
			}
			if object, failed := call(t, session, tool, arguments); failed {
				t.Errorf("%s: %v", tool, object)
			}
		})
	}
	all.Wait()
	if notes := record(t, dir, "harbor-9fd.3")["notes"].(string); !strings.Contains(notes, "What was done: round ") {
		t.Errorf("notes: %s", notes)
	}
}

// TestMCPTools checks what hosts require of a tool, and the number of characters that a client
// reads at every start.
func TestMCPTools(t *testing.T) {
	session, _ := serve(t)
	list, err := session.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	characters := 0
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		characters += utf8.RuneCountInString(tool.Description)
		schema := tool.InputSchema.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			description, _ := property.(map[string]any)["description"].(string)
			characters += utf8.RuneCountInString(description)
			if _, plain := property.(map[string]any)["type"].(string); !plain {
				t.Errorf("%s: %s: %v has no plain type", tool.Name, name, property)
			}
		}
		if tool.Title == "" || tool.Annotations == nil || tool.Annotations.DestructiveHint == nil || tool.OutputSchema == nil {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
		if reads := slices.Contains([]string{"orient", "ready", "check", "recall", "inbox", "morning", "land"}, tool.Name); tool.Annotations.ReadOnlyHint != reads {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "ack check checkpoint claim close create escalate inbox land morning orient ready recall trace verify" {
		t.Errorf("tools: %s", got)
	}
	if characters == 0 || characters >= 4000 {
		t.Errorf("the descriptions have %d characters, want under 4,000", characters)
	}
	t.Logf("%d characters of descriptions", characters)
}

// record returns an issue of the store in a directory.
func record(t *testing.T, dir, id string) (issue map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if json.Unmarshal([]byte(line), &issue) == nil && issue["id"] == id {
			return issue
		}
	}
	t.Fatalf("%s is not in the store", id)
	return nil
}

// inboxCalls sends the assistant a request; it must see what to call, and acknowledges it.
func inboxCalls(t *testing.T, session *mcp.ClientSession, dir string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-C", dir, "-q", "trace", "add", "harbor-d3w", "request", "--to", "mara", "-m", "look at the gauge", "--actor", "bo")
	cmd.Args[0], cmd.Env = "stig", server(dir).Env
	name, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	item := strings.TrimSpace(string(name))
	listed, failed := call(t, session, "inbox", nil)
	first, _ := listed["items"].([]any)[0].(map[string]any)
	if failed || first["id"] != item || first["call"] != "trace with id harbor-d3w, type result, re "+item+", message" {
		t.Errorf("inbox: %v", listed)
	}
	acked, failed := call(t, session, "ack", map[string]any{"items": []string{item}})
	if failed || fmt.Sprint(acked["acked"]) != "["+item+"]" {
		t.Errorf("ack: %v", acked)
	}
	if listed, _ = call(t, session, "inbox", nil); len(listed["items"].([]any)) != 0 {
		t.Errorf("still there: %v", listed)
	}
}
