package signals

import (
	"slices"
	"strings"

	"stig/notes"
)

// ReopenSection is the section of the notes that records when and why an issue was reopened.
// Each of its parts has a heading that begins with Reopening.
const (
	ReopenSection = "reopen-context"
	Reopening     = "Reopened"
)

// WasReopened reports whether notes record that their issue was reopened.
func WasReopened(d *notes.Doc) bool {
	for _, section := range d.Named(ReopenSection) {
		if slices.ContainsFunc(notes.Parts(d.Body(section)), func(p notes.Part) bool { return strings.HasPrefix(p.Heading, Reopening) }) {
			return true
		}
	}
	return false
}
