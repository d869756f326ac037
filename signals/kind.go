package signals

import (
	"strings"

	"stig/notes"
)

// Union says how a merge unites a section that both sides changed, and how
// Reconcile unites several of a document.
type Union int

const (
	ByPerson Union = iota // it does not: a person decides
	Rows                  // row by row, by the dates in them
	Newer                 // the one of the later date stays live, the other is kept beside it
	Parts                 // the parts of both, in the order of their dates
)

// Kind is a kind of section that the convention defines. Sections of other names
// are text that is kept.
type Kind struct {
	Name  string
	Many  bool // there may be several; a name goes on behind Name and a blank
	Apart bool // a briefing shows it in a place of its own, not among the other notes
	Union Union
	Date  func(*notes.Doc) string // for Newer: of the live one, YYYY-MM-DD or ""
}

// SynthesisSection is the name of the section in which an epic keeps what the issues
// within it came to. It is gathered anew, never edited.
const SynthesisSection = "synthesis"

// kinds is the one list of the kinds of sections.
var kinds = []Kind{
	{Name: Section, Apart: true, Union: Rows},
	{Name: EstimateSection, Apart: true, Union: Newer, Date: estimateDate},
	{Name: EvidenceSection, Apart: true, Union: Newer, Date: evidenceDate},
	{Name: EscalationSection, Apart: true, Union: Parts},
	{Name: ReopenSection, Union: Parts},
	{Name: MergedSection, Many: true, Apart: true},
	{Name: PropagatedSection, Many: true},
	{Name: SynthesisSection},
}

// United lists the names of the sections of which Reconcile leaves one.
func United() (names []string) {
	for _, k := range kinds {
		if k.Union != ByPerson {
			names = append(names, k.Name)
		}
	}
	return names
}

// KindOf gives the kind of a section by its name: the zero Kind where the convention
// defines none.
func KindOf(name string) Kind {
	for _, k := range kinds {
		if name == k.Name && !k.Many || k.Many && strings.HasPrefix(name, k.Name+" ") && (k.Name != MergedSection || isMerged(name)) {
			return k
		}
	}
	return Kind{}
}

func estimateDate(d *notes.Doc) string {
	estimate, _ := LastEstimate(d)
	return estimate.Date
}

func evidenceDate(d *notes.Doc) string {
	evidence, _ := LastEvidence(d)
	return evidence.Date
}
