package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"stig/internal/fault"
	"stig/internal/testkit/sample"
)

// messy are settings as people and programs leave them.
var messy = []string{
	``, "\n", " \r\n\t", "\ufeff", "{}", "{}\n", "{ }", "{\n}\n", "{\r\n}\r\n", "{ /* none yet */ }", "{ // none\n}",
	"\ufeff{\"a\": 1}\n", "{\"a\":1}", `{"a":1,"b":[1,2]}`, `{"a": 1, "b": 2}`, "{\n\t\"a\": 1\n}\n", "{\n    \"a\": 1,\n    \"b\": {}\n}",
	"{\r\n  \"model\": \"big\",\r\n  \"env\": {\"A\": \"b\"}\r\n}\r\n",
	"{\n  \"a\": 1, // last\n}\n", "{\n  \"a\": 1 // last\n  // more\n}\n", "{\n  \"a\": 1,\n}", "{\n  \"a\": 1 /* x */ ,\n}\n",
	"// top\n{\"a\":1} // tail\n", "{\"a\":1 }", "{\"a\":1,}", "{\"a\":1 ,\n\n}", "{ \"a\": 1 }\n\n\n", "{\"a\":1 // c  \n}",
	"{\"a\":1} // no newline", "{\r\n  \"hooks\": {}\r\n}\r\n//", "// none", "{} // \xff",
	`{"hooks":{}}`, `{"hooks": { }}`, "{\n  \"hooks\": {\n  }\n}\n", `{"hooks":{/* mine */}}`, `{"hooks":{}, "z": 1}`,
	`{"hooks":{"Stop":[]}}`, "{\n  \"hooks\": {\n    \"Stop\": [ ],\n    \"SessionStart\": [\n    ]\n  }\n}\n",
	`{"hooks":{"Stop":[{"hooks":[]}]}}`, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"make"}]}]}}`,
	"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"guard\"}]}, // ours\n      {\"matcher\": \"Edit\", \"hooks\": []},\n    ],\n  },\n}\n",
	"{\n\t\"hooks\": {\n\t\t\"Stop\": [{\n\t\t\t\"hooks\": [{ \"type\": \"command\", \"command\": \"stig hook stop --host other\" }]\n\t\t}]\n\t}\n}\n",
	`{"hooks":{"Stop":[1,null,"x",{},{"hooks":{}},{"hooks":[7]},{"command":3}]}}`,
	`{"hooks":{"PreToolUse":[{"matcher":"^(Bash|mcp_.*beads.*_(close|update))$","hooks":[{"command":"stig hook pre-tool-use --host claude"},{"command":"mine"}]}]}}`,
	`{"hooks":{"stop":[{"command":"echo stig hook stop"}]},"hooks":{"Stop":[]}}`,
	`{"\u0068ooks":{"S\u0074op":[]}}`, "{\n \"a\" : 1 ,\n   \"b\":\n2\n   , \"c\" : [ ]\n}",
	"{\n      \"deep\": {\n        \"er\": 1\n      },\n      \"hooks\": {\n        \"Other\": [1]\n      }\n  }",
	"[]", "null", "7", "{", "{\"a\":}", "{} x", `{"hooks":[]}`, `{"hooks":null}`, `{"hooks":{"Stop":{}}}`, "{\"a\":\"\xff\"}", "{'a':1}", "\xff\xfe{\x00}\x00",
}

// withVersion adds the version that Cursor reads to the settings above.
func withVersion(text string) string {
	at := strings.Index(text, "{")
	if at < 0 || strings.HasPrefix(strings.TrimLeft(text[at+1:], blanks), "}") {
		return text
	}
	return text[:at+1] + `"version": 1, ` + text[at+1:]
}

// spliced returns the hosts whose hooks are in a file that others also write.
func spliced() []Settings {
	return slices.DeleteFunc(AllSettings(), func(s Settings) bool { return s.plugin != "" })
}

// rowOf returns the row of a host.
func rowOf(h Host) Settings {
	all := AllSettings()
	return all[slices.IndexFunc(all, func(s Settings) bool { return s.Host == h })]
}

func TestSettingsKept(t *testing.T) {
	installed, refused := 0, 0
	for _, s := range spliced() {
		for _, text := range messy {
			if s.version != 0 {
				text = withVersion(text)
			}
			if holds(t, s, []byte(text)) {
				installed++
			} else {
				refused++
			}
		}
		holds(t, s, nil)
	}
	t.Logf("%d installed and taken out again, %d refused", installed, refused)
	if installed < 3*refused {
		t.Errorf("installed into %d files only, refused %d", installed, refused)
	}
}

// TestLastLineIsComment: a file that ends in a comment without a newline is valid, and the
// position of a syntax error stays the same.
func TestLastLineIsComment(t *testing.T) {
	claude := rowOf(Claude)
	for _, text := range []string{`{"a":1} // end`, "{}\n//", "{}\r\n// end\r", "\ufeff{}// é", `{"a":1} /* b */ // end`} {
		if !holds(t, claude, []byte(text)) {
			t.Errorf("%q was refused", text)
		}
	}
	_, _, err := claude.Install([]byte(`{"a": // end`))
	if err == nil || !strings.HasPrefix(err.Error(), "1:7: not JSON") {
		t.Errorf("got %v", err)
	}
}

// holds checks that installing and removing is idempotent and reversible for one file; it
// returns false if the file was refused.
func holds(t *testing.T, s Settings, source []byte) bool {
	t.Helper()
	text, added, err := s.Install(source)
	if fault.Is(err, fault.Store) {
		return false
	}
	if err != nil {
		t.Fatalf("%s %q: %v", s.Host, source, err)
	}
	clean, _, err := s.Remove(source)
	if err != nil {
		t.Fatalf("%s %q: %v", s.Host, source, err)
	}
	if again, more, err := s.Install(text); err != nil || len(more) > 0 || !bytes.Equal(again, text) {
		t.Fatalf("%s %q: installed twice: %q %v %v", s.Host, source, again, more, err)
	}
	if missing, err := s.Missing(text); err != nil || len(missing) > 0 {
		t.Fatalf("%s %q: missing after install: %v %v\n%s", s.Host, source, missing, err, text)
	}
	back, removed, err := s.Remove(text)
	if err != nil || !bytes.Equal(back, clean) || (back == nil) != (clean == nil) {
		t.Fatalf("%s %q became\n%s\nand then %q, want %q: %v", s.Host, source, text, back, clean, err)
	}
	if len(removed) < len(added) {
		t.Fatalf("%s %q: added to %v, removed from %v", s.Host, source, added, removed)
	}
	if _, more, err := s.Remove(back); err != nil || len(more) > 0 {
		t.Fatalf("%s %q: removed twice: %v %v", s.Host, source, more, err)
	}
	sameElsewhere(t, s, source, text)
	rewritten(t, s, clean, text)
	return true
}

// rewritten lets another program decode the settings and write them in its own layout before
// stig's hooks are removed. Nothing else is removed, except empty values that may have been
// created for the hooks.
func rewritten(t *testing.T, s Settings, clean, text []byte) {
	t.Helper()
	object := plain(t, text)
	for _, indent := range []string{"", "  ", "\t"} {
		anew, err := json.MarshalIndent(object, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		if indent == "" {
			anew, _ = json.Marshal(object)
		}
		back, _, err := s.Remove(anew)
		if err != nil {
			t.Fatalf("%s %s: %v", s.Host, anew, err)
		}
		want := fmt.Sprint(pruned(plain(t, clean)))
		if got := fmt.Sprint(pruned(plain(t, back))); got != want {
			t.Fatalf("%s\n%s\nbecame %s, want %s", s.Host, anew, got, want)
		}
	}
}

// pruned returns settings without empty hooks and events, and without the version that is
// written with them.
func pruned(object map[string]any) map[string]any {
	hooks, ok := object["hooks"].(map[string]any)
	if !ok {
		hooks = map[string]any{}
	}
	for event, value := range hooks {
		if list, ok := value.([]any); ok && len(list) == 0 {
			delete(hooks, event)
		}
	}
	if ok && len(hooks) == 0 {
		delete(object, "hooks")
	}
	if fmt.Sprint(object) == "map[version:1]" {
		return nil
	}
	if len(object) == 0 {
		return nil
	}
	return object
}

// sameElsewhere compares both as plain JSON: everything that was there is still in its place,
// and no hook of another program is gone.
func sameElsewhere(t *testing.T, s Settings, before, after []byte) {
	t.Helper()
	was, is := plain(t, before), plain(t, after)
	hooks, _ := is["hooks"].(map[string]any)
	for key, value := range was {
		if key == "hooks" {
			continue
		}
		if fmt.Sprint(is[key]) != fmt.Sprint(value) {
			t.Fatalf("%s: %q was %v, is %v", s.Host, key, value, is[key])
		}
	}
	old, _ := was["hooks"].(map[string]any)
	for event, value := range old {
		list, ok := value.([]any)
		now, _ := hooks[event].([]any)
		if ok && (len(now) < len(list) || fmt.Sprint(now[:len(list)]) != fmt.Sprint(list)) {
			t.Fatalf("%s: %s was %v, is %v", s.Host, event, list, now)
		}
	}
	for _, h := range s.hooks {
		if !strings.Contains(fmt.Sprint(hooks[h.event]), "stig hook "+h.call+" --host "+string(s.Host)) {
			t.Fatalf("%s: no %s in %s", s.Host, h.call, after)
		}
	}
}

func plain(t *testing.T, text []byte) map[string]any {
	t.Helper()
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	if len(bytes.Trim(text, blanks)) == 0 {
		return nil
	}
	standard, err := hujson.Standardize(append(bytes.Clone(text), '\n'))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	object := map[string]any{}
	if err := json.Unmarshal(standard, &object); err != nil {
		t.Fatalf("%v\n%s", err, standard)
	}
	return object
}

// TestSettingsRandom checks the same for random settings.
func TestSettingsRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	installed := 0
	rounds := sample.Rounds(250)
	for range rounds {
		s := spliced()[r.IntN(len(spliced()))]
		if holds(t, s, []byte(scrawl{r, s}.file())) {
			installed++
		}
	}
	t.Logf("installed into %d of %d", installed, rounds)
	if installed < rounds*7/8 {
		t.Errorf("installed into %d of %d only", installed, rounds)
	}
}

// scrawl generates settings in erratic layouts.
type scrawl struct {
	*rand.Rand
	settings Settings
}

func (r scrawl) one(of ...string) string { return of[r.IntN(len(of))] }

func (r scrawl) gap() string {
	return r.one("", "", "", " ", " ", "\n", "\n  ", "\r\n\t", "\n\n    ", " /* a, b] */ ", " // {\n", "// x \r\n  ", "\t")
}

func (r scrawl) join(open, end string, parts []string) string {
	text := open + r.gap()
	for i, part := range parts {
		text += part + r.gap()
		if i < len(parts)-1 || r.IntN(5) == 0 {
			text += "," + r.gap()
		}
	}
	return text + end
}

func (r scrawl) pair(name, value string) string {
	return `"` + name + `"` + r.gap() + ":" + r.gap() + value
}

func (r scrawl) handler() string {
	parts := []string{r.pair("command", `"`+r.one("make", "stig hook", "stig hook stop --host nobody", "echo stig")+`"`)}
	if r.IntN(2) == 0 {
		parts = append(parts, r.pair("type", `"command"`))
	}
	return r.join("{", "}", parts)
}

func (r scrawl) entry() string {
	if r.IntN(6) == 0 {
		return r.one("1", "null", "{}", `"x"`, "[]")
	}
	if r.settings.flat {
		return r.handler()
	}
	var inner []string
	for range r.IntN(3) {
		inner = append(inner, r.handler())
	}
	return r.join("{", "}", []string{r.pair("matcher", `"Bash"`), r.pair("hooks", r.join("[", "]", inner))})
}

func (r scrawl) events() string {
	var parts []string
	for _, h := range append([]hook{{event: "Other"}}, r.settings.hooks...) {
		if r.IntN(2) == 0 {
			continue
		}
		var entries []string
		for range r.IntN(3) {
			entries = append(entries, r.entry())
		}
		parts = append(parts, r.pair(h.event, r.join("[", "]", entries)))
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return r.join("{", "}", parts)
}

func (r scrawl) file() string {
	var parts []string
	for _, part := range []string{r.pair("model", `"big"`), r.pair("env", `{"A": "b"}`), r.pair("hooks", r.events())} {
		if r.IntN(3) > 0 {
			parts = append(parts, part)
		}
	}
	if r.settings.version != 0 {
		parts = append(parts, r.pair("version", "1"))
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return r.one("", "", byteOrderMark) + r.gap() + r.join("{", "}", parts) + r.gap() + r.one("", "", "", "// end")
}

// FuzzSettings checks the same for arbitrary bytes.
func FuzzSettings(f *testing.F) {
	for _, text := range messy {
		f.Add(uint8(0), []byte(text))
		f.Add(uint8(2), []byte(withVersion(text)))
	}
	f.Fuzz(func(t *testing.T, host uint8, text []byte) {
		holds(t, spliced()[int(host)%len(spliced())], text)
	})
}

// TestMatchersSend: each matcher matches the tools that stig reads, and no others.
func TestMatchersSend(t *testing.T) {
	for name, tools := range map[Host]string{
		Claude: "Bash Monitor PowerShell Edit Write MultiEdit NotebookEdit mcp__shell__execute_command mcp__filesystem__write_file mcp__beads__close",
		Codex:  "Bash apply_patch mcp__shell__execute_command mcp__filesystem__write_file mcp__beads__update",
		Cursor: "Write Delete MCP:close MCP:update MCP:write_file MCP:execute_command",
		Gemini: "run_shell_command write_file replace mcp_filesystem_write_file mcp_beads_close",
	} {
		s := AllSettings()[slices.Index(Hosts(), name)]
		for _, h := range s.hooks {
			if h.call != "pre-tool-use" || h.matcher == "" {
				continue
			}
			matcher := regexp.MustCompile(h.matcher)
			for tool := range strings.FieldsSeq(tools) {
				if !matcher.MatchString(tool) {
					t.Errorf("%s does not send %s: %s", name, tool, h.matcher)
				}
			}
			for _, tool := range []string{"Read", "Grep", "read_file", "WebFetch", "TodoWrite"} {
				if matcher.MatchString(tool) {
					t.Errorf("%s sends %s: %s", name, tool, h.matcher)
				}
			}
		}
	}
}

// TestOthersStay: what others added next to stig's hooks, or to their group, since they were
// installed is kept, with its layout.
func TestOthersStay(t *testing.T) {
	claude := rowOf(Claude)
	text, _, err := claude.Install([]byte("{\n  \"a\": 1\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	stop := slices.IndexFunc(claude.hooks, func(h hook) bool { return h.call == "stop" })
	command := string(compact(claude.command(claude.hooks[stop])))
	edited := strings.NewReplacer(
		command+",\n            \"timeout\": 10\n          }", command+",\n            \"timeout\": 10\n          },\n          {\"type\": \"command\", \"command\": \"chime\"}",
		"\n  }\n}\n", "\n  },\n  \"z\": 2\n}\n",
		"\"SessionStart\": [\n", "\"SessionStart\": [\n      // mine\n",
	).Replace(string(text))
	back, removed, err := claude.Remove([]byte(edited))
	want := "{\n  \"a\": 1,\n  \"hooks\": {\n    \"SessionStart\": [\n      // mine\n    ],\n    \"Stop\": [\n      {\n        \"hooks\": [" +
		"\n          {\"type\": \"command\", \"command\": \"chime\"}\n        ]\n      }\n    ]\n  },\n  \"z\": 2\n}\n"
	if err != nil || string(back) != want || len(removed) != len(claude.hooks) {
		t.Errorf("from\n%s\ngot\n%s\nwant\n%s: %v %v", edited, back, want, removed, err)
	}
}

// TestRemoveKeepsComments: a line comment never swallows what follows it after a removal.
func TestRemoveKeepsComments(t *testing.T) {
	cursor := rowOf(Cursor)
	own := `{"command": "stig hook stop --host cursor"}`
	older := `{"command": "! command -v stig >/dev/null 2>&1 || stig hook stop --host cursor"}`
	for text, want := range map[string]string{
		"{\"version\":1,\"hooks\":{\"stop\":[7, // c\n" + own + "]}}":       "{\"version\":1,\"hooks\":{\"stop\":[7 // c\n]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[7," + older + "]}}":            "{\"version\":1,\"hooks\":{\"stop\":[7]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[7 , // c\n" + own + "]}}":      "{\"version\":1,\"hooks\":{\"stop\":[7  // c\n]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[// c\n" + own + ", 7]}}":       "{\"version\":1,\"hooks\":{\"stop\":[// c\n 7]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[" + own + " /* c */, 7]}}":     "{\"version\":1,\"hooks\":{\"stop\":[ /* c */ 7]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[7," + own + ",]}}":             "{\"version\":1,\"hooks\":{\"stop\":[7,]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[// c\n" + own + "]}}":          "{\"version\":1,\"hooks\":{\"stop\":[// c\n]}}",
		"{\"version\":1,\"hooks\":{\"stop\":[" + own + "," + own + ", 7]}}": "{\"version\":1,\"hooks\":{\"stop\":[ 7]}}",
	} {
		got, _, err := cursor.Remove([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s\nwant %s: %v", text, got, want, err)
			continue
		}
		plain(t, got)
	}
}

// TestHosts: every row of the table of hosts is complete, and the rows are sorted, since
// messages and help show their order.
func TestHosts(t *testing.T) {
	if !slices.IsSorted(Hosts()) {
		t.Errorf("not by name: %s", Names())
	}
	for _, s := range AllSettings() {
		r := s.replies
		if s.Dir == "" || s.File == "" || s.Skills == "" || len(s.RunBy) == 0 || r.context == nil || r.deny == nil || r.goOn == nil || r.length == nil {
			t.Errorf("%s: its row is not complete", s.Host)
		}
		for _, variable := range s.RunBy {
			got := Running(func(name string) string { return map[string]string{variable: "1"}[name] })
			if variable != noVariable && got != string(s.Host) || variable == noVariable && got != "" {
				t.Errorf("%s: with %s set, %q runs us", s.Host, variable, got)
			}
		}
		for _, call := range []string{"session-start", "pre-tool-use", "stop", "pre-compact"} {
			if !slices.ContainsFunc(s.hooks, func(h hook) bool { return h.call == call }) {
				t.Errorf("%s: no hook for %s", s.Host, call)
			}
		}
	}
}
