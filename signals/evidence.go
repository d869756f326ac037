package signals

import (
	"strings"

	"stig/notes"
)

// EvidenceSection is the name of the section that records what was last run to support the
// claims of an issue.
const EvidenceSection = "evidence-context"

// Evidence is what was run, and its result. The signal evidence-freshness gives its day to
// readers of the table alone.
type Evidence struct {
	Date string // YYYY-MM-DD from its heading, "" if the heading has none
	Text string // all text but the heading, trimmed
}

// LastEvidence reads the live evidence, with any heading or none.
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

// SetEvidence replaces a document's evidence; the same text on the same day changes nothing.
// Earlier evidence stays in the store's history.
func SetEvidence(d *notes.Doc, e Evidence) (*notes.Doc, error) {
	return d.Replace(EvidenceSection, "## Evidence ("+e.Date+")\n\n"+strings.TrimSpace(e.Text))
}
