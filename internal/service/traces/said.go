package traces

import (
	"fmt"
	"strings"

	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Said is a trace as somebody says it in flags, or in the arguments of a tool.
type Said struct {
	Message string   // the first line; lines below it go before the body
	Body    string   // Markdown
	Fields  []string // NAME=VALUE; a name that repeats is a list
	To      []string
	Re      string
}

// Draft is what was said as a trace of a type on an issue.
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
			d.Content[key] = list[0] // a block is a text
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

// Form is the text of a trace of a type without what is to be said, for an editor.
func Form(kind string) string {
	known, _ := trace.KindOf(kind)
	return trace.Trace{Type: kind, Version: "1", Trailers: known.Blank()}.Text()
}

// Composed is the trace on an issue that somebody made of a form; the text may name another
// type than the form did. A text that is no trace is a usage error.
func Composed(issue, kind, text string) (Draft, error) {
	t, err := trace.Parse(text)
	if err != nil {
		return Draft{}, workspace.Usage("what was written is no trace: it must end with the line stig: "+kind+"/1", "")
	}
	d := Draft{Issue: issue, Type: t.Type, Summary: t.Summary}
	d.Content, d.Body = t.Content()
	return d, nil
}
