package notes

import (
	"fmt"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
)

// Replace gives the live section with that name a new body; without one it appends the section
// after a blank line, and the text ends with a newline exactly if it did before. The body gets
// the document's line endings. The current body changes nothing.
//
// It refuses malformed notes (*Error), an invalid section name, and a body that contains a
// delimiter line or leaves a code fence, an HTML block or a comment open (fault.Usage).
func (d *Doc) Replace(name, body string) (*Doc, error) {
	if err := d.accepts(name, body); err != nil {
		return nil, err
	}
	live, there := d.Live(name)
	if !there {
		return d.appended(name, body)
	}
	if normal(d.Body(live)) == normal(body) {
		return d, nil
	}
	lines := Span{live.Body.Start, d.closerStart(live)}
	return d.Apply(Splice{lines, d.lines(body)})
}

// Extend appends text to the body of the live section with that name, after a blank line;
// without one it creates the section as Replace does. The existing body keeps its bytes. It
// refuses what Replace refuses.
func (d *Doc) Extend(name, text string) (*Doc, error) {
	if err := d.accepts(name, text); err != nil {
		return nil, err
	}
	live, there := d.Live(name)
	if !there {
		return d.appended(name, text)
	}
	at := d.closerStart(live)
	added := d.lines(text)
	if body := normal(d.Body(live)); body != "" && !strings.HasSuffix(body, "\n") {
		added = d.Newline() + added
	}
	return d.Apply(Splice{Span{at, at}, added})
}

// Append puts a text at the end, outside of sections, after a blank line. It refuses malformed
// notes (*Error), and a text that holds a delimiter line or leaves a code fence, an HTML block
// or a comment open (fault.Usage).
func (d *Doc) Append(text string) (*Doc, error) {
	const name = "notes"
	if err := d.accepts(name, text); err != nil {
		if e, ok := err.(*fault.Error); ok {
			e.Reason = strings.Replace(e.Reason, fmt.Sprintf("section %q", name), name, 1)
		}
		return nil, err
	}
	added, size := d.lines(strings.TrimRight(text, "\r\n")), len(d.text)
	switch {
	case size == 0:
		added = strings.TrimSuffix(added, d.Newline())
	case !strings.HasSuffix(d.text, "\n"):
		added = d.Newline() + d.Newline() + strings.TrimSuffix(added, d.Newline())
	case !blankAt(d.text, lineStart(d.text, size-1)):
		added = d.Newline() + added
	}
	return d.Apply(Splice{Span{size, size}, added})
}

// Prepend puts a new section at the very beginning, followed by a blank line if there is more
// text. It refuses what Replace refuses.
func (d *Doc) Prepend(name, body string) (*Doc, error) {
	if err := d.accepts(name, body); err != nil {
		return nil, err
	}
	text := d.Render(name, body)
	if d.text != "" {
		text += d.Newline()
		if !blankAt(d.text, 0) {
			text += d.Newline()
		}
	}
	return d.added(Splice{Span{}, text}, name, body)
}

func (d *Doc) appended(name, body string) (*Doc, error) {
	text := d.Render(name, body)
	size := len(d.text)
	switch {
	case size == 0:
	case !strings.HasSuffix(d.text, "\n"):
		text = d.Newline() + d.Newline() + text
	case blankAt(d.text, lineStart(d.text, size-1)):
		text += d.Newline()
	default:
		text = d.Newline() + text + d.Newline()
	}
	return d.added(Splice{Span{size, size}, text}, name, body)
}

// added applies the splice that adds a section and checks the result: text around it, such as
// an unclosed code fence, may swallow it.
func (d *Doc) added(splice Splice, name, body string) (*Doc, error) {
	result, err := d.Apply(splice)
	if err != nil {
		return nil, err
	}
	place := splice.Start + strings.Index(splice.Text, "<")
	for _, s := range result.sections {
		if s.Start == place && s.Name == name && normal(result.Body(s)) == normal(body) {
			return result, nil
		}
	}
	start, kind := blockAt(result.text, place)
	line, _ := result.Position(start)
	return nil, fmt.Errorf("notes:%d: section %q cannot be added: line %d begins %s", line, name, line, kind)
}

// accepts reports whether d can be written, and whether a section with that name and body is
// valid by itself.
func (d *Doc) accepts(name, body string) error {
	if len(d.malformed) > 0 {
		return d.malformed[0]
	}
	if !validName(name) {
		return fmt.Errorf("section %q: a name must be a letter or digit, then letters, digits, blanks, dots, underscores or hyphens", name)
	}
	alone := (&Doc{}).Render(name, body)
	delimiters, _ := scan(alone)
	if len(delimiters) > 2 || len(delimiters) == 2 && delimiters[1].line.End != len(alone) {
		inside := delimiters[1]
		return notBody(name, inside.number-1, "is a section delimiter: "+inside.String(), "put that line into a code fence, where it is text")
	}
	if len(delimiters) < 2 {
		start, kind := blockAt(alone, lineStart(alone, len(alone)))
		line, _ := position(alone, start)
		return notBody(name, line-1, "begins "+kind, "close it")
	}
	return nil
}

// notBody returns why a line of a text, from 1, rules the text out as the body of a section.
func notBody(section string, line int, problem, hint string) error {
	return &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("section %q: line %d of its text %s", section, line, problem), Hint: hint}
}

// Render formats a section in the document's style, without a final newline. [Doc.Apply]
// decides whether it is valid there.
func (d *Doc) Render(name, body string) string {
	return opener(name) + d.Newline() + d.lines(body) + closer(name)
}

// lines splits body into whole lines with the document's line endings.
func (d *Doc) lines(body string) string {
	if body = normal(body); body == "" {
		return ""
	}
	return strings.ReplaceAll(body+"\n", "\n", d.Newline())
}

// Newline is the line ending of the document's first line; LF if it has none.
func (d *Doc) Newline() string {
	if i := strings.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// normal converts every line ending to LF, and drops a CR that would become half of one when
// written as lines.
func normal(text string) string {
	for strings.Contains(text, "\r\n") {
		text = visible.LF(text)
	}
	return strings.TrimRight(text, "\r")
}

// blankAt reports whether the line at that offset exists and is blank.
func blankAt(text string, start int) bool {
	return start < len(text) && strings.Trim(text[start:lineEnd(text, start)], blanks) == ""
}
