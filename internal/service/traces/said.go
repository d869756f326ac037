package traces

import (
	"fmt"
	"strings"

	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Said is a trace given by flags or by the arguments of a tool.
type Said struct {
	Message string   // first line; further lines go before the body
	Body    string   // Markdown
	Fields  []string // NAME=VALUE; a repeated name makes a list
	To      []string
	Re      string
}

// Draft returns the draft of a trace of this type on an issue.
func (s Said) Draft(issue, kind string) (Draft, error) {
	d := Draft{Issue: issue, Type: kind, Content: map[string]any{}}
	add := func(key, value string) {
		list, _ := d.Content[key].([]string)
		d.Content[key] = append(list, value)
	}
	for _, field := range s.Fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return d, workspace.Usage(fmt.Sprintf("field: must be NAME=VALUE; found %q", field), "")
		}
		add(key, value)
	}
	for _, whom := range s.To {
		add("to", whom)
	}
	if s.Re != "" {
		add("re", s.Re)
	}
	for key, value := range d.Content {
		if list := value.([]string); len(list) == 1 {
			d.Content[key] = list[0] // a single value is a text
		}
	}
	message, more, _ := strings.Cut(strings.TrimSpace(visible.LF(s.Message)), "\n")
	d.Body = strings.TrimSpace(more) + "\n\n" + s.Body
	known, _ := trace.KindOf(kind)
	switch {
	case message == "":
	case known.Head == "":
		d.Summary = message
	default:
		d.Content[known.Head] = message
	}
	return d, nil
}

// Form returns an empty trace of a type, to fill in with an editor.
func Form(kind string) string {
	known, _ := trace.KindOf(kind)
	return trace.Trace{Type: kind, Version: "1", Trailers: known.Blank()}.Text()
}

// Composed parses a filled-in form as a trace on an issue. The text may name another type than
// kind. An invalid trace is a usage error.
func Composed(issue, kind, text string) (Draft, error) {
	t, err := trace.Parse(text)
	if err != nil {
		return Draft{}, workspace.Usage("not a trace: it must end with the line stig: "+kind+"/1", "")
	}
	d := Draft{Issue: issue, Type: t.Type, Summary: t.Summary}
	d.Content, d.Body = t.Content()
	return d, nil
}
