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

// Question is what is asked of a person about an issue. One without a text asks
// nothing.
type Question struct {
	Text    string
	Options []string      // alternatives, each of one line
	Default int           // 1-based number of the option that holds when nobody answers, 0 for none: shown, never executed
	After   time.Duration // how long nobody must have answered for that, whole minutes
	Process bool          // asks whether the way of working should change
	By      string        // who asks, "" when unknown
	Only    string        // the one worker whom it keeps from the issue, "" for everybody

	Evidence bool // a new table gets the evidence rows
	Unclosed bool // refuses (fault.Changed) an issue that is closed by now
}

// OnMyWord is the option with which a person takes work as done of which nothing can be shown.
const OnMyWord = "it is done: merge the work, and close the issue on my word"

// TakeIt is the option with which a person takes work whose checks pass, and passed before it.
const TakeIt = "take it: merge the work, and close the issue"

// NoSecret is the option with which a person says that what looks like a credential is none.
const NoSecret = "it is no credential: let the work land if its checks pass"

// Answer is what a person decides about the questions that stand on an issue. It
// needs an option or a text.
type Answer struct {
	Question string // the one it answers: its number among those that stand, or at least 4 digits of its hash; "" for all
	Option   int    // 1-based number of the option that is taken, 0 for none
	Text     string // the answer, or what is added to the option
	By       string
	Self     bool // allows whoever asked to answer
	Withdraw bool // is no answer: whoever asked does not ask any more, and Text says why
	Person   bool // whoever answers is a person, as far as can be seen: others may not take OnMyWord, TakeIt, NoSecret

	// Seen are the questions that the person read; an answer is refused when
	// others would be answered by now. nil answers whatever stands.
	Seen []signals.Part
}

// Resolution is a question with its answer, as recorded.
type Resolution struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Questions []string  `json:"questions"` // all that the answer answers
	Hashes    []string  `json:"hashes"`    // their names
	Withdrawn bool      `json:"withdrawn"` // the answer is why they are not asked any more
	Left      int       `json:"left"`      // how many questions on the issue still wait
	Answer    string    `json:"answer"`
	By        string    `json:"by"`
	Changed   []Changed `json:"changed"`
	Warnings  []string  `json:"warnings"`

	stored
}

// Escalate asks a person: a part is appended to the escalation section, and
// escalation becomes pending. It refuses (fault.Conflict) a question that
// waits already, and (fault.Usage) one that is empty or contradicts itself.
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

// Said is the question as people read it, asked now.
func (q Question) Said(now time.Time) signals.Question {
	said := signals.Question{Text: q.Text, Options: q.Options, Default: q.Default, After: q.After}
	if q.Default > 0 {
		said.Due = now.Add(q.After).Truncate(time.Minute)
	}
	return said
}

// part is the question as a part of the escalation section.
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
		return signals.Part{}, usage(fmt.Sprintf("a default holds after whole minutes, at least one; found %s", q.After), "")
	case q.Default == 0 && q.After != 0:
		return signals.Part{}, usage("a time is given, and no default that would hold after it", "")
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

// asked reports whether the same question already waits, its default aside, which
// has another time: asking again says nothing new.
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

// Resolve records a person's answer to the questions that stand on an issue, or to
// one of them; escalation becomes resolved when none is left. It refuses
// (fault.Conflict) where nothing is asked, where others would be answered than
// those that were Seen, an answer by whoever asked, and a withdrawal by anybody
// else; and (fault.Usage) an empty answer, and a question and an option that are
// not there.
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

// answer puts the answer into the notes.
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
	if !a.Person && (strings.HasPrefix(text, OnMyWord) || strings.HasPrefix(text, TakeIt)) {
		return nil, &fault.Error{Code: fault.Found, ID: r.ID, Reason: "a person alone may close an issue on their word",
			Hint: "leave it to them, or give criteria that can be run: stig edit " + r.ID + " --acceptance TEXT"}
	}
	if !a.Person && strings.HasPrefix(text, NoSecret) {
		return nil, &fault.Error{Code: fault.Found, ID: r.ID, Reason: "a person alone may say that it is no credential", Hint: "leave it to them"}
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

// Answers gives the questions in the notes of an issue that the answer would
// answer, whatever it says. It refuses what Resolve refuses of them.
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
		return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: "other questions stand than those that were read", Hint: "type stig resolve " + id + " to read them"}
	}
	for _, q := range questions {
		own := strings.EqualFold(q.By, a.By)
		switch {
		case a.Withdraw && !own && (q.By != "" || !a.Person): // nobody knows whose it is: a person may say so
			return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: cmp.Or(q.By, "somebody") + " asked, and nobody else can withdraw the question",
				Hint: "type stig resolve " + id + " --question " + q.Hash() + " to answer it"}
		case !a.Withdraw && !a.Self && a.By != "" && own:
			return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: a.By + " asked, and somebody else has to answer",
				Hint: "give the name of who decides with --actor, or --self if whoever asked may"}
		}
	}
	return questions, nil
}

// chosen are those of the questions that stand to which the answer is given. What is
// withdrawn is one: without a name the only one of whoever withdraws it.
func (a Answer) chosen(id string, questions []signals.Part) ([]signals.Part, error) {
	name := a.Question
	if name == "" && !a.Withdraw {
		return questions, nil
	}
	if name == "" {
		own := slices.DeleteFunc(slices.Clone(questions), func(q signals.Part) bool { return q.By != "" && !strings.EqualFold(q.By, a.By) })
		switch len(own) {
		case 0:
			own = questions // refused for who asked
		case 1:
		default:
			return nil, &fault.Error{Code: fault.Usage, ID: id, Reason: fmt.Sprintf("%d questions stand that could be withdrawn", len(own)), Hint: "name one: " + named(own)}
		}
		name = own[0].Hash()
	}
	hash, ok := signals.Choose(questions, name)
	if !ok {
		return nil, &fault.Error{Code: fault.Usage, ID: id, Reason: fmt.Sprintf("no question %q waits for an answer", name), Hint: "those that do: " + named(questions)}
	}
	return slices.DeleteFunc(slices.Clone(questions), func(q signals.Part) bool { return q.Hash() != hash }), nil
}

// named lists questions by their names.
func named(questions []signals.Part) string {
	var list []string
	for _, q := range questions {
		first, _, _ := strings.Cut(q.Text, "\n")
		list = append(list, q.Hash()+" ("+first+")")
	}
	return strings.Join(list, ", ")
}

// lastAnswer says who answered last, if anybody did.
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

// text is the answer in words: the option that was taken, and what is added.
func (a Answer) text(questions []signals.Part) (string, error) {
	added := strings.TrimSpace(a.Text)
	switch {
	case a.Withdraw && added == "":
		return "", usage("the reason is empty", "say with -m why nobody has to answer any more")
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

// offering gives the one question whose option is taken: the option does not answer
// the others. An answer in words is to all questions.
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
	return nil, usage("several of the questions offer options, and a number says nothing", "answer in words with -m, or say with --question which it answers")
}
