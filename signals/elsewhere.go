package signals

import (
	"strings"

	"stig/notes"
)

// ElsewhereSection is the section of the notes that records which dependencies on other stores
// were done when the issue was claimed. Each of its parts is one Elsewhere.
const ElsewhereSection = "external"

// Elsewhere records that a dependency on another store was done.
type Elsewhere struct {
	On     string // the id in the row, such as external:api:auth-v2
	Issue  string // its id there; "" if a command showed it
	Commit string // that proves it, abbreviated; "" if a command showed it
	Day    string // YYYY-MM-DD
}

// byCommand is the text of a part that a command showed.
const byCommand = "shown by its command in gate.external"

// Text returns the part of the section for the record.
func (e Elsewhere) Text() string {
	text := byCommand
	if e.Issue != "" {
		text = e.Issue + " at " + e.Commit
	}
	return "## `" + e.On + "` (" + e.Day + ")\n" + text
}

// LastElsewhere returns the last record of a dependency in notes.
func LastElsewhere(d *notes.Doc, on string) (last Elsewhere, ok bool) {
	for _, section := range d.Named(ElsewhereSection) {
		for _, p := range notes.Parts(d.Body(section)) {
			day, about := strings.CutPrefix(p.Heading, on+" (")
			if day = strings.TrimSuffix(day, ")"); !about || !IsDate(day) || ok && day < last.Day {
				continue
			}
			last, ok = Elsewhere{On: on, Day: day}, true
			if text := strings.TrimSpace(p.Body); text != byCommand {
				last.Issue, last.Commit, _ = strings.Cut(text, " at ")
			}
		}
	}
	return last, ok
}
