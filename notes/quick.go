package notes

import "strings"

// quick finds the sections of a text without its block tree if nothing in it can swallow a
// delimiter: no code fence and no HTML but comments alone on their lines. Such a line is always
// a block of its own. It returns false, and changes nothing, if that is not so or if a section
// could contain a table among other text.
func (d *Doc) quick() bool {
	var usual [8]delimiter // enough for most notes
	delimiters, ok := plainDelimiters(usual[:0], d.text)
	if !ok {
		return false
	}
	sections, malformed := pair(d.text, delimiters)
	var paragraphs []Span
	for _, s := range sections {
		if paragraphs, ok = pipedRuns(d.text, s.Body, paragraphs); !ok {
			return false
		}
	}
	d.sections, d.malformed, d.paragraphs = sections, malformed, paragraphs
	return true
}

// plainDelimiters appends the delimiters of a text in which they are plain.
func plainDelimiters(delimiters []delimiter, text string) (_ []delimiter, plain bool) {
	if strings.Contains(text, "```") || strings.Contains(text, "~~~") || strings.IndexByte(text, '\r') >= 0 {
		return nil, false
	}
	lines := lineCounter{text: text}
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			return delimiters, true
		}
		at += next
		if !beginsHTML(text[at:]) {
			continue
		}
		line := text[at:lineEnd(text, at)]
		if at > 0 && text[at-1] != '\n' || !oneComment(line) {
			return nil, false
		}
		if found, ok := readDelimiter(text, at); ok {
			found.number = lines.line(at)
			delimiters = append(delimiters, found)
		}
		at += len(line) - 1
	}
}

// beginsHTML reports whether a text that begins with "<" might begin HTML.
func beginsHTML(text string) bool {
	if len(text) < 2 {
		return false
	}
	c := text[1]
	return c == '!' || c == '/' || c == '?' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// oneComment reports whether a line begins with a comment that ends on it, and
// with it the block.
func oneComment(line string) bool {
	inner, opened := strings.CutPrefix(line, "<!-- ")
	return opened && strings.Contains(inner, " -->")
}

// pipedRuns adds the paragraphs of a body that holds nothing but lines that
// begin with a pipe, and blank ones: no such line can be anything else. A body
// without pipes holds no table, and needs none.
func pipedRuns(text string, body Span, runs []Span) (_ []Span, simple bool) {
	if strings.IndexByte(text[body.Start:body.End], '|') < 0 {
		return runs, true
	}
	inside := false
	for start := body.Start; start < body.End; start = nextLine(text, start) {
		line := Span{start, lineEnd(text, start)}
		switch {
		case text[start] == '|' && inside:
			runs[len(runs)-1].End = line.End
		case text[start] == '|':
			runs, inside = append(runs, line), true
		case strings.Trim(text[line.Start:line.End], " \t") == "":
			inside = false
		default:
			return nil, false
		}
	}
	return runs, true
}
