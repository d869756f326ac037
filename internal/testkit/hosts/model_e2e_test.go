//go:build e2e && linux

package hosts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// step is one answer of the model: a text, or a tool call in the terms of these tests, which
// each host translates.
type step struct {
	tool string         // shell, write, agent, mcp; "" for a text
	text string         // the text, the command, or the name of the script or tool
	args map[string]any // arguments of an mcp tool
}

func shell(command string) step                     { return step{tool: "shell", text: command} }
func agent(script string) step                      { return step{tool: "agent", text: script} }
func mcpTool(name string, args map[string]any) step { return step{tool: "mcp", text: name, args: args} }
func say(text string) step                          { return step{text: text} }
func prompt(script string) string                   { return "Do what the script [[" + script + "]] says." }

// scripts contains the answers of the model by the name that is in brackets in the user's
// message; subagents have their own names.
type scripts map[string][]step

// call is the name of a tool in a host's protocol. Only Codex has namespaces.
type call struct {
	name, namespace string
	args            map[string]any
}

// model is a server that speaks the protocols of four hosts. It keeps no state: an answer
// follows from the request.
type model struct {
	scripts   scripts
	translate func(step) call

	mu       sync.Mutex
	requests []request
}

// request is a request to the model.
type request struct {
	path   string
	script string // "" if no user message names one
	step   int    // how many tool results follow that message
	body   string
}

// entry is a part of a conversation that determines the next step: a user's text or a tool
// result.
type entry struct {
	user   string
	result bool
}

var named = regexp.MustCompile(`\[\[([a-z-]+)\]\]`)

// newRequest finds the last script that a user message names, and counts the tool results after
// it.
func newRequest(path string, body []byte, entries []entry) request {
	r := request{path: path, body: string(body)}
	for _, e := range entries {
		if found := named.FindStringSubmatch(e.user); found != nil {
			r.script, r.step = found[1], 0
		}
		if e.result {
			r.step++
		}
	}
	return r
}

// start serves the model until the test ends, and returns its address.
func (m *model) start(t *testing.T) string {
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return server.URL
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	for _, p := range protocols {
		if r.Method != http.MethodPost || !strings.Contains(r.URL.Path, p.path) {
			continue
		}
		var said map[string]any
		if err := json.Unmarshal(body, &said); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, call := m.next(newRequest(r.URL.Path, body, p.entries(said)), said["tools"])
		p.answer(w, text, call)
		return
	}
	m.record(request{path: r.Method + " " + r.URL.Path, body: string(body)})
	http.NotFound(w, r)
}

// next returns the answer to a request. A request without tools, for a title or a summary, gets
// a fixed text.
func (m *model) next(r request, tools any) (text string, c *call) {
	m.record(r)
	steps := m.scripts[r.script]
	if list, ok := tools.([]any); !ok || len(list) == 0 || r.step >= len(steps) {
		return "Done.", nil
	}
	s := steps[r.step]
	if s.tool == "" {
		return s.text, nil
	}
	translated := m.translate(s)
	return "", &translated
}

func (m *model) record(r request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
}

// asked returns the requests of a script, from a step on.
func (m *model) asked(script string, step int) (list []request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		if r.script == script && r.step >= step {
			list = append(list, r)
		}
	}
	return list
}

// saw reports whether a request of the script contains the text, from a step on. JSON may have
// escaped the text again.
func (m *model) saw(script string, step int, text string) bool {
	for _, r := range m.asked(script, step) {
		if strings.Contains(plain(r.body), plain(text)) {
			return true
		}
	}
	return false
}

// plain returns a text without quotes and the escapes of JSON and HTML.
func plain(text string) string {
	return strings.NewReplacer(`\`, "", `"`, "", "u003c", "<", "u003e", ">", "u0026", "&", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(text)
}

// compact returns a value as JSON.
func compact(v any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // a map of strings always has a JSON form
	}
	return strings.TrimSpace(text.String())
}

// serials makes ids that are unique among the answers.
var serials atomic.Int64

func serial() string { return fmt.Sprint(serials.Add(1)) }
