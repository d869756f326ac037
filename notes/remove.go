package notes

import "strings"

// Remove removes the live section with that name and the blank lines after it, or before it if
// it is last; without such a section nothing changes. It refuses malformed notes (*Error).
func (d *Doc) Remove(name string) (*Doc, error) {
	live, there := d.Live(name)
	if !there {
		return d, nil
	}
	return d.Apply(Splice{Span: d.withBlanks(live.Span)})
}

// withBlanks extends a section by the blank lines after it, or before it if it is last.
func (d *Doc) withBlanks(s Span) Span {
	rest := strings.TrimLeft(d.text[s.End:], " \t\r\n")
	if rest != "" {
		end := strings.LastIndexByte(d.text[:len(d.text)-len(rest)], '\n') + 1
		return Span{s.Start, max(end, s.End)}
	}
	before := strings.TrimRight(d.text[:s.Start], " \t\r\n")
	if strings.HasSuffix(d.text, "\n") && before != "" {
		return Span{len(before), s.End} // the final newline stays
	}
	return Span{len(before), len(d.text)}
}
