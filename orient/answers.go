package orient

import (
	"cmp"
	"strings"

	"stig/internal/visible"
	"stig/signals"
)

// Answered is an answer with the questions that it answers.
type Answered struct {
	Questions []Posed `json:"questions"` // none where nobody wrote down what was asked
	Answer    Answer  `json:"answer"`

	whole string // the answer's text as it was, where a budget cut it
}

// Posed is a question as it was asked.
type Posed struct {
	Date string `json:"date"` // YYYY-MM-DD, "" when not recorded
	By   string `json:"by"`   // "" when not recorded
	Text string `json:"text"`

	whole string // as it was, where a budget cut it
}

// escalation takes the state from the signal and the texts from the section;
// where the two disagree the texts are shown all the same.
func (a assembly) escalation() Escalation {
	e := Escalation{State: a.table.Value(signals.Escalation), Answered: []Answered{}}
	parts := signals.Escalations(a.doc)
	var questions, answers []string
	for _, p := range signals.Questions(parts) {
		questions = append(questions, p.Text)
		e.Default = cmp.Or(defaultOf(signals.ReadQuestion(p.Text), a.rules.Now), e.Default)
	}
	for _, p := range parts {
		if !p.Kind.Asks() {
			answers = append(answers, p.Text)
		}
	}
	e.Question = strings.Join(questions, "\n\n")
	e.Resolution = strings.Join(answers, "\n\n")
	e.Answered = append(e.Answered, answered(parts)...)
	return e
}

// answered gives each answer with the questions that it answers.
func answered(parts []signals.Part) (list []Answered) {
	exchanges := signals.Exchanges(parts)
	for i, p := range parts {
		if p.Kind.Asks() {
			continue
		}
		a := Answered{Questions: []Posed{}, Answer: Answer{Date: p.Date, By: p.By, Text: p.Text}}
		for _, e := range exchanges {
			if q := e.Question; e.Answer == &parts[i] {
				a.Questions = append(a.Questions, Posed{Date: q.Date, By: q.By, Text: q.Text})
			}
		}
		list = append(list, a)
	}
	return list
}

// answers shows each answer with its questions, and who said which.
func (b *Briefing) answers(w *page) {
	if len(b.Escalation.Answered) == 0 {
		return
	}
	w.heading("Answered by a person")
	for _, a := range b.Escalation.Answered {
		for _, q := range a.Questions {
			w.blank()
			w.line(saidBy("asked", q.By, q.Date))
			w.blank()
			w.quote(q.Text)
		}
		w.blank()
		w.line(saidBy("answered", a.Answer.By, a.Answer.Date))
		w.blank()
		w.quote(a.Answer.Text)
	}
}

// saidBy opens the words of somebody: "Asked by mara, 2026-11-12:".
func saidBy(verb, by, date string) string {
	if by != "" {
		verb += " by " + visible.OneLine(by)
	}
	return upperFirst(join(verb, date)) + ":"
}
