package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

// Question is a question for a person about an issue. Without a text nothing is asked.
type Question struct {
	Text    string
	Options []string      // alternatives, one line each
	Default int           // 1-based number of the option proposed if nobody answers, 0 for none: shown, never executed
	After   time.Duration // how long to wait for an answer before that, in whole minutes
	Process bool          // asks whether to change the way of working
	By      string        // who asks, "" if unknown
	Only    string        // the only worker whom the question blocks, "" for everybody

	Evidence bool // add the evidence rows to a new table
	Unclosed bool // return a fault.Changed if the issue has been closed
}

// OnMyWord is the option by which a person accepts work that cannot be verified.
const OnMyWord = "it is done: merge the work, and close the issue on my word"

// TakeIt is the option by which a person accepts work whose checks pass and passed before it
// too.
const TakeIt = "take it: merge the work, and close the issue"

// TakeWorkOf begins the option by which a person accepts the work of one of several workers, who
// is named next.
const TakeWorkOf = "take the work of "

// NoSecret is the option by which a person says that a suspected credential is not one.
const NoSecret = "it is no credential: let the work land if its checks pass"

// Answer is a person's decision on the open questions of an issue. It needs an option or a
// text.
type Answer struct {
	Question string // the question to answer: its number among the open ones, or at least 4 digits of its hash; "" for all
	Option   int    // 1-based number of the chosen option, 0 for none
	Text     string // the answer, or a remark on the option
	By       string
	Self     bool // the asker may answer too
	Withdraw bool // not an answer: the asker withdraws the question, and Text says why
	Person   bool // the answer is known to come from a person; others may not choose OnMyWord, TakeIt, TakeWorkOf, NoSecret

	// Seen are the questions that the person read; the answer is refused if it would answer
	// others. nil answers all open questions.
	Seen []signals.Part
}

// Resolution is a question with its recorded answer.
type Resolution struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Questions []string  `json:"questions"` // the answered questions
	Hashes    []string  `json:"hashes"`    // their hashes
	Withdrawn bool      `json:"withdrawn"` // the questions were withdrawn; the answer says why
	Left      int       `json:"left"`      // number of open questions left on the issue
	Answer    string    `json:"answer"`
	By        string    `json:"by"`
	Changed   []Changed `json:"changed"`
	Warnings  []string  `json:"warnings"`

	stored
}

// Escalate asks a person: it appends a part to the escalation section and sets escalation to
// pending. It returns a fault.Conflict for a question that is already open, and a fault.Usage
// for an empty or contradictory one.
func Escalate(ctx context.Context, s beads.Store, o beads.Options, id string, q Question, rules Rules) (*Report, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, &fault.Error{Code: fault.Usage, ID: id, Reason: "the question is empty", Hint: "give it with -m, --file, or - for standard input"}
	}
	u := Update{Question: q, Evidence: q.Evidence, NoContext: true}
	return u.write(ctx, s, o, id, rules, func(full string, d *notes.Doc) error {
		pending := signals.Read(d, rules.Schema).Value(signals.Escalation) == signals.EscalationPending
		if !pending || !asked(d, q) {
			return nil
		}
		return &fault.Error{Code: fault.Conflict, ID: full, Reason: "this question waits for an answer already",
			Hint: "type stig escalate --wait " + full + " to wait for it"}
	})
}

// Said returns the question in the form shown to people, as if asked at now.
func (q Question) Said(now time.Time) signals.Question {
	said := signals.Question{Text: q.Text, Options: q.Options, Default: q.Default, After: q.After}
	if q.Default > 0 {
		said.Due = now.Add(q.After).Truncate(time.Minute)
	}
	return said
}

// part returns the question as a part of the escalation section.
func (q Question) part(now time.Time) (signals.Part, error) {
	for i, option := range q.Options {
		if strings.TrimSpace(option) == "" {
			return signals.Part{}, usage(fmt.Sprintf("option %d is empty", i+1), "")
		}
		if n := slices.IndexFunc(q.Options[:i], func(earlier string) bool { return sameText(earlier, option) }); n >= 0 {
			return signals.Part{}, usage(fmt.Sprintf("options %d and %d are the same", n+1, i+1), "")
		}
	}
	switch {
	case q.Default < 0 || q.Default > len(q.Options):
		return signals.Part{}, usage(fmt.Sprintf("the default must be an option, 1 to %d; found %d", len(q.Options), q.Default), "")
	case q.Default > 0 && (q.After < time.Minute || q.After%time.Minute != 0):
		return signals.Part{}, usage(fmt.Sprintf("the default needs whole minutes, at least one; found %s", q.After), "")
	case q.Default == 0 && q.After != 0:
		return signals.Part{}, usage("a time needs a default", "")
	}
	part := signals.Part{Kind: signals.Pending, Date: signals.Day(now), By: q.By, Text: q.Said(now).String()}
	if q.Process {
		part.Kind = signals.Improvement
	}
	if q.Only != "" {
		part.Note = signals.HeldBack(q.Only)
	}
	return part, nil
}

// asked reports whether the same question is already open. Defaults are ignored because their
// times differ.
func asked(d *notes.Doc, q Question) bool {
	said := signals.ReadQuestion(signals.Question{Text: q.Text, Options: q.Options}.String())
	for _, p := range signals.Questions(signals.Escalations(d)) {
		was := signals.ReadQuestion(p.Text)
		if (p.Kind == signals.Improvement) == q.Process && sameText(was.Text, said.Text) &&
			sameText(strings.Join(was.Options, "\n"), strings.Join(said.Options, "\n")) {
			return true
		}
	}
	return false
}

// Resolve records a person's answer to the open questions of an issue, or to one of them;
// escalation becomes resolved if none is left. It returns a fault.Conflict if nothing is asked,
// if the questions differ from Seen, for an answer by the asker, and for a withdrawal by
// anybody else. It returns a fault.Usage for an empty answer and for an unknown question or
// option.
func Resolve(ctx context.Context, s beads.Store, o beads.Options, id string, a Answer, rules Rules) (*Resolution, error) {
	o.Notes = notes.Permit{Change: []string{signals.Section, signals.EscalationSection}}.Check
	return editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (*Resolution, error) {
		r := &Resolution{
			ID: record.Text(beads.ID), Title: record.Text(beads.Title), By: a.By,
			Questions: []string{}, Hashes: []string{}, Warnings: []string{}, Withdrawn: a.Withdraw,
		}
		doc, err := r.answer(notes.Parse(record.Text(beads.Notes)), a, rules)
		if err != nil {
			return nil, err
		}
		return r, tx.Set(r.ID, beads.Set{Key: beads.Notes, Text: doc.Text()})
	})
}

// answer writes the answer into the notes.
func (r *Resolution) answer(d *notes.Doc, a Answer, rules Rules) (*notes.Doc, error) {
	standing, err := a.Answers(r.ID, d, rules.Schema)
	if err != nil {
		return nil, err
	}
	questions, err := a.offering(standing)
	if err != nil {
		return nil, &IssueError{ID: r.ID, Err: err}
	}
	text, err := a.text(questions)
	if err != nil {
		return nil, &IssueError{ID: r.ID, Err: err}
	}
	if !a.Person && (strings.HasPrefix(text, OnMyWord) || strings.HasPrefix(text, TakeIt) || strings.HasPrefix(text, TakeWorkOf)) {
		return nil, &fault.Error{Code: fault.Found, ID: r.ID, Reason: "only a person may close an issue on their word",
			Hint: "leave it to them, or give criteria that can be run: stig edit " + r.ID + " --acceptance TEXT"}
	}
	if !a.Person && strings.HasPrefix(text, NoSecret) {
		return nil, &fault.Error{Code: fault.Found, ID: r.ID, Reason: "only a person may say that it is no credential", Hint: "leave it to them"}
	}
	for _, q := range questions {
		r.Questions = append(r.Questions, q.Text)
		r.Hashes = append(r.Hashes, q.Hash())
	}
	r.Answer = text
	hash := ""
	if a.Question != "" || a.Withdraw || len(questions) < len(standing) {
		hash = r.Hashes[0]
	}
	answered, err := signals.AddAnswer(d, signals.Part{Date: rules.today(), By: a.By, Text: text}, hash, a.Withdraw)
	if err != nil {
		return nil, &IssueError{ID: r.ID, Err: err}
	}
	trail := signals.Escalations(answered)
	r.Left = len(signals.Questions(trail))
	after, changes, warnings, err := signals.Apply(answered, signals.Update{
		Set: map[signals.Signal]string{signals.Escalation: signals.Standing(trail)}, Today: rules.today(),
	}, rules.Schema)
	if err != nil {
		return nil, &IssueError{ID: r.ID, Err: err}
	}
	r.Changed = changedBy(changes)
	r.Warnings = append(r.Warnings, warnings...)
	return after, nil
}

// Answers returns the questions in the notes of an issue that the answer applies to, whatever
// its text. It returns the same errors about questions as Resolve.
func (a Answer) Answers(id string, d *notes.Doc, schema *signals.Schema) ([]signals.Part, error) {
	parts := signals.Escalations(d)
	questions := signals.Questions(parts)
	if len(questions) == 0 && signals.Read(d, schema).Value(signals.Escalation) == signals.EscalationPending {
		return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: unwritten, Hint: "type stig vet " + id}
	}
	if len(questions) == 0 {
		return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: "no question waits for an answer" + lastAnswer(parts), Hint: "type stig resolve --list to see what does"}
	}
	questions, err := a.chosen(id, questions)
	if err != nil {
		return nil, err
	}
	if a.Seen != nil && !slices.Equal(a.Seen, questions) {
		return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: "the questions changed since you read them", Hint: "type stig resolve " + id + " to read them"}
	}
	for _, q := range questions {
		own := strings.EqualFold(q.By, a.By)
		switch {
		case a.Withdraw && !own && (q.By != "" || !a.Person): // the asker is unknown: a person may withdraw it
			return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: cmp.Or(q.By, "somebody") + " asked, and only they can withdraw the question",
				Hint: "type stig resolve " + id + " --question " + q.Hash() + " to answer it"}
		case !a.Withdraw && !a.Self && a.By != "" && own:
			return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: a.By + " asked, and somebody else must answer",
				Hint: "name who decides with --actor, or use --self if the asker may answer"}
		}
	}
	return questions, nil
}

// chosen returns the open questions to which the answer applies. A withdrawal applies to
// exactly one: without a name, the only question of whoever withdraws it.
func (a Answer) chosen(id string, questions []signals.Part) ([]signals.Part, error) {
	name := a.Question
	if name == "" && !a.Withdraw {
		return questions, nil
	}
	if name == "" {
		own := slices.DeleteFunc(slices.Clone(questions), func(q signals.Part) bool { return q.By != "" && !strings.EqualFold(q.By, a.By) })
		switch len(own) {
		case 0:
			own = questions // refused later because of the asker
		case 1:
		default:
			return nil, &fault.Error{Code: fault.Usage, ID: id, Reason: fmt.Sprintf("%d questions could be withdrawn", len(own)), Hint: "name one: " + named(own)}
		}
		name = own[0].Hash()
	}
	hash, ok := signals.Choose(questions, name)
	if !ok {
		return nil, &fault.Error{Code: fault.Usage, ID: id, Reason: fmt.Sprintf("no question %q waits for an answer", name), Hint: "those that do: " + named(questions)}
	}
	return slices.DeleteFunc(slices.Clone(questions), func(q signals.Part) bool { return q.Hash() != hash }), nil
}

// named lists questions by name.
func named(questions []signals.Part) string {
	var list []string
	for _, q := range questions {
		first, _, _ := strings.Cut(q.Text, "\n")
		list = append(list, q.Hash()+" ("+first+")")
	}
	return strings.Join(list, ", ")
}

// lastAnswer says who answered last; "" if nobody did.
func lastAnswer(parts []signals.Part) string {
	if len(parts) == 0 {
		return ""
	}
	last := parts[len(parts)-1]
	said := ": answered"
	if last.Date != "" {
		said += " on " + last.Date
	}
	if last.By != "" {
		said += " by " + last.By
	}
	return said
}

// text returns the answer in words: the chosen option and the remark.
func (a Answer) text(questions []signals.Part) (string, error) {
	added := strings.TrimSpace(a.Text)
	switch {
	case a.Withdraw && added == "":
		return "", usage("the reason is empty", "say with -m why no answer is needed any more")
	case a.Withdraw:
		return "Withdrawn: " + added, nil
	}
	if a.Option == 0 {
		if added == "" {
			return "", usage("the answer is empty", "give it with -m, --file, - for standard input, or --option N")
		}
		return added, nil
	}
	options := signals.ReadQuestion(questions[0].Text).Options
	if a.Option < 1 || a.Option > len(options) {
		return "", usage(fmt.Sprintf("the options are 1 to %d; found %d", len(options), a.Option), "answer in words with -m")
	}
	return strings.TrimSpace(options[a.Option-1] + "\n\n" + added), nil
}

// offering returns the only question with options if an option was chosen; an option does not
// answer the other questions. An answer in words applies to all questions.
func (a Answer) offering(questions []signals.Part) ([]signals.Part, error) {
	if a.Option == 0 || a.Withdraw {
		return questions, nil
	}
	offer := slices.DeleteFunc(slices.Clone(questions), func(q signals.Part) bool { return len(signals.ReadQuestion(q.Text).Options) == 0 })
	switch {
	case len(offer) == 0:
		return nil, usage("the question offers no options", "answer in words with -m")
	case !slices.ContainsFunc(offer, func(q signals.Part) bool { return q.Hash() != offer[0].Hash() }):
		return offer[:1], nil
	}
	return nil, usage("several questions offer options, and the number does not say which", "answer in words with -m, or name the question with --question")
}
