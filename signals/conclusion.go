package signals

import (
	"strings"

	"stig/notes"
)

// SwarmSection is the name of the section with the conclusion of the newest swarm on an issue.
// It is replaced whole when a swarm ends, and never part of the state estimate.
const SwarmSection = "swarm"

// Conclusion is what a swarm ended with.
type Conclusion struct {
	Date string // YYYY-MM-DD from its heading, "" if the heading has none
	Text string // all text but the heading, trimmed
}

// LastConclusion reads the live conclusion, with any heading or none.
func LastConclusion(d *notes.Doc) (Conclusion, bool) {
	live, there := d.Live(SwarmSection)
	if !there {
		return Conclusion{}, false
	}
	c := Conclusion{Text: strings.TrimSpace(d.Body(live))}
	if heading, rest, ok := cutHeading(c.Text); ok {
		c.Date, c.Text = dateIn(heading), rest
	}
	return c, true
}

// SetConclusion replaces a document's conclusion.
func SetConclusion(d *notes.Doc, c Conclusion) (*notes.Doc, error) {
	return d.Replace(SwarmSection, "## Swarm ("+c.Date+")\n\n"+strings.TrimSpace(c.Text))
}
