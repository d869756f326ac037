package signals

import (
	"strings"

	"stig/notes"
)

// Union says how a merge unites a section changed on both sides, and how Reconcile unites
// several in one document.
type Union int

const (
	ByPerson Union = iota // it does not: a person decides
	Rows                  // row by row, by date
	Newer                 // the later one stays live, the other is kept beside it
	Parts                 // the parts of both, in order of date
)

// Kind is a kind of section that the convention defines. Sections with other names are plain
// text.
type Kind struct {
	Name  string
	Many  bool // there may be several; their names continue after Name and a blank
	Apart bool // a briefing shows it in a place of its own, not among the other notes
	Union Union
	Date  func(*notes.Doc) string // for Newer: the date of the live one, YYYY-MM-DD or ""
}

// SynthesisSection is the name of the section with an epic's results. It is regenerated, never
// edited.
const SynthesisSection = "synthesis"

// kinds is the one list of section kinds.
var kinds = []Kind{
	{Name: Section, Apart: true, Union: Rows},
	{Name: EstimateSection, Apart: true, Union: Newer, Date: estimateDate},
	{Name: EvidenceSection, Apart: true, Union: Newer, Date: evidenceDate},
	{Name: EscalationSection, Apart: true, Union: Parts},
	{Name: SwarmSection, Apart: true, Union: Newer, Date: conclusionDate},
	{Name: ReopenSection, Union: Parts},
	{Name: ElsewhereSection, Apart: true, Union: Parts},
	{Name: ReviewSection, Union: Newer, Date: reviewDate},
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

// KindOf returns the kind of a section by name: the zero Kind if the convention defines none.
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

func conclusionDate(d *notes.Doc) string {
	conclusion, _ := LastConclusion(d)
	return conclusion.Date
}
