package trace_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"stig/internal/trace"
	"stig/schemas"
)

// whole has, for each type, content that its definition accepts.
var whole = map[string]map[string]any{
	trace.Log:            {"level": "warn", "message": "half of it is done"},
	trace.Finding:        {"summary": "no feed", "url": "https://example.org"},
	trace.CodeSnippet:    {"file_name": "tide.go", "code": "package tide\n\n```\n"},
	trace.Error:          {"error_type": "ImportError", "traceback": "line 1\nline 2"},
	trace.RequestForHelp: {"blocker": "two libraries disagree", "needs": []any{"network", "python"}},
	trace.Summary:        {"summary_text": "two findings, one error", "covers": "t-abcdefgh23"},
	trace.Completion:     {"result": map[string]any{"gauges": []any{"north", 2.0}}},
	trace.Request:        {"to": []any{"@all"}, "payload": "look at the gauge"},
	trace.Query:          {"to": []any{"bo"}, "payload": "which gauge?"},
	trace.Directive:      {"to": []any{"bo", "network"}, "payload": "stop the pump"},
	trace.Result:         {"re": "t-abcdefgh23", "payload": "it turns"},
	trace.Feedback:       {"to": []any{"ann"}, "payload": "the test failed"},
	trace.Approval:       {"re": "t-abcdefgh23", "payload": "yes"},
	trace.SwarmRound:     {"summary": "round 1", "swarm": "s-abc", "round": "1", "part": "1/1", "operations": "{}"},
	trace.Notification:   {"to": []any{"@people"}, "payload": "the tide is in"},
}

func schema(t *testing.T) cue.Value {
	t.Helper()
	v := cuecontext.New().CompileString(schemas.Traces)
	if v.Err() != nil {
		t.Fatal(v.Err())
	}
	return v
}

// allows reports whether the definition of a type takes content, as cue vet does.
func allows(t *testing.T, schema cue.Value, name string, content map[string]any) bool {
	t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := trace.KindOf(name)
	value := cuecontext.New().CompileBytes(data)
	definition := schema.LookupPath(cue.ParsePath(kind.Definition()))
	if !definition.Exists() {
		t.Fatalf("no definition of %s", name)
	}
	return definition.Unify(value).Validate(cue.Concrete(true), cue.Final()) == nil
}

// Content survives being written and read, and both the table and the schema take it.
func TestContent(t *testing.T) {
	cueSchema := schema(t)
	for _, name := range trace.Types() {
		content, body := whole[name], "Why it is so.\n\n~~~\nmore\n~~~"
		made, err := trace.Draft{Type: name, Content: content, Body: body}.Trace()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		read, err := trace.Parse(made.Text())
		if err != nil {
			t.Fatal(err)
		}
		got, rest := read.Content()
		want := maps.Clone(content)
		if code, ok := want["code"].(string); ok {
			want["code"] = strings.TrimRight(code, "\n")
		}
		if asJSON(t, got) != asJSON(t, want) {
			t.Errorf("%s: got %s, want %s", name, asJSON(t, got), asJSON(t, want))
		}
		if kind, _ := trace.KindOf(name); kind.Block != "" && rest != body {
			t.Errorf("%s: the body became %q", name, rest)
		}
		if !allows(t, cueSchema, name, got) {
			t.Errorf("%s: the schema refuses %v", name, got)
		}
	}
	if len(whole) != len(trace.Kinds()) {
		t.Errorf("%d contents for %d types", len(whole), len(trace.Kinds()))
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The table of kinds and the schema judge alike: content with a key taken out, and
// with a value that is not allowed.
func TestTableAgreesWithSchema(t *testing.T) {
	cueSchema := schema(t)
	judged := 0
	for name, content := range whole {
		variants := []map[string]any{{}}
		for key := range content {
			without := maps.Clone(content)
			delete(without, key)
			variants = append(variants, without)
			for _, odd := range []any{"t-x", "fatal"} {
				if _, list := content[key].([]any); !list && content[key] != odd {
					changed := maps.Clone(content)
					changed[key] = odd
					variants = append(variants, changed)
				}
			}
		}
		for _, v := range variants {
			text := textOf(name, v)
			read, err := trace.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := read.Content()
			if table, cue := len(read.Problems()) == 0, allows(t, cueSchema, name, got); table != cue {
				t.Errorf("%s: the table says %v, the schema %v of %v (%v)", name, table, cue, got, read.Problems())
			}
			judged++
		}
	}
	if judged < 60 {
		t.Errorf("only %d judged", judged)
	}
}

// textOf writes content that need not be allowed.
func textOf(name string, content map[string]any) string {
	kind, _ := trace.KindOf(name)
	text := name + ":"
	if head, ok := content[kind.Head].(string); ok {
		text += " " + head
	}
	text += "\n\n"
	if block, ok := content[kind.Block]; ok {
		code, _ := block.(string) // of a result anything
		text += "```\n" + code + "\n```\n\n"
	}
	for _, key := range slices.Sorted(maps.Keys(content)) {
		if key == kind.Head || key == kind.Block {
			continue
		}
		list, ok := content[key].([]any)
		if !ok {
			list = []any{content[key]}
		}
		for _, item := range list {
			text += key + ": " + item.(string) + "\n"
		}
	}
	return text + "stig: " + name + "/1"
}

func TestDraftRefuses(t *testing.T) {
	for _, c := range []struct {
		draft trace.Draft
		want  string
	}{
		{trace.Draft{Type: "findings"}, "type: must be one of log, finding, code_snippet"},
		{trace.Draft{Type: "finding"}, "summary: missing; finding needs summary"},
		{trace.Draft{Type: "error", Content: map[string]any{"error_type": "x"}}, "traceback: missing; error needs error_type, traceback"},
		{trace.Draft{Type: "result", Content: map[string]any{"payload": "x"}}, "re or to: missing; result needs payload, and re or to"},
		{trace.Draft{Type: "result", Content: map[string]any{"payload": "x", "re": "it"}}, `re: must be the name of a trace such as t-k2qhn5rzvw; found "it"`},
		{trace.Draft{Type: "log", Content: map[string]any{"message": "x", "level": "fatal"}}, `level: must be info, warn, error; found "fatal"`},
		{trace.Draft{Type: "log", Content: map[string]any{"message": "x", "level": []any{"info", "warn"}}}, "level: must be"},
		{trace.Draft{Type: "log", Content: map[string]any{"message": "x", "Key": "y"}}, "Key: must be letters a to z"},
		{trace.Draft{Type: "log", Content: map[string]any{"message": "x", "stig": "y"}}, "stig: is the name of a trace type"},
		{trace.Draft{Type: "log", Content: map[string]any{"message": "x\ny"}}, "message: must be one line"},
		{trace.Draft{Type: "log", Content: map[string]any{"message": "x", "a": map[string]any{}}}, "a: must be a text"},
		{trace.Draft{Type: "log", Content: map[string]any{"message": "x"}, Body: "a\x00b"}, "the text must not hold NUL"},
		{trace.Draft{Type: "log", Content: map[string]any{"message": strings.Repeat("x", trace.MaxBytes)}}, "the text must be at most 8192 bytes; found "},
	} {
		if _, err := c.draft.Trace(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.draft, err, c.want)
		}
	}
}

func TestDraftDefaults(t *testing.T) {
	made, err := trace.Draft{Type: "log", Content: map[string]any{"message": "done", "run": 7.0, "seq": []any{"1", "2"}}}.Trace()
	if want := "log: done\n\nlevel: info\nrun: 7\nseq: 1\nseq: 2\nstig: log/1"; err != nil || made.Text() != want {
		t.Errorf("%q, %v", made.Text(), err)
	}
	made, err = trace.Draft{Type: "completion", Summary: "the gauge is read"}.Trace()
	content, _ := made.Content()
	if err != nil || !reflect.DeepEqual(content, map[string]any{"result": "the gauge is read"}) {
		t.Errorf("%v, %v", content, err)
	}
	made, err = trace.Draft{Type: "code_snippet", Content: map[string]any{"file_name": "a.go", "code": "x"}}.Trace()
	if err != nil || made.Summary != "a.go" {
		t.Errorf("%+v, %v", made, err)
	}
}
