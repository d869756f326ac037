package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stig/internal/workspace"
)

// tool is a service that an assistant can call. Types are plain: some hosts refuse a schema
// with unions, others send every argument as a string.
type tool struct {
	name, title, about string
	effect             effect
	params             []param
	gives              []param // keys of the result besides ofAll
	// answer runs the tool. failed is true for a refusal that the result explains.
	answer func(context.Context, *workspace.Run, args) (out workspace.Output, failed bool, err error)
}

// effect says whether a tool reads, writes, or runs commands.
type effect int

const (
	reads effect = iota
	writes
	runs // runs commands of the project
)

// Kinds of parameters and of the keys of results.
const (
	text    = "string"
	number  = "number"
	integer = "integer"
	boolean = "boolean"
	texts   = "texts" // a list of strings
	// Only of results:
	rows     = "rows" // a list of objects
	object   = "object"
	anything = "" // what may be null
)

// param is a parameter of a tool, or a key of its result.
type param struct {
	name, kind, about string
	required          bool
}

// described returns the tool as MCP lists it.
func (t tool) described() *mcp.Tool {
	yes, no := true, false
	hints := &mcp.ToolAnnotations{Title: t.title, ReadOnlyHint: t.effect == reads, DestructiveHint: &no, IdempotentHint: t.name != "create", OpenWorldHint: &no}
	if t.effect == runs {
		hints.OpenWorldHint = &yes
	}
	input := schema(t.params)
	input["additionalProperties"] = false
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, Annotations: hints, InputSchema: input,
		OutputSchema: schema(slices.Concat(ofAll(), t.gives)),
	}
}

// ofAll returns the keys that every result may have. A refusal has no others.
func ofAll() []param {
	return []param{
		{"schema_version", integer, "", true}, {"kind", text, "what the result is; error for a refusal", true},
		{"message", text, "reason of a refusal", false}, {"hint", text, "what to call or do about it", false}, {"code", integer, "of a refusal", false},
		{"warnings", texts, "what else needs attention", false}, {"left_out", text, "what was cut because the result is too long", false},
	}
}

// schema returns the JSON Schema of an object with the given keys.
func schema(params []param) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range params {
		one := map[string]any{}
		switch p.kind {
		case anything:
		case texts:
			one["type"], one["items"] = "array", map[string]any{"type": text}
		case rows:
			one["type"], one["items"] = "array", map[string]any{"type": object}
		default:
			one["type"] = p.kind
		}
		if p.about != "" {
			one["description"] = p.about
		}
		properties[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	s := map[string]any{"type": object, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// args are the arguments of a call by name. Each is a string, float64, bool or []string, as its
// parameter says.
type args map[string]any

func (a args) text(name string) string { s, _ := a[name].(string); return s }
func (a args) flag(name string) bool   { b, _ := a[name].(bool); return b }
func (a args) list(name string) []string {
	l, _ := a[name].([]string)
	return l
}

// ids returns a list of ids. It splits at blanks and commas, which no id contains.
func (a args) ids(name string) (ids []string) {
	for _, item := range a.list(name) {
		ids = append(ids, strings.FieldsFunc(item, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	return ids
}
func (a args) whole(name string) int { f, _ := a[name].(float64); return int(f) }

// read decodes the arguments of a call, each in its type or as a string of it.
func (t tool) read(raw json.RawMessage) (args, error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, workspace.Usage("the arguments are not an object", "")
		}
	}
	read := args{}
	for _, p := range t.params {
		value, is := given[p.name]
		delete(given, p.name)
		if !is || string(value) == "null" {
			if p.required {
				return nil, workspace.Usage(p.name+" is missing", "give "+p.name)
			}
			continue
		}
		v, err := p.read(value)
		if err != nil {
			return nil, err
		}
		read[p.name] = v
	}
	if len(given) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(given)))
		var known []string
		for _, p := range t.params {
			known = append(known, p.name)
		}
		return nil, workspace.Usage(fmt.Sprintf("unknown argument %q", name), t.name+" takes "+strings.Join(known, ", "))
	}
	return read, nil
}

// read decodes one argument.
func (p param) read(raw json.RawMessage) (any, error) {
	var word string
	isText := json.Unmarshal(raw, &word) == nil
	if !isText {
		word = string(raw)
	}
	wrong := workspace.Usage(fmt.Sprintf("%s: must be %s; found %s", p.name, article(p.kind), clip(string(raw), 60)), "")
	switch p.kind {
	case text:
		if !isText && strings.ContainsAny(word[:1], "{[") {
			return nil, wrong
		}
		return word, nil
	case number, integer:
		f, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || p.kind == integer && (f < 0 || f != float64(int(f))) {
			return nil, wrong
		}
		return f, nil
	case boolean:
		b, err := strconv.ParseBool(strings.TrimSpace(word))
		if err != nil {
			return nil, wrong
		}
		return b, nil
	}
	var items []string
	switch {
	case json.Unmarshal(raw, &items) == nil:
		return items, nil
	case isText && json.Unmarshal([]byte(word), &items) == nil: // a list sent as a string
		return items, nil
	case isText:
		return []string{word}, nil
	}
	return nil, wrong
}

func article(kind string) string {
	switch kind {
	case texts:
		return "a list of strings"
	case integer:
		return "a whole number of at least 0"
	case text:
		return "a string"
	case boolean:
		return "true or false"
	}
	return "a " + kind
}
