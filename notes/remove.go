package notes

import "strings"

// Remove takes away the live section of that name with the blank lines after
// it, of the last one with those before it; where there is none nothing
// changes. It refuses malformed notes (*Error).
func (d *Doc) Remove(name string) (*Doc, error) {
	live, there := d.Live(name)
	if !there {
		return d, nil
	}
	return d.Apply(Splice{Span: d.withBlanks(live.Span)})
}

// withBlanks widens a section to its lines and the blank lines after it; of
// the last one to those before it.
func (d *Doc) withBlanks(s Span) Span {
	rest := strings.TrimLeft(d.text[s.End:], " \t\r\n")
	if rest != "" {
		end := strings.LastIndexByte(d.text[:len(d.text)-len(rest)], '\n') + 1
		return Span{s.Start, max(end, s.End)}
	}
	before := strings.TrimRight(d.text[:s.Start], " \t\r\n")
	if strings.HasSuffix(d.text, "\n") && before != "" {
		return Span{len(before), s.End} // the newline at the end stays
	}
	return Span{len(before), len(d.text)}
}
