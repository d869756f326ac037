package signals

import (
	"slices"
	"strings"

	"stig/notes"
)

// ReopenSection is the section of the notes that says when and why an issue was
// opened again. Each of its parts begins with a heading of the word Reopening.
const (
	ReopenSection = "reopen-context"
	Reopening     = "Reopened"
)

// WasReopened reports whether notes say that their issue was opened again.
func WasReopened(d *notes.Doc) bool {
	for _, section := range d.Named(ReopenSection) {
		if slices.ContainsFunc(notes.Parts(d.Body(section)), func(p notes.Part) bool { return strings.HasPrefix(p.Heading, Reopening) }) {
			return true
		}
	}
	return false
}
