package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"

	"stig/beads"
	"stig/lint"
)

// Output is a result as data: the object that a command prints with --json and
// that a tool of the MCP server gives.
type Output struct {
	Kind   string // schemas/stig/output.cue has the keys of each
	Bodies []any  // each encodes as an object, whose keys become those of the output
}

func output(kind string, bodies ...any) Output { return Output{Kind: kind, Bodies: bodies} }

// EditOutput is the output of an edit: its own keys, the issues that it touched,
// whether it was a dry run, and the diff of one.
func EditOutput(kind string, body any, changes []beads.Change, dryRun bool) (Output, error) {
	own := struct {
		Issues []string `json:"issues"`
		DryRun bool     `json:"dry_run"`
		Diff   *string  `json:"diff,omitempty"`
	}{Issues: []string{}, DryRun: dryRun}
	for _, c := range changes {
		own.Issues = append(own.Issues, c.ID)
	}
	if dryRun {
		text, err := DiffText(changes)
		if err != nil {
			return Output{}, err
		}
		own.Diff = &text
	}
	return output(kind, body, own), nil
}

// Output is what a check found as data.
func (c *Checked) Output() Output {
	return output("check", map[string]any{
		"diagnostics": append([]lint.Diagnostic{}, c.Found...), "counts": lint.Count(c.Found), "issues": c.Issues,
	})
}

// JSON is the output as one object on one line: schema_version and kind first, then
// the keys of each body.
func (o Output) JSON() (json.RawMessage, error) {
	line := fmt.Sprintf(`{"schema_version":1,"kind":%q`, o.Kind)
	for _, body := range o.Bodies {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(body); err != nil {
			return nil, err
		}
		keys := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text.String()), "{"), "}")
		if keys != "" {
			line += "," + inert(keys)
		}
	}
	return json.RawMessage(line + "}"), nil
}

// WriteJSON writes an output and a newline.
func WriteJSON(w io.Writer, kind string, bodies ...any) error {
	line, err := output(kind, bodies...).JSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// inert is JSON that says the same without characters that act.
func inert(text string) string {
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch high, low := utf16.EncodeRune(r); {
		case !acts(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
