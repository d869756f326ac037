package orient

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// Directives for a worker on an uncertain issue, before they commit to an approach.
const (
	exploreDirective  = "Explore first, with progress=exploring; checkpoint what was found, the approach chosen and its risks; only then set progress=implementing."
	exploredDirective = "Once the approach is chosen and its risks are in the state estimate, set progress=implementing."
	probeDirective    = "Act, sense, respond: make the smallest intervention, watch the feedback, answer it, checkpoint. Plan no further until it is stable."
)

// shallow keeps what an experienced worker needs: criteria and commands, the subject of the
// issue, and the interfaces that the work must fit. Without criteria, description and design
// stay.
func (b *Briefing) shallow(a assembly) {
	if a.full {
		return
	}
	b.keepDependencies(func(d Dependency) bool { return d.bearsOn(b.Issue.ID) })
	if b.Acceptance.Text != "" {
		if first := opening(b.Description); first != b.Description {
			b.omit("the description after its first paragraph", "--depth", signals.PlanningDepthStandard)
			b.Description = first
		}
		if b.Design != "" {
			b.omit("the design", "--depth", signals.PlanningDepthStandard)
			b.Design = ""
		}
	}
	b.keepFeedback()
	if told := a.propagated(); b.Notes != told {
		b.omit("further notes", "--depth", signals.PlanningDepthStandard)
		b.Notes = told
	}
}

// opening returns the first paragraph of a text, with the headings above it.
func opening(text string) string {
	end := 0
	for paragraph := range strings.SplitAfterSeq(text, "\n\n") {
		end += len(paragraph)
		lines := strings.Split(strings.TrimSpace(paragraph), "\n")
		if last := lines[len(lines)-1]; last != "" && !strings.HasPrefix(last, "#") {
			break
		}
	}
	return strings.TrimSpace(text[:end])
}

// propagated returns discoveries that workers on other issues propagated to this one. Even a
// reader who needs no history must see them.
func (a assembly) propagated() string {
	var sections []string
	for _, s := range a.doc.Sections() {
		if strings.HasPrefix(s.Name, signals.PropagatedSection+" ") {
			sections = append(sections, a.doc.Text()[s.Start:s.End])
		}
	}
	return strings.Join(sections, "\n\n")
}

// standard shows everything known.
func (b *Briefing) standard(assembly) {}

// deep divides what standard shows into known and unknown.
func (b *Briefing) deep(a assembly) {
	for _, d := range b.ClosedDependencies {
		b.Known = append(b.Known, Item{From: d.ID, Text: d.known()})
	}
	texts := []struct{ name, text string }{{"description", a.description}, {"design", a.design}, {"notes", b.Notes}}
	if b.Estimate != nil {
		texts = append(texts, struct{ name, text string }{"state estimate", b.Estimate.Text})
	}
	for _, text := range texts {
		b.Discover = append(b.Discover, openQuestions(text.name, text.text)...)
	}
	for _, d := range b.ClosedDependencies {
		b.Discover = append(b.Discover, d.doubts()...)
	}
	b.Directive = b.exploring()
}

// exploring returns the directive for an issue of depth deep; "" if that is done.
func (b *Briefing) exploring() string {
	switch progress := b.Signals.Value(signals.Progress); {
	case progress != signals.ProgressNotStarted && progress != signals.ProgressExploring:
		return ""
	case b.Estimate == nil && !b.agreed():
		return exploreDirective
	}
	return exploredDirective
}

// probe keeps what bears on the hypothesis and omits the rest.
func (b *Briefing) probe(a assembly) {
	b.Probe = &Probe{}
	written := a.written(b)
	for _, part := range b.Probe.parts() {
		if s, ok := part.topic.find(written); ok {
			*part.text = s.text()
		}
	}
	b.Directive = probeDirective
	if asked := b.unwritten(); asked != "" {
		b.Directive = asked + " " + probeDirective
	}
	if a.full {
		return
	}
	b.keepDependencies(func(d Dependency) bool {
		return d.bearsOn(b.Issue.ID) || names(b.Probe.Hypothesis, d.ID)
	})
}

// probePart is a part of a probe, with the checkpoint flag that writes it.
type probePart struct {
	name, flag string
	topic      topic
	text       *string
}

func (p *Probe) parts() []probePart {
	return []probePart{
		{"Hypothesis", "--hypothesis", hypothesis, &p.Hypothesis},
		{"Smallest intervention", "--intervention", intervened, &p.Intervention},
		{"Feedback", "--feedback", feedback, &p.Feedback},
		{"Stabilised when", "--stabilised", stabilised, &p.Stabilised},
	}
}

// unwritten returns a request to write down the missing parts of the probe; "" if none is
// missing.
func (b *Briefing) unwritten() string {
	var names []string
	argv := []string{"stig", "checkpoint", b.Issue.ID}
	for _, part := range b.Probe.parts() {
		if *part.text == "" {
			names, argv = append(names, strings.ToLower(part.name)), append(argv, part.flag, "…")
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Not written down: " + strings.Join(names, ", ") + ". Before you touch anything: `" + commandLine(argv) + "`."
}

// keepDependencies omits the closed dependencies that do not matter at this depth.
func (b *Briefing) keepDependencies(keep func(Dependency) bool) {
	all := len(b.ClosedDependencies)
	b.ClosedDependencies = slices.DeleteFunc(b.ClosedDependencies, func(d Dependency) bool { return !keep(d) })
	if left := all - len(b.ClosedDependencies); left > 0 {
		b.omit(visible.Counted(left, "closed dependency"), "--depth", signals.PlanningDepthStandard)
	}
}

// known returns a dependency's trail in one line.
func (d Dependency) known() string {
	text := firstParagraph(d.CloseReason)
	if text == "" {
		text = d.Title + ": closed without a reason"
	}
	if d.Confidence != "" {
		text += " (confidence " + d.Confidence
		if day := d.evidenceDay(); day != "" {
			text += ", " + day
		}
		text += ")"
	}
	return text
}

// doubts lists reasons not to rely on a closed dependency.
func (d Dependency) doubts() []Item {
	var doubts []Item
	if d.Surprise > signals.ThresholdDivergence {
		doubts = append(doubts, Item{
			From: d.ID,
			Text: "closed with surprise " + signals.Decimal(d.Surprise) + ": what did it find that its description did not say, and does it hold here",
		})
	}
	if d.weak() {
		doubts = append(doubts, Item{
			From: d.ID,
			Text: "its evidence is only " + d.Confidence + ": is that enough to build on",
		})
	}
	return doubts
}

// weak reports whether the evidence for a finished issue is weaker than its role requires.
// Dependents need a verified issue. An interface must have been verified together with its
// users, because everyone builds on it.
func (d Dependency) weak() bool {
	switch d.Confidence {
	case signals.ConfidenceUndemonstrated, signals.ConfidenceFindingRecorded, signals.ConfidencePrototype, signals.ConfidenceRegressed:
		return true
	case signals.ConfidenceLocallyVerified:
		return slices.Contains(d.labels, "interface")
	}
	return false
}

func firstParagraph(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	return visible.OneLine(first)
}

// asking matches the words that announce open questions, in a heading or a label.
const asking = `(?:open questions?|questions?|unknowns?|uncertaint(?:y|ies)|assumptions?|to decide|decisions? needed|` +
	`to (?:discover|find out|clarify)|to be (?:decided|clarified)|risks?)`

// Patterns of lines that mark open questions.
var (
	askingHeading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + asking + `\b`) })
	askingLabel   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*([-*+]\s+)?(?:\*\*|__)?(` + asking + `)\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)$`)
	})
	undecided  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bTBD\b`) })
	taskMark   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[([ xX])\]\s+`) })
	bullet     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s`) })
	bulletMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?`) })
)

// openQuestions finds the open questions of a text: lists under headings and labels that
// announce them, unticked tasks in these lists, and prose with a question mark or TBD. name is
// the origin of the text.
func openQuestions(name, text string) []Item {
	if text == "" {
		return nil
	}
	var found []Item
	had := func(text string) bool {
		return slices.ContainsFunc(found, func(have Item) bool { return strings.Contains(have.Text, text) })
	}
	add := func(from, text string) {
		if text != "" && !had(text) {
			found = append(found, Item{From: from, Text: text})
		}
	}
	for _, p := range notes.Parts(text) {
		if askingHeading().MatchString(p.Heading) {
			for _, item := range listItems(p.Body) {
				add(p.Heading, item)
			}
		}
	}
	for _, l := range labelled(text) {
		add(l.From, l.Text)
	}
	for _, line := range notes.Prose(text) {
		if mark := taskMark().FindStringSubmatch(line.Text); mark != nil {
			if line.Text = line.Text[len(mark[0]):]; mark[1] != " " {
				continue
			}
		}
		if m := askingLabel().FindStringSubmatch(line.Text); m != nil && m[3] != "" && had(m[3]) {
			continue
		}
		if strings.Contains(line.Text+" ", "? ") || undecided().MatchString(line.Text) {
			add(name, line.Text)
		}
	}
	return found
}

// labelled lists the items under a label such as "Risks:": the rest of the line, or else the
// list below it. A label that is a list item covers only its nested list.
func labelled(text string) (list []Item) {
	lines := strings.Split(text, "\n")
	for k, line := range lines {
		m := askingLabel().FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil {
			continue
		}
		if m[3] != "" {
			list = append(list, Item{From: m[2], Text: m[3]})
			continue
		}
		deeper := -1
		if m[1] != "" {
			deeper = indent(line)
		}
		for _, item := range listItems(strings.TrimLeft(listBelow(lines[k+1:], deeper), "\n")) {
			list = append(list, Item{From: m[2], Text: item})
		}
	}
	return list
}

// indent counts the leading blanks and tabs of a line.
func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// listBelow returns the list at the beginning of lines, after an optional blank line, as long
// as its lines are indented by more than deeper.
func listBelow(lines []string, deeper int) string {
	end := 0
	for k, line := range lines {
		blank := strings.TrimSpace(line) == ""
		switch {
		case blank && end == 0 && k == 0:
		case indent(line) <= deeper:
			return strings.Join(lines[:end], "\n")
		case bullet().MatchString(line), end > 0 && !blank && strings.HasPrefix(line, " "):
			end = k + 1
		default:
			return strings.Join(lines[:end], "\n")
		}
	}
	return strings.Join(lines[:end], "\n")
}

// listItems returns the items of the lists in a text, each on one line, without ticked tasks.
func listItems(text string) []string {
	var items []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch mark := bulletMark().FindStringSubmatch(line); {
		case mark != nil:
			inside = !strings.EqualFold(mark[1], "x")
			if inside {
				items = append(items, line[len(mark[0]):])
			}
		case line == "":
			inside = false
		case inside:
			items[len(items)-1] += " " + line
		}
	}
	return items
}
