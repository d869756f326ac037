package notes

import (
	"fmt"
	"slices"
	"strings"
)

// Permit says what an edit may do to the sections of notes. The zero Permit allows nothing.
type Permit struct {
	// Change names the sections whose live one (the last) may get another body, or be added if
	// there is none.
	Change []string
	// Unite names the sections of which all but one may be removed, with the lines of dashes
	// that a merge put between them.
	Unite []string
	// Append allows text after everything else, outside of sections.
	Append bool
	// Remove names the sections that may be removed, all of each name.
	Remove []string
}

// Check compares the notes after an edit with those before, given only what was requested:
// every other section must be there byte for byte, and so must every line outside sections, all
// in the same order; blank lines outside do not count. It refuses notes that are malformed
// before (*Error) or after.
//
// [Doc.Apply] checks its own splices. Check is the last line of defence after several edits by
// several callers.
func (p Permit) Check(before, after string) error {
	if before == after {
		return nil
	}
	was, is := Parse(before), Parse(after)
	if len(was.malformed) > 0 {
		return was.malformed[0]
	}
	if len(is.malformed) > 0 {
		return fmt.Errorf("the edit would leave malformed notes: %w", is.malformed[0])
	}
	for _, name := range slices.Concat(p.Change, p.Unite) {
		old, had := was.Live(name)
		if _, has := is.Live(name); had && !has {
			return missing([]piece{{section: name, line: old.Line}}, nil)
		}
	}
	old, now := slices.DeleteFunc(p.pieces(was, is), p.removed), p.pieces(is, was)
	for i, piece := range old {
		if i >= len(now) || !piece.same(now[i]) {
			return missing(old[i:], now[min(i, len(now)):])
		}
	}
	for _, extra := range now[min(len(old), len(now)):] {
		if p.Append && extra.section == "" {
			continue
		}
		return fmt.Errorf("notes:%d: the edit would add %s, which was not requested", extra.line, extra)
	}
	return nil
}

// piece is what must be kept: a section, or a line outside sections.
type piece struct {
	section string // name; "" for a line
	text    string
	line    int // 1-based
}

func (p piece) same(other piece) bool { return p.section == other.section && p.text == other.text }

func (p piece) String() string {
	if p.section == "" {
		return fmt.Sprintf("the line %q", p.text)
	}
	return fmt.Sprintf("section %q", p.section)
}

func (p Permit) removed(at piece) bool { return slices.Contains(p.Remove, at.section) }

// missing says what an edit did to the first piece of old; now is what is there instead.
func missing(old, now []piece) error {
	p := old[0]
	if slices.ContainsFunc(now, p.same) {
		return fmt.Errorf("notes:%d: the edit would add %s before %s, which was not requested", now[0].line, now[0], p)
	}
	if p.section != "" && count(old, p.section) <= count(now, p.section) {
		return fmt.Errorf("notes:%d: the edit would change %s, which was not requested", p.line, p)
	}
	return fmt.Errorf("notes:%d: the edit would lose %s", p.line, p)
}

func count(list []piece, section string) (n int) {
	for _, p := range list {
		if p.section == section {
			n++
		}
	}
	return n
}

// pieces lists what of d the edit must keep; other is the document on the other side of it.
// Parts that may change are listed without their text; parts that may be added or removed are
// omitted.
func (p Permit) pieces(d, other *Doc) (list []piece) {
	at, line := 0, 1
	outside := func(to int) {
		for text := range strings.Lines(d.text[at:to]) {
			if text = strings.Trim(text, blanks+"\n"); text != "" && (len(p.Unite) == 0 || strings.Trim(text, "-") != "") {
				list = append(list, piece{text: text, line: line})
			}
			line++
		}
	}
	for _, s := range d.sections {
		outside(s.Start)
		at, line = s.End, s.Line+strings.Count(d.text[s.Start:s.End], "\n")
		if slices.Contains(p.Unite, s.Name) {
			continue
		}
		entry := piece{section: s.Name, text: d.text[s.Start:s.End], line: s.Line}
		if live, _ := d.Live(s.Name); s == live && slices.Contains(p.Change, s.Name) {
			if _, there := other.Live(s.Name); !there {
				continue
			}
			entry.text = ""
		}
		list = append(list, entry)
	}
	outside(len(d.text))
	return list
}
