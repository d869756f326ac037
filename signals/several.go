package signals

import (
	"slices"
	"strings"

	"stig/notes"
)

// several finds the tables before the live one, and whether a bad merge left them.
func (t *Table) several(d *notes.Doc, sections []notes.Section) {
	for i, s := range sections[:len(sections)-1] {
		line, column := d.Position(s.Start)
		f := t.add(RuleSeveral, Warning, line, column, "", "there is a later signal table, which is the live one")
		f.Hint = "stig signals reconcile ID"
		next := sections[i+1]
		separator, joined := separatorBetween(d, s, next)
		if joined && strings.TrimSpace(d.Body(s)) != strings.TrimSpace(d.Body(next)) {
			line, column := d.Position(separator.Start)
			f := t.add(RuleMerge, Error, line, column, "", "a merge joined two differing signal tables here")
			f.Hint = "stig signals reconcile ID"
		}
	}
}

// separatorBetween finds the last line of three dashes between two sections that is between
// blank lines and in no section: a known merge driver joins the notes of both sides with it.
func separatorBetween(d *notes.Doc, a, b notes.Section) (notes.Span, bool) {
	var found notes.Span
	var ok bool
	text := d.Text()
	blank := false
	for start := a.End; start < b.Start; {
		end := start + strings.IndexByte(text[start:]+"\n", '\n')
		line := strings.TrimSpace(text[start:end])
		if line == "---" && blank && !inSection(d, start) && blankLine(text, end+1) {
			found, ok = notes.Span{Start: start, End: end}, true
		}
		blank = line == ""
		start = end + 1
	}
	return found, ok
}

func inSection(d *notes.Doc, offset int) bool {
	return slices.ContainsFunc(d.Sections(), func(s notes.Section) bool { return s.Start <= offset && offset < s.End })
}

// blankLine reports whether a blank line begins at that offset.
func blankLine(text string, start int) bool {
	if start >= len(text) {
		return false
	}
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.TrimSpace(line) == ""
}
