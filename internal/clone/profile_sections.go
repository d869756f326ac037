package clone

import (
	"fmt"
	"slices"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
	"stig/notes"
)

const blanks = " \t\r\v\f\n"

// Text returns the whole file.
func (p *Profile) Text() string { return p.text }

// Body returns the text after the front matter, without surrounding blank lines.
func (p *Profile) Body() string { return trimmed(p.text[p.body:]) }

// Section returns the text below the heading ## title, without surrounding blank lines; "" if
// there is none. If there are several, the first counts.
func (p *Profile) Section(title string) string {
	if part, ok := find(notes.Parts(p.text[p.body:]), title); ok {
		return part.Body
	}
	return ""
}

// Opening returns Body for the start of a prompt: without Heartbeat, Learned and Evolution,
// which are added elsewhere, and without empty sections.
func (p *Profile) Opening() string {
	body := p.text[p.body:]
	for _, part := range slices.Backward(notes.Parts(body)) {
		opens := part.Heading == Seed || part.Heading == Values
		if part.Level == 2 && slices.Contains(sections(), part.Heading) && (part.Body == "" || !opens) {
			body = body[:part.Start] + body[part.End:]
		}
	}
	return trimmed(body)
}

// With returns the whole file with another text below the heading ## title. A missing section
// is added in the order of sections. Everything else is unchanged byte for byte.
//
// It returns a fault.Usage if the title occurs twice, or if the text would not stay in its
// section: it has a heading # or ##, or an unclosed code block.
func (p *Profile) With(title, text string) ([]byte, error) {
	body := p.text[p.body:]
	parts := notes.Parts(body)
	text = trimmed(strings.ReplaceAll(visible.LF(text), "\n", p.newline()))
	part, there := find(parts, title)
	switch {
	case there && part.Body == text, !there && text == "":
		return []byte(p.text), nil
	case count(parts, title) > 1:
		return nil, &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("%s: duplicate section ## %s", p.at, title), Hint: "merge the two sections"}
	}
	after := p.spliced(body, parts, title, text)
	changed := notes.Parts(after)
	if now, ok := find(changed, title); !ok || now.Body != text || !slices.Equal(others(body, parts, title), others(after, changed, title)) {
		return nil, &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("%s: ## %s: the text would not stay in its section", p.at, title),
			Hint: "use ### for headings, and close each code block"}
	}
	if p.body+len(after) > maxFile {
		return nil, &fault.Error{Code: fault.Usage, Reason: p.at + ": would be longer than 64 KiB", Hint: "shorten ## " + title}
	}
	return []byte(p.text[:p.body] + after), nil
}

// spliced puts a text into a section, which it adds if needed.
func (p *Profile) spliced(body string, parts []notes.Part, title, text string) string {
	nl := p.newline()
	if part, ok := find(parts, title); ok {
		end := part.Start + len(strings.TrimRight(body[part.Start:part.End], blanks))
		if part.Body == "" {
			return body[:end] + nl + nl + text + body[end:]
		}
		return body[:end-len(part.Body)] + text + body[end:]
	}
	section := "## " + title + nl + nl + text + nl
	order := sections()
	for _, later := range order[slices.Index(order, title)+1:] {
		if next, ok := find(parts, later); ok && slices.Contains(order, title) {
			return body[:next.Start] + section + nl + body[next.Start:]
		}
	}
	switch {
	case strings.HasSuffix(body, nl+nl), body == nl:
		return body + section
	case body == "":
		return nl + section
	case strings.HasSuffix(body, "\n"):
		return body + nl + section
	}
	return body + nl + nl + section
}

// find returns the first part with the heading ## title.
func find(parts []notes.Part, title string) (notes.Part, bool) {
	i := slices.IndexFunc(parts, func(part notes.Part) bool { return part.Level == 2 && part.Heading == title })
	if i < 0 {
		return notes.Part{}, false
	}
	return parts[i], true
}

func count(parts []notes.Part, title string) (n int) {
	for _, part := range parts {
		if part.Level == 2 && part.Heading == title {
			n++
		}
	}
	return n
}

// others returns the texts outside of a section: from each heading # or ## to the next, without
// surrounding blank lines.
func others(body string, parts []notes.Part, title string) (list []string) {
	start, own := 0, false
	for _, part := range parts {
		if part.Level > 2 {
			continue
		}
		if !own {
			list = append(list, trimmed(body[start:part.Start]))
		}
		start, own = part.Start, part.Level == 2 && part.Heading == title
	}
	if !own {
		list = append(list, trimmed(body[start:]))
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

// trimmed returns a text without surrounding blank lines.
func trimmed(text string) string {
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.Trim(line, blanks) != "" {
			return strings.TrimRight(text, blanks)
		}
		text = rest
	}
}

// newline returns the line ending of the file's first line.
func (p *Profile) newline() string {
	if line, _, ok := strings.Cut(p.text, "\n"); ok && strings.HasSuffix(line, "\r") {
		return "\r\n"
	}
	return "\n"
}
