package orient

import (
	"regexp"
	"slices"
	"strings"

	"stig/notes"
	"stig/signals"
)

// What a worker on an uncertain issue is told to do before committing to a way.
const (
	deepDirective = "Explore first, with progress=exploring. Checkpoint what was found, the approach chosen and its risks. " +
		"Only then set progress=implementing. Nothing here commits you to one approach."
	probeDirective = "Act, sense, respond: make the smallest intervention, watch the feedback, answer what it shows, then checkpoint. " +
		"Long-range planning is deferred until the situation is stable."
)

// shallow leaves what a worker needs who knows how: criteria and commands, and
// the interfaces that the work must fit.
func (b *Briefing) shallow(a assembly) {
	b.keepDependencies(func(d Dependency) bool { return d.bearsOn(b.Issue.ID) })
	if b.Description != "" {
		b.omit("the description", "--depth", "standard")
		b.Description = ""
	}
	if told := a.told(); b.Notes != told {
		b.omit("further notes", "--depth", "standard")
		b.Notes = told
	}
}

// told is what the workers on other issues put here: it bears on this one, so
// that even a reader who needs no history is to see it.
func (a assembly) told() string {
	var sections []string
	for _, s := range a.doc.Sections() {
		if strings.HasPrefix(s.Name, signals.PropagatedSection+" ") {
			sections = append(sections, a.doc.Text()[s.Start:s.End])
		}
	}
	return strings.Join(sections, "\n\n")
}

// standard shows everything that is known.
func (b *Briefing) standard(a assembly) {
	if !a.full {
		b.holdBackFarther()
	}
}

// deep rearranges what standard shows into what is known and what is not.
func (b *Briefing) deep(a assembly) {
	b.standard(a)
	for _, d := range b.ClosedDependencies {
		b.Known = append(b.Known, Item{From: d.ID, Text: d.known()})
	}
	b.Discover = append(b.Discover, openQuestions(b.Description)...)
	for _, d := range b.ClosedDependencies {
		b.Discover = append(b.Discover, d.doubts()...)
	}
	b.Directive = deepDirective
}

// probe keeps what bears on the hypothesis and defers the rest.
func (b *Briefing) probe(assembly) {
	parts := notes.Parts(b.Description)
	b.Probe = &Probe{
		Hypothesis:   partNamed(parts, "hypothesis"),
		Intervention: partNamed(parts, "intervention"),
		Feedback:     partNamed(parts, "feedback"),
		Stabilised:   partNamed(parts, "stabili"),
	}
	b.keepDependencies(func(d Dependency) bool {
		return d.bearsOn(b.Issue.ID) || names(b.Probe.Hypothesis, d.ID)
	})
	if b.Probe.Hypothesis != "" {
		b.omit("the description beyond its probe", "--depth", "standard")
		b.Description = ""
	}
	b.Directive = probeDirective
}

func partNamed(parts []notes.Part, word string) string {
	for _, p := range parts {
		if strings.Contains(strings.ToLower(p.Heading), word) {
			return strings.TrimSpace(p.Body)
		}
	}
	return ""
}

func (b *Briefing) keepDependencies(keep func(Dependency) bool) {
	all := len(b.ClosedDependencies)
	b.ClosedDependencies = slices.DeleteFunc(b.ClosedDependencies, func(d Dependency) bool { return !keep(d) })
	if left := all - len(b.ClosedDependencies); left > 0 {
		b.omit(count(left, "closed dependency"), "--depth", "standard")
	}
}

// known is a dependency's trail in one line.
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

// doubts lists why a closed dependency is not simply to be relied on.
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
			Text: "its evidence is only " + d.Confidence + ": does it stand up to being built on",
		})
	}
	return doubts
}

// weak reports whether the evidence for a finished issue is less than its role
// asks for: whoever builds on it needs it verified, and an interface is built
// on by everyone, so it must have been verified together with its users.
func (d Dependency) weak() bool {
	switch d.Confidence {
	case signals.ConfidenceUndemonstrated, signals.ConfidenceFindingRecorded, signals.ConfidencePrototype, signals.ConfidenceRegressed:
		return true
	case signals.ConfidenceLocallyVerified:
		return slices.Contains(d.labels, "interface")
	}
	return false
}

// openQuestions finds what a description leaves open: the lists under headings
// that announce open questions, and prose with a question mark or TBD.
func openQuestions(description string) []Item {
	tbd := regexp.MustCompile(`\bTBD\b`)
	asking := regexp.MustCompile(`(?i)\b(open questions?|unknowns?|questions?|uncertaint(y|ies)|to (discover|find out))\b`)

	var found []Item
	for _, p := range notes.Parts(description) {
		if asking.MatchString(p.Heading) {
			for _, text := range listItems(p.Body) {
				found = append(found, Item{From: p.Heading, Text: text})
			}
		}
	}
	for _, line := range notes.Prose(description) {
		open := strings.Contains(line.Text+" ", "? ") || tbd.MatchString(line.Text)
		listed := func(have Item) bool { return strings.Contains(have.Text, line.Text) }
		if open && !slices.ContainsFunc(found, listed) {
			found = append(found, Item{From: "description", Text: line.Text})
		}
	}
	return found
}

// listItems gives the items of the lists in a text, each on one line.
func listItems(text string) []string {
	bullet := regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?`)
	var items []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch mark := bullet.FindString(line); {
		case mark != "":
			items = append(items, line[len(mark):])
			inside = true
		case line == "":
			inside = false
		case inside:
			items[len(items)-1] += " " + line
		}
	}
	return items
}

func firstParagraph(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	return oneLine(first)
}
