package signals

import (
	"fmt"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
	"stig/notes"
)

// EscalationSection is the name of the section that holds questions and answers.
const EscalationSection = "escalation-context"

// PartKind says what a part of the escalation section is.
type PartKind string

const (
	Pending     PartKind = "Pending"
	Improvement PartKind = "Process improvement"
	Resolved    PartKind = "Resolved"
)

// Asks reports whether a part is a question rather than an answer.
func (k PartKind) Asks() bool { return k == Pending || k == Improvement }

// Part is one question or one answer. Parts are never edited: they are the trail.
type Part struct {
	Kind PartKind
	Date string // YYYY-MM-DD, "" when the heading has none
	By   string // who asked or answered, "" when not recorded
	Text string // trimmed
	Note string // what else stands in the parentheses of the heading, "" for nothing
}

// Escalations reads the parts of all escalation sections in the order of the text.
func Escalations(d *notes.Doc) []Part {
	var parts []Part
	for _, section := range d.Named(EscalationSection) {
		for _, p := range notes.Parts(d.Body(section)) {
			if p.Level != 2 {
				continue
			}
			if kind, ok := partKind(p.Heading); ok {
				parts = append(parts, Part{
					Kind: kind,
					Date: dateIn(p.Heading),
					By:   partActor(p.Heading),
					Text: strings.TrimSpace(p.Body),
					Note: partNote(p.Heading),
				})
			}
		}
	}
	return parts
}

// Passage is a stretch of an escalation section as it is written: a question,
// an answer, or what stands before the first of them.
type Passage struct {
	Date    string // YYYY-MM-DD; without one that of the passage before, so that they stay together
	Text    string // with its heading, trimmed, with LF line ends
	Answers bool
	Hash    string // of a question; of an answer that of the one question it names, "" where it answers all
	Again   bool   // a question that was asked before, as Part.Again
}

// Passages cuts the body of an escalation section where its parts begin. All of
// its text is in one of them.
func Passages(body string) []Passage {
	body = visible.LF(body)
	var list []Passage
	start, heading, date := 0, "", ""
	add := func(end int) {
		if found := dateIn(heading); found != "" {
			date = found
		}
		if text := strings.TrimSpace(body[start:end]); text != "" {
			list = append(list, passageOf(heading, date, text))
		}
	}
	for _, p := range notes.Parts(body) {
		if p.Level <= 2 {
			add(p.Start)
			start, heading = p.Start, p.Heading
		}
	}
	add(len(body))
	return list
}

// passageOf is a part, or with another heading a text that neither asks nor answers.
func passageOf(heading, date, text string) Passage {
	p := Passage{Date: date, Text: text}
	kind, known := partKind(heading)
	if !known {
		return p
	}
	_, body, _ := strings.Cut(text, "\n")
	part := Part{Kind: kind, Note: partNote(heading), Text: body}
	p.Answers, p.Hash, p.Again = !kind.Asks(), part.to(), part.Again()
	if kind.Asks() {
		p.Hash = part.Hash()
	}
	return p
}

func partKind(heading string) (PartKind, bool) {
	for _, kind := range []PartKind{Pending, Improvement, Resolved} {
		if len(heading) >= len(kind) && strings.EqualFold(heading[:len(kind)], string(kind)) {
			return kind, true
		}
	}
	return "", false
}

// partActor reads "Resolved (2026-11-20) by alice".
func partActor(heading string) string {
	_, by, _ := strings.Cut(heading, ") by ")
	return strings.TrimSpace(by)
}

// Standing tells what the parts amount to: EscalationPending when a question
// stands after the last answer, EscalationResolved when all are answered,
// EscalationNone when there is none.
func Standing(parts []Part) string {
	switch {
	case len(parts) == 0:
		return EscalationNone
	case len(Questions(parts)) > 0:
		return EscalationPending
	}
	return EscalationResolved
}

// Asks reports whether notes hold an unanswered question: their escalation
// section or the signal of their table says so.
func Asks(d *notes.Doc, t *Table) bool {
	return t.Value(Escalation) == EscalationPending || Standing(Escalations(d)) == EscalationPending
}

// holding begins what the heading of a question says where it holds back one worker alone,
// such as "## Pending (2026-11-20, holds bo) by bo".
const holding = "holds "

// Only is the one worker whom a question keeps from its issue; "" where it keeps everybody.
func (p Part) Only() string {
	name, one := strings.CutPrefix(p.Note, holding)
	if !one || !p.Kind.Asks() {
		return ""
	}
	return strings.TrimSpace(name)
}

// HoldsBack reports whether an unanswered question keeps a worker from an issue: of those that
// Asks sees, each but one that holds back somebody else alone.
func HoldsBack(d *notes.Doc, t *Table, worker string) bool {
	return Note(d, t).Holds(worker)
}

// HeldBack is the note of a question that keeps one worker alone from its issue.
func HeldBack(worker string) string { return holding + visible.OneLine(worker) }

// AddPart appends a part to the escalation section, making the section when
// there is none. A part with a note has a date. It refuses (fault.Usage) a part that
// does not read back as itself: nobody answers by asking.
func AddPart(d *notes.Doc, p Part) (*notes.Doc, error) {
	p.By, p.Text = visible.OneLine(p.By), strings.TrimSpace(p.Text)
	heading := "## " + string(p.Kind) + " (" + p.Date
	if p.Note != "" {
		heading += ", " + p.Note
	}
	heading += ")"
	if p.By != "" {
		heading += " by " + p.By
	}
	after, err := d.Extend(EscalationSection, heading+"\n"+p.Text)
	if err != nil {
		return nil, err
	}
	before, parts := Escalations(d), Escalations(after)
	if len(parts) == len(before)+1 {
		last := parts[len(parts)-1]
		switch {
		case last.By != p.By:
			return nil, p.refused(fmt.Sprintf("cannot be recorded as by %q: it would read as by %q", p.By, last.By), "give a plain name with --actor NAME")
		case last.Kind == p.Kind && last.Note == p.Note && visible.OneLine(last.Text) == visible.OneLine(p.Text):
			return after, nil
		}
	}
	return nil, p.refused("holds a heading that ends it", "begin headings inside it with ###")
}

// refused says why a part would not read as what it is.
func (p Part) refused(reason, hint string) error {
	what := "the question "
	if !p.Kind.Asks() {
		what = "the answer "
	}
	return &fault.Error{Code: fault.Usage, Reason: what + reason, Hint: hint}
}
