package signals

import (
	"regexp"
	"strings"
	"sync"

	"stig/internal/visible"
	"stig/notes"
)

// EstimateSection is the name of the section with the state estimate.
const EstimateSection = "checkpoint-context"

// PropagatedSection begins the names of sections with findings from other issues; the id of the
// issue and the date follow.
const PropagatedSection = "propagated-from"

// Estimate is a state estimate: what the next worker must know about an issue's current state.
// It has either labelled texts, or Body alone.
type Estimate struct {
	Date string // YYYY-MM-DD from its heading, "" if the heading has none
	Body string // all text but the heading, trimmed

	Done, Learned, Remains, Downstream string

	Hypothesis, Intervention, Feedback, Stabilised string // of a probe
	Questions                                      string // open uncertainties
}

// labels are the questions that an estimate answers, in written order.
func (e *Estimate) labels() []label {
	names := labelNames()
	return []label{
		{"done", names[0], &e.Done},
		{"learned", names[1], &e.Learned},
		{"remains", names[2], &e.Remains},
		{"downstream", names[3], &e.Downstream},
		{"hypothesis", names[4], &e.Hypothesis},
		{"intervention", names[5], &e.Intervention},
		{"feedback", names[6], &e.Feedback},
		{"stabilised", names[7], &e.Stabilised},
		{"question", names[8], &e.Questions},
	}
}

// everyEstimate is how many of the labels belong in every estimate; the others are for
// uncertain issues.
const everyEstimate = 4

func labelNames() [9]string {
	return [9]string{
		"What was done", "What was learned", "What remains", "Downstream impact",
		"Hypothesis", "Smallest intervention", "Feedback", "Stabilised when", "Open questions",
	}
}

type label struct {
	key  string // its name in commands
	name string // the text before the colon
	text *string
}

// UnderWay reports whether work with that progress needs a state estimate, because whoever
// takes it over must know how far it is.
func UnderWay(progress string) bool {
	return progress == ProgressImplementing || progress == ProgressBlocked
}

// EstimateForm is an editor's initial text: a document's live estimate without its heading,
// each text with its day if that differs; without an estimate the empty labels.
func EstimateForm(d *notes.Doc, day string) string {
	if kept, err := SetParts(d, Estimate{Date: day}); err == nil {
		if e, _ := LastEstimate(kept); e.Body != "" {
			return visible.LF(e.Body)
		}
	}
	var form []string
	for _, l := range (&Estimate{}).labels()[:everyEstimate] {
		form = append(form, l.name+":")
	}
	return strings.Join(form, "\n\n")
}

// LastEstimate reads the live state estimate, with any heading or none.
func LastEstimate(d *notes.Doc) (Estimate, bool) {
	live, there := d.Live(EstimateSection)
	if !there {
		return Estimate{}, false
	}
	return ReadEstimate(d.Body(live)), true
}

// ReadEstimate reads the body of a state estimate, including its heading.
func ReadEstimate(text string) Estimate {
	var e Estimate
	e.Body = strings.TrimSpace(text)
	if heading, rest, ok := cutHeading(e.Body); ok {
		e.Date, e.Body = dateIn(heading), rest
	}
	labels := e.labels()
	for _, p := range passages(e.Body) {
		if p.label < 0 {
			continue
		}
		text := labels[p.label].text
		*text = strings.TrimSpace(*text + "\n" + visible.LF(e.Body[p.text.Start:p.text.End]))
	}
	return e
}

// Empty reports whether the estimate has no text.
func (e Estimate) Empty() bool { return e.text() == "" }

func (e Estimate) text() string {
	var parts []string
	for _, l := range e.labels() {
		if text := strings.TrimSpace(*l.text); text != "" {
			parts = append(parts, l.name+": "+text)
		}
	}
	if len(parts) == 0 {
		return withoutHeading(strings.TrimSpace(e.Body))
	}
	return strings.Join(parts, "\n\n")
}

// withoutHeading drops a heading from the text: the section's own heading, with its date, is
// always written.
func withoutHeading(body string) string {
	if heading, rest, ok := cutHeading(body); ok && strings.HasPrefix(strings.ToLower(heading), "state estimate") {
		return rest
	}
	return body
}

// SetEstimate replaces a document's state estimate as a whole; an equal one with the same date
// changes nothing. It refuses what SetParts refuses.
func SetEstimate(d *notes.Doc, e Estimate) (*notes.Doc, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	return d.Replace(EstimateSection, estimateHeading(e.Date)+"\n\n"+e.text())
}

func estimateHeading(day string) string { return "## State estimate (" + day + ")" }

// cutHeading splits off an ATX heading at the start of a text.
func cutHeading(text string) (heading, rest string, ok bool) {
	if !strings.HasPrefix(text, "#") {
		return "", text, false
	}
	line, rest, _ := strings.Cut(text, "\n")
	heading = strings.TrimLeft(line, "#")
	if len(line)-len(heading) > 6 || !strings.HasPrefix(heading, " ") {
		return "", text, false
	}
	return strings.TrimSpace(heading), strings.TrimSpace(rest), true
}

var day = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`) })

// dateIn finds the first date in a heading.
func dateIn(heading string) string { return day().FindString(heading) }
