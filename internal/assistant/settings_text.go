package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// handler is the command that runs on an event.
type handler struct {
	Type    string `json:"type,omitempty"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
	Matcher string `json:"matcher,omitempty"`
}

// shellHandler is the command that runs on an event, one for each shell.
type shellHandler struct {
	Type       string `json:"type"`
	Bash       string `json:"bash"`
	PowerShell string `json:"powershell"`
	Timeout    int    `json:"timeoutSec"`
	Matcher    string `json:"matcher,omitempty"`
}

// group is what runs on an event for some tools.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

// entry returns the JSON of one hook.
func (s Settings) entry(h hook) []byte {
	if s.shells {
		windows := "if (Get-Command stig -ErrorAction SilentlyContinue) { " + s.call(h) + " }"
		return compact(shellHandler{"command", s.command(h), windows, h.timeout, h.matcher})
	}
	own := handler{Command: s.command(h), Timeout: h.timeout}
	if s.flat {
		own.Matcher = h.matcher
		return compact(own)
	}
	own.Type = "command"
	return compact(group{Matcher: h.matcher, Hooks: []handler{own}})
}

// events returns the JSON of an object of hooks, in their order.
func (s Settings) events(hooks []hook) []byte {
	var pairs [][]byte
	for _, h := range hooks {
		pairs = append(pairs, slices.Concat(compact(h.event), []byte(":"), listOf(s.entry(h))))
	}
	return slices.Concat([]byte("{"), bytes.Join(pairs, []byte(",")), []byte("}"))
}

// whole returns the JSON of a file that contains only hooks.
func (s Settings) whole(hooks []hook) []byte {
	text := `{"hooks":` + string(s.events(hooks))
	if s.version != 0 {
		text += fmt.Sprintf(`,"version":%d`, s.version)
	}
	return []byte(text + "}")
}

// Use returns what stig's hooks are for.
func (s Settings) Use() string {
	return "hooks: brief each session, guard the store, ask for a checkpoint"
}

// Whole returns the text of a file with stig's hooks and nothing else.
func (s Settings) Whole() string {
	if s.plugin != "" {
		return s.plugin
	}
	return string(style{eol: "\n", unit: "  "}.layOut(s.whole(s.hooks), "", false)) + "\n"
}

func listOf(entry []byte) []byte { return slices.Concat([]byte("["), entry, []byte("]")) }

// compact returns v as JSON without blanks, with & and > unescaped.
func compact(v any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("host: " + err.Error()) // cannot happen: strings and numbers can be encoded
	}
	return bytes.TrimSpace(text.Bytes())
}
