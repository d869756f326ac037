package notes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Splice replaces the bytes of Span by Text. An empty Span inserts.
type Splice struct {
	Span
	Text string
}

func (s Splice) growth() int { return len(s.Text) - (s.End - s.Start) }

// Apply makes all splices at once. Their spans refer to d, are disjoint, and come in any order;
// several insertions at one place keep their order, and precede a replacement that begins
// there.
//
// It refuses a malformed document (*Error), splices that overlap or are out of range, and a
// result with unpaired delimiters, with a section changed that no splice touches, or without a
// section whose body was spliced. A section is removed only by a splice over one of its
// delimiter lines.
func (d *Doc) Apply(splices ...Splice) (*Doc, error) {
	if len(d.malformed) > 0 {
		return nil, d.malformed[0]
	}
	ordered, err := order(splices, len(d.text))
	if err != nil {
		return nil, err
	}
	result := Parse(join(d.text, Span{0, len(d.text)}, ordered))
	if err := d.keeps(result, ordered); err != nil {
		return nil, err
	}
	if len(result.malformed) > 0 {
		return nil, fmt.Errorf("the edit would leave malformed notes: %w", result.malformed[0])
	}
	return result, nil
}

func order(splices []Splice, size int) ([]Splice, error) {
	ordered := slices.Clone(splices)
	slices.SortStableFunc(ordered, func(a, b Splice) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(min(a.End-a.Start, 1), min(b.End-b.Start, 1)))
	})
	end := 0
	for _, s := range ordered {
		if s.Start < 0 || s.End < s.Start || s.End > size {
			return nil, fmt.Errorf("notes: splice of bytes %d to %d is outside a text of %d bytes", s.Start, s.End, size)
		}
		if s.Start < end {
			return nil, fmt.Errorf("notes: splice of bytes %d to %d overlaps one that ends at %d", s.Start, s.End, end)
		}
		end = s.End
	}
	return ordered, nil
}

// join returns a part of a text after its splices.
func join(text string, part Span, ordered []Splice) string {
	var b strings.Builder
	end := part.Start
	for _, s := range ordered {
		b.WriteString(text[end:s.Start])
		b.WriteString(s.Text)
		end = s.End
	}
	b.WriteString(text[end:part.End])
	return b.String()
}

// keeps checks that the result has, at its place, every section that the splices did not
// remove.
func (d *Doc) keeps(result *Doc, ordered []Splice) error {
	for _, s := range d.sections {
		where, outcome := d.follow(s, ordered)
		if outcome == given {
			continue
		}
		kept := slices.ContainsFunc(result.sections, func(r Section) bool {
			return r.Name == s.Name && r.Span == where &&
				(outcome == spliced || result.text[r.Start:r.End] == d.text[s.Start:s.End])
		})
		if !kept {
			return lost(result, s, where)
		}
	}
	return nil
}

// outcome is what a list of splices does to a section.
type outcome int

const (
	untouched outcome = iota
	spliced           // only its body changed
	given             // removed: a delimiter line is replaced
)

// follow returns the span of a section after the splices.
func (d *Doc) follow(s Section, ordered []Splice) (Span, outcome) {
	closing := d.closerStart(s)
	where, what := s.Span, untouched
	for _, splice := range ordered {
		switch {
		case splice.End <= s.Start:
			where.Start += splice.growth()
			where.End += splice.growth()
		case splice.Start >= s.End:
		case splice.Start >= s.Body.Start && splice.End <= closing:
			where.End += splice.growth()
			what = max(what, spliced)
		default:
			what = given
		}
	}
	return where, what
}

// lost says what in the result swallowed a section.
func lost(result *Doc, s Section, where Span) error {
	line, _ := result.Position(lineStart(result.text, min(where.Start, len(result.text))))
	closing := lineStart(result.text, min(where.End, len(result.text)))
	delimiters, _ := scan(result.text)
	for _, d := range delimiters {
		if d.line.Start > where.Start && d.line.Start < closing {
			return fmt.Errorf("the edit would break section %q (line %d): line %d would be the delimiter %s", s.Name, line, d.number, d)
		}
	}
	start, kind := blockAt(result.text, closing)
	at, _ := result.Position(start)
	return fmt.Errorf("the edit would break section %q (line %d): line %d would begin %s", s.Name, line, at, kind)
}
