package signals

import (
	"fmt"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
	"stig/notes"
)

// EscalationSection is the name of the section with questions and answers.
const EscalationSection = "escalation-context"

// PartKind is the kind of a part of the escalation section.
type PartKind string

const (
	Pending     PartKind = "Pending"
	Improvement PartKind = "Process improvement"
	Resolved    PartKind = "Resolved"
)

// Asks reports whether a part is a question rather than an answer.
func (k PartKind) Asks() bool { return k == Pending || k == Improvement }

// Part is one question or answer. Parts are never edited: they are the trail.
type Part struct {
	Kind PartKind
	Date string // YYYY-MM-DD, "" if the heading has none
	By   string // who asked or answered, "" if not recorded
	Text string // trimmed
	Note string // anything else in the heading's parentheses, "" for nothing
}

// Escalations reads the parts of all escalation sections, in order.
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

// Passage is a stretch of an escalation section as written: a question, an answer, or what
// precedes the first of them.
type Passage struct {
	Date    string // YYYY-MM-DD; without one that of the previous passage, so that they stay together
	Text    string // with its heading, trimmed, with LF line endings
	Answers bool
	Hash    string // of a question; for an answer that of the one question it names, "" if it answers all
	Again   bool   // a repeated question, as in Part.Again
}

// Passages splits the body of an escalation section into its parts. Together they contain all
// of its text.
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

// passageOf returns a part, or with another heading a text that neither asks nor answers.
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

// partActor parses "Resolved (2026-11-20) by alice".
func partActor(heading string) string {
	_, by, _ := strings.Cut(heading, ") by ")
	return strings.TrimSpace(by)
}

// Standing summarizes the parts: EscalationPending if a question follows the last answer,
// EscalationResolved if all are answered, EscalationNone if there are none.
func Standing(parts []Part) string {
	switch {
	case len(parts) == 0:
		return EscalationNone
	case len(Questions(parts)) > 0:
		return EscalationPending
	}
	return EscalationResolved
}

// Asks reports whether notes contain an unanswered question, according to their escalation
// section or their signal table.
func Asks(d *notes.Doc, t *Table) bool {
	return t.Value(Escalation) == EscalationPending || Standing(Escalations(d)) == EscalationPending
}

// holding begins the note in a question's heading that it holds back one worker alone, such as
// "## Pending (2026-11-20, holds bo) by bo".
const holding = "holds "

// Only returns the one worker whom a question holds back from its issue; "" if it holds back
// everybody.
func (p Part) Only() string {
	name, one := strings.CutPrefix(p.Note, holding)
	if !one || !p.Kind.Asks() {
		return ""
	}
	return strings.TrimSpace(name)
}

// HoldsBack reports whether an unanswered question holds a worker back from an issue: any that
// Asks sees, except those that hold back somebody else alone.
func HoldsBack(d *notes.Doc, t *Table, worker string) bool {
	return Note(d, t).Holds(worker)
}

// HeldBack is the note of a question that holds back one worker alone.
func HeldBack(worker string) string { return holding + visible.OneLine(worker) }

// AddPart appends a part to the escalation section, which it creates if necessary. A part with
// a note has a date. It refuses (fault.Usage) a part that does not read back as itself, so that
// no question can pose as an answer.
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
	return nil, p.refused("contains a heading that ends it", "begin headings inside it with ###")
}

// refused returns why a part would not read back as what it is.
func (p Part) refused(reason, hint string) error {
	what := "the question "
	if !p.Kind.Asks() {
		what = "the answer "
	}
	return &fault.Error{Code: fault.Usage, Reason: what + reason, Hint: hint}
}
