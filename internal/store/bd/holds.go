package bd

import (
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/notes"
)

// notesHold reports whether the current notes keep what an edit changed between before and
// after: section by section, every added line and no removed one. Changes by others elsewhere
// do not matter.
func notesHold(before, after, now string) bool {
	was, is, has := notes.Parse(before), notes.Parse(after), notes.Parse(now)
	names := []string{outside}
	for _, section := range slices.Concat(was.Sections(), is.Sections()) {
		names = append(names, section.Name)
	}
	for _, name := range names {
		if !beads.HoldsEdit(linesOf(was, name), linesOf(is, name), linesOf(has, name)) {
			return false
		}
	}
	return true
}

// outside is the text outside all sections.
const outside = ""

// linesOf returns the lines of the live section of that name, after a first one that says that
// the section exists, without blank lines.
func linesOf(d *notes.Doc, name string) (lines []string) {
	text := d.Outside()
	if name != outside {
		section, ok := d.Live(name)
		if !ok {
			return nil
		}
		text = "<!-- " + name + " -->\n" + d.Body(section)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
