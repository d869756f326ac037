package signals

import (
	"strings"

	"stig/notes"
)

// EvidenceSection is the name of the section that says what was run last to
// show that the claims of an issue hold.
const EvidenceSection = "evidence-context"

// Evidence is what was run, and what it said. The signal evidence-freshness
// gives its day to those who read the table alone.
type Evidence struct {
	Date string // YYYY-MM-DD of its heading, "" when the heading has none
	Text string // all text but the heading, trimmed
}

// LastEvidence reads the live evidence. Any heading is accepted, and none.
func LastEvidence(d *notes.Doc) (Evidence, bool) {
	live, there := d.Live(EvidenceSection)
	if !there {
		return Evidence{}, false
	}
	e := Evidence{Text: strings.TrimSpace(d.Body(live))}
	if heading, rest, ok := cutHeading(e.Text); ok {
		e.Date, e.Text = dateIn(heading), rest
	}
	return e, true
}

// SetEvidence replaces the evidence of a document; the same of the same day
// changes nothing. What was run before stays in the history of the store.
func SetEvidence(d *notes.Doc, e Evidence) (*notes.Doc, error) {
	return d.Replace(EvidenceSection, "## Evidence ("+e.Date+")\n\n"+strings.TrimSpace(e.Text))
}
